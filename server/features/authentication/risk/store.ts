// SQL of the risk scorer's data: devices and past sign-ins.
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';

export interface HistoryRow {
  at: Date;
  success: boolean;
  network: string | null;
  country: string | null;
  latitude: number | null;
  longitude: number | null;
}

export const history = (sql: Sql, realm: string, userId: string, limit: number) => sql<HistoryRow>`
  (${latest(realm, userId, true, limit)}) union all (${latest(realm, userId, false, limit)})`;

/** Successes and failures are limited separately, so that many failures don't push out the successes. */
const latest = (realm: string, userId: string, success: boolean, limit: number) => fragment`
  select at, success, network, country, latitude, longitude from sign_in_history
  where realm_id = ${realm} and user_id = ${userId} and success = ${success}::boolean order by at desc limit ${limit}`;

/** The number of other users whose sign-ins failed from the network. */
export const othersFailed = async (
  sql: Sql,
  realm: string,
  { userId, network, since }: { userId: string; network: string; since: Date },
): Promise<number> =>
  (
    await sql<{ people: number }>`
      select count(distinct user_id)::int as people from sign_in_history
      where realm_id = ${realm} and network = ${network} and at > ${since} and not success and user_id <> ${userId}`
  )[0]?.people ?? 0;

export const isKnownDevice = async (sql: Sql, realm: string, deviceHash: Buffer): Promise<boolean> =>
  (
    await sql`
      select from known_device where realm_id = ${realm} and device_hash = ${deviceHash} and not program limit 1`
  ).length > 0;

/**
 * Whether the user has known browsers, whether this is one of them, whether the user has signed in with a program, and when
 * the account was created; and whether a transmitter of signals has raised the user's risk.
 */
export const devices = async (sql: Sql, realm: string, userId: string, deviceHash: Buffer | null, now: Date) =>
  (
    await sql<{ some: boolean; known: boolean; programs: boolean; madeAt: Date; signalled: boolean }>`
      select coalesce(bool_or(not d.program), false) as some,
        coalesce(bool_or(not d.program and d.device_hash = ${deviceHash}), false) as known,
        coalesce(bool_or(d.program), false) as programs, u.created_at as "madeAt",
        exists (select from signal_risk s where s.realm_id = ${realm} and s.user_id = ${userId} and s.expires_at > ${now}) as signalled
      from realm_user u left join known_device d on d.realm_id = u.realm_id and d.user_id = u.id
      where u.realm_id = ${realm} and u.id = ${userId} group by u.created_at`
  )[0];

export const remember = (
  run: Tx['atLast'],
  realm: string,
  userId: string,
  e: {
    id: string;
    at: Date;
    success: boolean;
    ipAddress: string | null;
    network: string | null;
    country: string | null;
    latitude: number | null;
    longitude: number | null;
  },
) => run`
  insert into sign_in_history (realm_id, id, user_id, at, success, ip_address, network, country, latitude, longitude)
  select ${realm}, ${e.id}::uuid, id, ${e.at}::timestamptz, ${e.success}::boolean, ${e.ipAddress}::text,
    ${e.network}::text, ${e.country}::text, ${e.latitude}::double precision, ${e.longitude}::double precision
  from realm_user where realm_id = ${realm} and id = ${userId}`;

export const rememberDevice = (
  run: Tx['atLast'],
  realm: string,
  userId: string,
  { hash, userAgent, at }: { hash: Buffer; userAgent: string | null; at: Date },
) => run`
  insert into known_device (realm_id, user_id, device_hash, user_agent, first_seen_at, last_seen_at)
  values (${realm}, ${userId}, ${hash}, ${userAgent}, ${at}, ${at})
  on conflict (realm_id, user_id, device_hash)
    do update set last_seen_at = excluded.last_seen_at, user_agent = excluded.user_agent`;

/**
 * @param made accounts created after this time count as new
 * @returns whether the program is new to the user and the account is not new
 */
export const rememberProgram = async (
  sql: Sql,
  realm: string,
  userId: string,
  { hash, userAgent, at, made }: { hash: Buffer; userAgent: string | null; at: Date; made: Date },
): Promise<boolean> =>
  (
    await sql<{ is_new: boolean }>`
      with noted as (
        insert into known_device (realm_id, user_id, device_hash, user_agent, first_seen_at, last_seen_at, program)
        values (${realm}, ${userId}, ${hash}, ${userAgent}, ${at}, ${at}, true)
        on conflict (realm_id, user_id, device_hash) do update set last_seen_at = excluded.last_seen_at
        returning xmax = 0 as fresh
      ) select fresh and (u.created_at < ${made} or exists (
          select from known_device d where d.realm_id = u.realm_id and d.user_id = u.id)) as is_new
        from noted, realm_user u where u.realm_id = ${realm} and u.id = ${userId}`
  )[0]?.is_new ?? false;

export interface Browser {
  /** The digest of the cookie's digest, which gives no access. */
  id: string;
  userAgent: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
}
export const browsersOf = (sql: Sql, realm: string, userId: string, limit: number) => sql<Browser>`
  select encode(device_hash, 'hex') as id, user_agent as "userAgent",
    floor(extract(epoch from first_seen_at) * 1000)::bigint as "firstSeenAt",
    floor(extract(epoch from last_seen_at) * 1000)::bigint as "lastSeenAt"
  from known_device where realm_id = ${realm} and user_id = ${userId} and not program
  order by last_seen_at desc, device_hash limit ${limit}`;

export const forgetBrowser = async (sql: Sql, realm: string, userId: string, id: string): Promise<boolean> =>
  (
    await sql`
      delete from known_device
      where realm_id = ${realm} and user_id = ${userId} and device_hash = decode(${id}, 'hex') and not program
      returning 1 as gone`
  ).length > 0;

/** Forgets browsers with which the user has first signed in since then. */
export const forgetBrowsersSince = (sql: Sql, realm: string, userId: string, since: Date) =>
  sql`delete from known_device where realm_id = ${realm} and user_id = ${userId} and first_seen_at >= ${since}`;

/** Deletes sign-ins and devices that are too old to count. */
export function forget(run: Tx['atLast'], realm: string, userId: string, before: { history: Date; devices: Date }) {
  run`delete from sign_in_history where realm_id = ${realm} and user_id = ${userId} and at < ${before.history}`;
  run`delete from known_device where realm_id = ${realm} and user_id = ${userId} and last_seen_at < ${before.devices}`;
}
