// SQL of the permission to use an application, and of pushed requests. domain/grants.ts has the SQL of codes.
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { lock, type WhenLocked } from '../../../domain/grants.ts';
import { readPersonRow, rolesOf } from '../../../domain/person.ts';

/** Whether the user holds one of these roles, directly or by a group or composite role. */
export async function holdsOneOf(sql: Sql, realm: string, userId: string, roles: readonly string[]): Promise<boolean> {
  const row = await readPersonRow(sql, realm, userId);
  return row !== undefined && rolesOf(row.roles).realm.some((role) => roles.includes(role));
}

interface Pushed {
  realm: string;
  hash: Buffer;
  /** The client's id. */
  client: string;
}
export interface NewPushed extends Pushed {
  parameters: string;
  expiresAt: Date;
}
export interface Opening extends Pushed {
  now: Date;
  /** When the request expires, if it is opened now. */
  until: Date;
}

export const insertPushed = (
  write: Tx['atLast'],
  { realm, hash, client, parameters, expiresAt }: NewPushed,
): void => write`
  insert into pushed_authorization_request (realm_id, uri_hash, client, parameters, expires_at)
  values (${realm}, ${hash}, ${client}, ${parameters}, ${expiresAt})`;

/**
 * Opens pushed requests, each only once.
 * @returns the parameters in the order of `asked`; undefined: there is no such request, or another transaction is
 * opening it and `whenLocked` skips it
 */
export async function openPushed(
  sql: Sql,
  asked: readonly Opening[],
  whenLocked: WhenLocked,
): Promise<(string | undefined)[]> {
  const openings = asked.map(({ realm, hash, client, now, until }, n) => ({
    n,
    realm_id: realm,
    uri_hash: `\\x${hash.toString('hex')}`,
    client,
    at: now.toISOString(),
    until: until.toISOString(),
  }));
  const rows = await sql<{ n: number; parameters: string }>`
    with asked as (
      select * from json_to_recordset(${JSON.stringify(openings)})
        as a (n int, realm_id text, uri_hash bytea, client uuid, at timestamptz, until timestamptz)
      limit ${asked.length}
    ), held as (
      select a.n, a.realm_id, a.uri_hash, a.at, a.until from asked a cross join lateral (
        select from pushed_authorization_request p
        where p.realm_id = a.realm_id and p.uri_hash = a.uri_hash and (p.client = a.client) is true and p.opened_at is null
          and p.expires_at > a.at
        for no key update ${lock[whenLocked]}
      ) p
    )
    update pushed_authorization_request p set opened_at = h.at, expires_at = h.until
    from held h where p.realm_id = h.realm_id and p.uri_hash = h.uri_hash
    returning h.n, p.parameters`;
  const given = new Map(rows.map(({ n, parameters }) => [n, parameters]));
  return asked.map((_, n) => given.get(n));
}

/** The parameters of a request that was opened before. */
export async function readPushed(
  sql: Sql,
  realm: string,
  { hash, client, now }: Omit<Pushed, 'realm'> & { now: Date },
): Promise<string | undefined> {
  const [row] = await sql<{ parameters: string }>`
    select parameters from pushed_authorization_request
    where realm_id = ${realm} and uri_hash = ${hash} and (client = ${client}) is true and opened_at is not null
      and expires_at > ${now}`;
  return row?.parameters;
}

/** @returns false: the request no longer exists */
export const takePushed = async (sql: Sql, realm: string, hash: Buffer): Promise<boolean> =>
  (await sql`delete from pushed_authorization_request where realm_id = ${realm} and uri_hash = ${hash} returning true`)
    .length > 0;

/**
 * Locks these requests until they are deleted.
 * @returns for each, in order, whether it exists; one that another transaction has locked counts as missing
 */
export async function holdPushed(
  sql: Sql,
  asked: readonly { realm: string; hash: Buffer | undefined }[],
): Promise<boolean[]> {
  const wanted = asked.flatMap(({ realm, hash }, n) =>
    hash ? [{ n, realm_id: realm, uri_hash: `\\x${hash.toString('hex')}` }] : [],
  );
  if (wanted.length === 0) return asked.map(() => true);
  const rows = await sql<{ n: number }>`
    select a.n from json_to_recordset(${JSON.stringify(wanted)}) as a (n int, realm_id text, uri_hash bytea)
    cross join lateral (
      select from pushed_authorization_request p where p.realm_id = a.realm_id and p.uri_hash = a.uri_hash
      for update skip locked
    ) p`;
  const held = new Set(rows.map(({ n }) => n));
  return asked.map(({ hash }, n) => hash === undefined || held.has(n));
}

/** Like {@link takePushed}, without a result. */
export const dropPushed = (write: Tx['atLast'], realm: string, hash: Buffer): void => {
  void write`delete from pushed_authorization_request where realm_id = ${realm} and uri_hash = ${hash}`;
};
