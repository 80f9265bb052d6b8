// SQL of the tokens for registering and managing clients; the clients feature has the SQL of clients.
import type { Sql } from '../../../db/sql.ts';

export interface InitialTokenRow {
  id: string;
  uses_left: number;
  created_at: Date;
  expires_at: Date;
}

export const listTokens = (
  sql: Sql,
  realm: string,
  { after, limit, now }: { after: string | undefined; limit: number; now: Date },
) => sql<InitialTokenRow>`
  select id, uses_left, created_at, expires_at from initial_access_token
  where realm_id = ${realm} and expires_at > ${now} and uses_left > 0
    and (${after ?? null}::uuid is null or id > ${after ?? null}) order by id limit ${limit}`;

export const insertToken = (sql: Sql, realm: string, hash: Buffer, row: InitialTokenRow) => sql`
  insert into initial_access_token (realm_id, id, token_hash, uses_left, created_at, expires_at)
  values (${realm}, ${row.id}, ${hash}, ${row.uses_left}, ${row.created_at}, ${row.expires_at})`;

export async function deleteToken(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`delete from initial_access_token where realm_id = ${realm} and id = ${id} returning id`;
  return row !== undefined;
}

/** Uses the token once; undefined: it doesn't exist, has no uses left, or has expired. */
export async function useToken(sql: Sql, realm: string, hash: Buffer, now: Date): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`
    update initial_access_token set uses_left = uses_left - 1
    where realm_id = ${realm} and token_hash = ${hash} and uses_left > 0 and expires_at > ${now} returning id`;
  return row?.id;
}

/** Whether the token permits a registration: checked before slow work. */
export async function isInitialToken(sql: Sql, realm: string, hash: Buffer, now: Date): Promise<boolean> {
  const found = await sql`
    select from initial_access_token
    where realm_id = ${realm} and token_hash = ${hash} and uses_left > 0 and expires_at > ${now}`;
  return found.length > 0;
}
export async function isClientsToken(sql: Sql, realm: string, client: string, hash: Buffer): Promise<boolean> {
  const found = await sql`
    select from client_registration where realm_id = ${realm} and client = ${client} and token_hash = ${hash}`;
  return found.length > 0;
}

/** The number of self-registered clients. Locks, so that concurrent registrations wait. */
export async function countRegistered(sql: Sql, realm: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('client_registration ' || ${realm}, 0))`;
  const [row] = await sql<{ n: number }>`
    select count(*)::int as n from client_registration where realm_id = ${realm}`;
  return row?.n ?? 0;
}

export interface Document {
  client: string;
  /** null: the client has no metadata document. */
  freshUntil: Date | null;
  etag: string | null;
}
export async function readDocument(sql: Sql, realm: string, clientId: string): Promise<Document | undefined> {
  const [row] = await sql<Document>`
    select c.id as client, g.document_fresh_until as "freshUntil", g.document_etag as etag
    from client c left join client_registration g on g.realm_id = c.realm_id and g.client = c.id
    where c.realm_id = ${realm} and c.client_id = ${clientId}`;
  return row;
}

export const keepDocument = (sql: Sql, realm: string, { client, freshUntil, etag }: Document) => sql`
  insert into client_registration (realm_id, client, document_fresh_until, document_etag)
  values (${realm}, ${client}, ${freshUntil}, ${etag})
  on conflict (realm_id, client) do update
    set document_fresh_until = excluded.document_fresh_until, document_etag = excluded.document_etag`;

/** The document client that was fetched the longest time ago, among those without any user's consent. */
export async function unusedDocument(sql: Sql, realm: string): Promise<string | undefined> {
  const [row] = await sql<{ client: string }>`
    select g.client from client_registration g
    where g.realm_id = ${realm} and g.document_fresh_until is not null
      and not exists (select from consent s where s.realm_id = g.realm_id and s.client = g.client)
    order by g.document_fresh_until limit 1`;
  return row?.client;
}

export const insertRegistration = (sql: Sql, realm: string, client: string, hash: Buffer) => sql`
  insert into client_registration (realm_id, client, token_hash) values (${realm}, ${client}, ${hash})`;

/** Replaces the token by the next one; false: it isn't this client's. */
export async function rotate(
  sql: Sql,
  realm: string,
  { client, hash, next }: { client: string; hash: Buffer; next: Buffer },
): Promise<boolean> {
  const [row] = await sql`
    update client_registration r set token_hash = ${next} from client c
    where r.realm_id = ${realm} and r.client = ${client} and r.token_hash = ${hash}
      and c.realm_id = r.realm_id and c.id = r.client and c.enabled returning r.client`;
  return row !== undefined;
}

export async function scopesOf(sql: Sql, realm: string): Promise<Set<string>> {
  const rows = await sql<{ name: string }>`select name from client_scope where realm_id = ${realm}`;
  return new Set(rows.map(({ name }) => name));
}

/** The types of details that the realm opens to clients that register themselves. */
export async function detailTypesOf(sql: Sql, realm: string): Promise<string[]> {
  const rows = await sql<{ type: string }>`
    select type from authorization_detail_type where realm_id = ${realm} and enabled and open_to_registration`;
  return rows.map(({ type }) => type);
}

export interface UnusedRow {
  id: string;
  client_id: string;
  name: string | null;
  created_at: Date;
  used_at: Date | null;
}
/** Clients that got no tokens since then. Found by their clientId, since the audit log has no other index of clients. */
export const listUnused = (
  sql: Sql,
  realm: string,
  { since, after, limit }: { since: Date; after: string | undefined; limit: number },
) => sql<UnusedRow>`
  select c.id, c.client_id, c.name, c.created_at, e.occurred_at as used_at
  from client_registration g join client c on c.realm_id = g.realm_id and c.id = g.client
    left join lateral (
      select occurred_at from event
      where realm_id = g.realm_id and client_id = c.client_id and type in ('TOKEN_ISSUED', 'TOKEN_REFRESHED')
        and (client_id like 'dcr-%' or client_id like 'https://%')
      order by id desc limit 1) e on true
  where g.realm_id = ${realm} and (c.client_id like 'dcr-%' or c.client_id like 'https://%')
    and c.created_at < ${since} and (e.occurred_at is null or e.occurred_at < ${since})
    and (${after ?? null}::text is null or c.client_id collate "C" > ${after ?? null})
  order by c.client_id collate "C" limit ${limit}`;
