// SQL of who may use an application, and of pushed requests. Codes are domain/grants.ts's.
import type { Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';
import { type PersonRow, personColumns, rolesOf } from '../../domain/person.ts';

/** Whether the person holds one of these roles, directly or by what they are in. */
export async function holdsOneOf(sql: Sql, realm: string, userId: string, roles: readonly string[]): Promise<boolean> {
  const [row] = await sql<PersonRow>`
    select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
  return row !== undefined && rolesOf(row.roles).realm.some((role) => roles.includes(role));
}

interface Pushed {
  hash: Buffer;
  /** The client's id. */
  client: string;
}

export const insertPushed = (
  sql: Sql,
  realm: string,
  { hash, client, parameters, expiresAt }: Pushed & { parameters: string; expiresAt: Date },
): Promise<unknown> => sql`
  insert into pushed_authorization_request (realm_id, uri_hash, client, parameters, expires_at)
  values (${realm}, ${hash}, ${client}, ${parameters}, ${expiresAt})`;

/** Gives the parameters to the first that asks. */
export async function openPushed(
  sql: Sql,
  realm: string,
  { hash, client, now, until }: Pushed & { now: Date; until: Date },
): Promise<string | undefined> {
  const [row] = await sql<{ parameters: string }>`
    update pushed_authorization_request set opened_at = ${now}, expires_at = ${until}
    where realm_id = ${realm} and uri_hash = ${hash} and (client = ${client}) is true and opened_at is null
      and expires_at > ${now}
    returning parameters`;
  return row?.parameters;
}

/** The parameters of one that was opened. */
export async function readPushed(
  sql: Sql,
  realm: string,
  { hash, client, now }: Pushed & { now: Date },
): Promise<string | undefined> {
  const [row] = await sql<{ parameters: string }>`
    select parameters from pushed_authorization_request
    where realm_id = ${realm} and uri_hash = ${hash} and (client = ${client}) is true and opened_at is not null
      and expires_at > ${now}`;
  return row?.parameters;
}

/** False: it is gone already. */
export const takePushed = async (sql: Sql, realm: string, hash: Buffer): Promise<boolean> =>
  (await sql`delete from pushed_authorization_request where realm_id = ${realm} and uri_hash = ${hash} returning true`)
    .length > 0;

/** The same, without looking. */
export const dropPushed = (write: Tx['atLast'], realm: string, hash: Buffer): void => {
  void write`delete from pushed_authorization_request where realm_id = ${realm} and uri_hash = ${hash}`;
};
