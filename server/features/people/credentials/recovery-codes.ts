// Recovery codes: created, stored as digests, used once each. Each has 80 random bits, so that its digest can't be reversed
// by guessing.
import { randomBytes } from 'node:crypto';
import type { By } from '../../../contract/events.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { fulfilAction, requireAction } from '../../../domain/required-actions.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { KnownUser } from './service.ts';

const HOW_MANY = 10;
const BYTES = 10;
/** With this many left or fewer, the user is asked for new codes at the end of the sign-in. */
const FEW = 2;
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUPS = /.{4}/g;

export type RecoveryVerdict = { ok: true; credentialId: string } | { ok: false; reason: 'wrong' };

/** Removes what users add when they type a code: separators and capitals. */
const plain = (code: string): string => code.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
const digestOf = (userId: string, code: string): string =>
  sha256(`recovery:${userId}:${plain(code)}`).toString('base64url');

/** Five bits for each letter. */
function spell(bytes: Buffer): string {
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  const letters = Array.from(
    { length: (bytes.length * 8) / 5 },
    (_, i) => ALPHABET[Number((bits >> BigInt(5 * i)) & 31n)],
  );
  return letters.join('').match(GROUPS)?.join('-') ?? '';
}

const take = (sql: Sql, realm: string, userId: string, digest: string, now: Date) => sql<{ id: string; left: number }>`
  update credential set secret = jsonb_set(secret, '{codes}', (secret -> 'codes') - ${digest}::text), last_used_at = ${now}
  where realm_id = ${realm} and user_id = ${userId} and type = 'recovery-codes' and secret -> 'codes' ? ${digest}::text
  returning id, jsonb_array_length(secret -> 'codes')::int as left`;

export function createRecoveryCodes({
  transact,
  notify,
  now,
  newId,
}: {
  transact: Transact;
  notify: Notify;
  now: () => Date;
  newId: () => string;
}) {
  return {
    generate: (): string[] => Array.from({ length: HOW_MANY }, () => spell(randomBytes(BYTES))),

    /** Stores new codes in place of the old ones. @returns the new credential's id, and the id of the one before */
    async enrol(tx: Tx, by: By, realm: string, user: KnownUser, codes: readonly string[]) {
      const id = newId();
      const secret = JSON.stringify({ codes: codes.map((code) => digestOf(user.id, code)) });
      const [before] = await tx.sql<{ id: string }>`
        delete from credential where realm_id = ${realm} and user_id = ${user.id} and type = 'recovery-codes' returning id`;
      await tx.sql`
        insert into credential (realm_id, id, user_id, type, secret, created_at)
        values (${realm}, ${id}, ${user.id}, 'recovery-codes', ${secret}::jsonb, ${now()})`;
      await fulfilAction(tx.sql, realm, [user.id], 'CONFIGURE_RECOVERY_CODES');
      const subject = userParty(user.id, user.username);
      tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject, data: { credentialId: id, type: 'recovery-codes' } });
      await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
      return { now: id, old: before?.id };
    },

    /** Uses a code up. If few are left, the user must create new ones. */
    use: (realm: string, by: By, user: KnownUser, code: string): Promise<RecoveryVerdict> =>
      transact(realm, async (tx) => {
        const [used] = await take(tx.sql, realm, user.id, digestOf(user.id, code), now());
        if (!used) return { ok: false, reason: 'wrong' };
        if (used.left <= FEW) await requireAction(tx.sql, realm, user.id, 'CONFIGURE_RECOVERY_CODES');
        const subject = userParty(user.id, user.username);
        tx.record({ type: 'RECOVERY_CODE_USED', realm, by, subject, data: { credentialId: used.id, left: used.left } });
        return { ok: true, credentialId: used.id };
      }),
  };
}
export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;
