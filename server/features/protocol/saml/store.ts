// SQL of sign-ons: answered requests, users' consents, and the service providers that a session has signed in to.
import type { Sql } from '../../../db/sql.ts';
import type { Agreement } from '../../../domain/agreement.ts';
import { type Person, personOf, readPersonRow } from '../../../domain/person.ts';
import type { NameIdFormat } from '../../../domain/saml-names.ts';
import type { NameId } from './name-id.ts';

export async function readPerson(sql: Sql, realm: string, userId: string): Promise<Person | undefined> {
  const row = await readPersonRow(sql, realm, userId);
  return row && personOf(row);
}

/** The attributes that the user has consented to give the client; undefined: never asked. */
export async function readConsent(
  sql: Sql,
  realm: string,
  userId: string,
  client: string,
): Promise<Agreement | undefined> {
  const [row] = await sql<{ claims: string[] }>`
    select claims from saml_consent where realm_id = ${realm} and user_id = ${userId} and client = ${client}`;
  return row && { scopes: [], resources: [], claims: row.claims };
}

/** Adds to the earlier consent. */
export async function addConsent(
  sql: Sql,
  realm: string,
  { userId, client, claims, now }: { userId: string; client: string; claims: readonly string[]; now: Date },
): Promise<void> {
  await sql`
    insert into saml_consent as c (realm_id, user_id, client, claims, granted_at, updated_at)
    values (${realm}, ${userId}, ${client}, ${claims}, ${now}, ${now})
    on conflict (realm_id, user_id, client) do update set updated_at = excluded.updated_at,
      claims = array(select distinct unnest(c.claims || excluded.claims) order by 1)`;
}

export interface SignOn {
  /** The client's id. */
  client: string;
  sessionId: string;
  /** null: the service provider sent no request. */
  requestId: string | null;
  /** Until when a second response to the request must be refused. */
  expiresAt: Date;
  sessionIndex: string;
  nameId: NameId;
}

/** Within a session a service provider gets the same session index, and the same transient name, each time. */
export type SignedOn = { sessionIndex: string; nameId: NameId } | 'answered before' | 'session ended';

/** Stores that the request is answered and that the session signed in to the client, in one statement. */
export async function signOn(sql: Sql, realm: string, on: SignOn): Promise<SignedOn> {
  const { value, format } = on.nameId;
  const [row] = await sql<{
    live: boolean;
    session_index: string | null;
    name_id: string | null;
    name_id_format: NameIdFormat | null;
  }>`
    with live as (
      select realm_id, id from session where realm_id = ${realm} and id = ${on.sessionId} for key share
    ), answered as (
      insert into saml_answered (realm_id, client, request_id, expires_at)
      select realm_id, ${on.client}::uuid, ${on.requestId}::text, ${on.expiresAt}::timestamptz from live
      where ${on.requestId}::text is not null
      on conflict do nothing returning request_id
    ), noted as (
      insert into saml_session as s (realm_id, session_id, client, session_index, name_id, name_id_format)
      select realm_id, id, ${on.client}::uuid, ${on.sessionIndex}, ${value}, ${format} from live
      where ${on.requestId}::text is null or exists (select from answered)
      on conflict (realm_id, session_id, client) do update set
        name_id = case when s.name_id_format = 'transient' and excluded.name_id_format = 'transient' then s.name_id
          else excluded.name_id end,
        name_id_format = excluded.name_id_format
      returning session_index, name_id, name_id_format
    )
    select exists (select from live) as live, n.session_index, n.name_id, n.name_id_format
    from (select) one left join noted n on true`;
  if (!row?.live) return 'session ended';
  const { session_index: sessionIndex, name_id, name_id_format } = row;
  if (sessionIndex === null || name_id === null || name_id_format === null) return 'answered before';
  return { sessionIndex, nameId: { format: name_id_format, value: name_id } };
}
