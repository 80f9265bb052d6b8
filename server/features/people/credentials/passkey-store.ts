// SQL of passkeys: rows of `credential`.
import { fragment, type Sql } from '../../../db/sql.ts';
import { type SingleUseProof, spendingStatement } from '../../../domain/spent-proofs.ts';
import { type StandingRow, standingColumns } from '../../../domain/standing.ts';

/** The stored data of a passkey. None of it is a secret. */
export interface Passkey {
  /** The authenticator's id of the key, base64url. */
  credentialId: string;
  /** The public key in COSE, base64url. */
  publicKey: string;
  /** The host that the passkey works for. */
  rpId: string;
  transports: string[];
  deviceType: 'singleDevice' | 'multiDevice';
  backedUp: boolean;
}
export interface PasskeyRow extends StandingRow {
  id: string;
  user_id: string;
  username: string;
  secret: Passkey;
}

export const find = async (sql: Sql, realm: string, credentialId: string) =>
  (
    await sql<PasskeyRow>`
      select c.id, c.user_id, u.username, c.secret, ${standingColumns}
      from credential c join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
      where c.realm_id = ${realm} and c.type = 'webauthn' and c.secret ->> 'credentialId' = ${credentialId}`
  )[0];

export const ofPerson = (sql: Sql, realm: string, userId: string, rpId: string) => sql<{ secret: Passkey }>`
  select secret from credential
  where realm_id = ${realm} and user_id = ${userId} and type = 'webauthn' and secret ->> 'rpId' = ${rpId}
  order by created_at, id`;

/**
 * Spends the challenge and stores the key's new counter, in one statement.
 * @returns `back`: the counter has not increased, so a copy of the key exists
 */
export const use = async (
  sql: Sql,
  realm: string,
  id: string,
  { counter, backedUp, now, once }: { counter: number; backedUp: boolean; now: Date; once: SingleUseProof },
): Promise<'counted' | 'spent before' | 'back'> => {
  const [row] = await sql<{ fresh: boolean; counted: boolean }>`
    with spent as (${spendingStatement(realm, once)}), counted as (
      update credential set last_counter = ${counter}, last_used_at = ${now},
        secret = jsonb_set(secret, '{backedUp}', to_jsonb(${backedUp}::boolean))
      where realm_id = ${realm} and id = ${id} and exists (select from spent)
        and (coalesce(last_counter, 0) < ${counter}::bigint or (${counter}::bigint = 0 and coalesce(last_counter, 0) = 0))
      returning id
    )
    select exists (select from spent) as fresh, exists (select from counted) as counted`;
  if (!row?.fresh) return 'spent before';
  return row.counted ? 'counted' : 'back';
};

/** @returns whether the passkey was added: it is new in the realm, and its challenge was not used before */
export const insert = async (
  sql: Sql,
  realm: string,
  userId: string,
  c: { id: string; label: string | null; secret: Passkey; counter: number; now: Date; once: SingleUseProof },
) =>
  (
    await sql`
      with spent as (${spendingStatement(realm, c.once)})
      insert into credential (realm_id, id, user_id, type, label, secret, created_at, last_counter)
      select ${realm}::text, ${c.id}::uuid, ${userId}::uuid, 'webauthn', ${c.label}::text, ${JSON.stringify(c.secret)}::jsonb, ${c.now}::timestamptz,
        ${c.counter}::bigint from spent
      on conflict ${fragment`(realm_id, (secret ->> 'credentialId')) where type = 'webauthn'`} do nothing returning id`
  ).length > 0;
