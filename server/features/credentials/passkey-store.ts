// SQL of passkeys: rows of `credential`.
import { fragment, type Sql } from '../../db/sql.ts';
import { type StandingRow, standingColumns } from '../../domain/standing.ts';

/** What is kept of one; none of it is a secret. */
export interface Passkey {
  /** As its authenticator names it, base64url. */
  credentialId: string;
  /** COSE, base64url. */
  publicKey: string;
  /** The host that it is for. */
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

/** @returns whether its counter went on, or it has none: one that goes back is another's copy of it */
export const used = async (
  sql: Sql,
  realm: string,
  id: string,
  { counter, backedUp, now }: { counter: number; backedUp: boolean; now: Date },
) =>
  (
    await sql`
      update credential set last_counter = ${counter}, last_used_at = ${now},
        secret = jsonb_set(secret, '{backedUp}', to_jsonb(${backedUp}::boolean))
      where realm_id = ${realm} and id = ${id}
        and (coalesce(last_counter, 0) < ${counter}::bigint or (${counter}::bigint = 0 and coalesce(last_counter, 0) = 0))
      returning id`
  ).length > 0;

/** @returns whether nobody of the realm has it yet */
export const insert = async (
  sql: Sql,
  realm: string,
  userId: string,
  c: { id: string; label: string | null; secret: Passkey; counter: number; now: Date },
) =>
  (
    await sql`
      insert into credential (realm_id, id, user_id, type, label, secret, created_at, last_counter)
      values (${realm}, ${c.id}, ${userId}, 'webauthn', ${c.label}, ${JSON.stringify(c.secret)}::jsonb, ${c.now}, ${c.counter})
      on conflict ${fragment`(realm_id, (secret ->> 'credentialId')) where type = 'webauthn'`} do nothing returning id`
  ).length > 0;
