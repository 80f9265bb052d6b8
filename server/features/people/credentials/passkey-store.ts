// SQL of passkeys: rows of `credential`.
import type { BadStatus } from '../../../contract/passkeys.ts';
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
  /** The model of the authenticator; absent in passkeys that were set up before this was stored. */
  aaguid?: string;
  /** The format of the attestation. */
  format?: string;
  /** The attestation's certificates prove the model. */
  proven?: boolean;
  /** The reports of FIDO's metadata against the authenticator (metadata-job.ts). */
  statuses?: BadStatus[];
}
/** One authenticator makes no id twice, so more are copies. */
const MOST_KEYS = 5;

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

/** The public keys of the passkeys with this id, of any realm: browsers can't tell the passkeys of realms at one host apart. */
export const keysAnywhere = async (sql: Sql, credentialId: string): Promise<string[]> =>
  (
    await sql<{ key: string }>`
      select secret ->> 'publicKey' as key from credential
      where type = 'webauthn' and secret ->> 'credentialId' = ${credentialId} limit ${MOST_KEYS}`
  ).map(({ key }) => key);

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

/** A passkey whose noted statuses differ from those of its authenticator. */
const outdated = fragment`c.type = 'webauthn' and c.secret ->> 'aaguid' = m.aaguid
  and coalesce(c.secret -> 'statuses', '[]') <> m.entry -> 'statuses'`;

/** The realms that have such passkeys. */
export const realmsToNote = async (sql: Sql): Promise<string[]> =>
  (
    await sql<{ realm: string }>`
      select distinct c.realm_id as realm from authenticator_metadata m join credential c on ${outdated}`
  ).map(({ realm }) => realm);

/** Notes the statuses on some of a realm's passkeys. @returns these passkeys */
export const noteStatuses = (sql: Sql, realm: string, most: number) => sql<{
  id: string;
  user_id: string;
  username: string;
  aaguid: string;
  description: string;
  statuses: BadStatus[];
}>`
  with due as (
    select c.id, m.aaguid, m.entry from credential c join authenticator_metadata m on ${outdated}
    where c.realm_id = ${realm} order by c.id limit ${most} for update of c)
  update credential c set secret = jsonb_set(c.secret, '{statuses}', d.entry -> 'statuses')
  from due d, realm_user u
  where c.realm_id = ${realm} and c.id = d.id and u.realm_id = ${realm} and u.id = c.user_id
  returning c.id, c.user_id, u.username, d.aaguid, d.entry ->> 'description' as description, d.entry -> 'statuses' as statuses`;
