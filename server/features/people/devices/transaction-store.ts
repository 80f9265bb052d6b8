// SQL of transactions.
import type { DeviceKey } from '../../../contract/devices.ts';
import { fragment, type Sql } from '../../../db/sql.ts';

export interface TransactionRow {
  id: string;
  user_id: string;
  username: string;
  client_id: string;
  application: string;
  text: string;
  amount: string | null;
  currency: string | null;
  payee: string | null;
  challenge: string;
  status: 'waiting' | 'signed' | 'denied' | 'consumed' | 'void';
  signature: string | null;
  device_key: DeviceKey | null;
  created_at: Date;
  expires_at: Date;
  decided_at: Date | null;
  consumed_at: Date | null;
}
const MOST = 10;
const rowsOf = (
  realm: string,
) => fragment`select t.id, t.user_id, u.username, c.client_id, coalesce(c.name, c.client_id) as application, t.text,
    t.amount, t.currency, t.payee, t.challenge, t.status, t.signature, t.device_key, t.created_at, t.expires_at,
    t.decided_at, t.consumed_at
  from device_transaction t
    join realm_user u on u.realm_id = t.realm_id and u.id = t.user_id
    join client c on c.realm_id = t.realm_id and c.id = t.client
  where t.realm_id = ${realm}`;

export const find = async (sql: Sql, realm: string, id: string, { lock = false } = {}) =>
  (await sql<TransactionRow>`${rowsOf(realm)} and t.id = ${id}${lock ? fragment` for update of t` : fragment``}`)[0];

export const toSign = (sql: Sql, realm: string, userId: string, now: Date) => sql<TransactionRow>`
  ${rowsOf(realm)} and t.user_id = ${userId} and t.status = 'waiting' and t.expires_at > ${now}
  order by t.created_at desc, t.id desc limit ${MOST}`;

/** Counts the user's waiting transactions. The lock on the user's row lets no second request add one at the same moment. */
export async function waitingFor(sql: Sql, realm: string, userId: string, now: Date): Promise<number> {
  await sql`select from realm_user where realm_id = ${realm} and id = ${userId} for no key update`;
  const [row] = await sql<{ waiting: number }>`
    select count(*)::int as waiting from device_transaction
    where realm_id = ${realm} and user_id = ${userId} and status = 'waiting' and expires_at > ${now}`;
  return row?.waiting ?? 0;
}

export const insert = (
  sql: Sql,
  realm: string,
  t: {
    id: string;
    userId: string;
    clientId: string;
    text: string;
    amount?: string | undefined;
    currency?: string | undefined;
    payee?: string | undefined;
    challenge: string;
    at: Date;
    expiresAt: Date;
  },
) => sql`
  insert into device_transaction (realm_id, id, user_id, client, text, amount, currency, payee, challenge, status, created_at,
    expires_at)
  select realm_id, ${t.id}, ${t.userId}, id, ${t.text}, ${t.amount ?? null}::text, ${t.currency ?? null}::text,
    ${t.payee ?? null}::text, ${t.challenge}, 'waiting', ${t.at}::timestamptz, ${t.expiresAt}::timestamptz
  from client where realm_id = ${realm} and client_id = ${t.clientId}`;

export const answerTransaction = (
  sql: Sql,
  realm: string,
  id: string,
  d: { status: 'signed' | 'denied'; signature: string; publicKey: DeviceKey; at: Date },
) => sql`
  update device_transaction set status = ${d.status}, signature = ${d.signature},
    device_key = ${JSON.stringify(d.publicKey)}::jsonb, decided_at = ${d.at}
  where realm_id = ${realm} and id = ${id}`;

/** Whether the user still has the device whose key signed the transaction. */
export const signerIsThere = async (sql: Sql, realm: string, id: string): Promise<boolean> =>
  (
    await sql`
      select from device_transaction t
        join credential c on c.realm_id = t.realm_id and c.user_id = t.user_id and c.type = 'device'
          and c.secret -> 'publicKey' = t.device_key
      where t.realm_id = ${realm} and t.id = ${id}`
  ).length > 0;

/** Voids all of the user's transactions that could still be signed or consumed. */
export const voidAll = (sql: Sql, realm: string, userId: string, now: Date) => sql<{ id: string; client_id: string }>`
  update device_transaction t set status = 'void' from client c
  where t.realm_id = ${realm} and t.user_id = ${userId} and t.status in ('waiting', 'signed') and t.expires_at > ${now}
    and c.realm_id = t.realm_id and c.id = t.client
  returning t.id, c.client_id`;

export const endTransaction = (sql: Sql, realm: string, id: string, status: 'consumed' | 'void', at: Date) => sql`
  update device_transaction set status = ${status}, consumed_at = ${status === 'consumed' ? at : null}::timestamptz
  where realm_id = ${realm} and id = ${id}`;
