// SQL of sessions. A session is live while its user is enabled and neither timeout has passed; callers pass the cutoff
// times.

import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Factor } from '../../../domain/factors.ts';
import { type Proven, provenUser } from '../../../domain/proof.ts';
import type { Finding } from '../../../domain/risk.ts';
import { type Cutoffs, sessionLives } from '../../../domain/session.ts';
import { type StandingRow, standingColumns } from '../../../domain/standing.ts';
import { idOfUserNamed } from '../../../domain/user-names.ts';

/** An administrator in an impersonated session. */
export interface Impersonator {
  id: string;
  name: string;
  /** The impersonator's realm. */
  realm: string;
  /** The impersonator's own session, from which they began; missing if an older version of the server wrote the row. */
  session?: string;
}

export interface SessionRow {
  id: string;
  user_id: string;
  username: string;
  token_hash: Buffer;
  ip_address: string | null;
  user_agent: string | null;
  started_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  remember_me: boolean;
  authenticated_at: Date;
  level_of_assurance: number;
  methods: string[];
  /** null: an older version of the server wrote the row; then `methods` names what was proven. */
  factors: Factor[] | null;
  risk: Finding[] | null;
  impersonator: Impersonator | null;
}
export type LiveRow = SessionRow & StandingRow;

const columns = fragment`s.id, s.user_id, u.username, s.token_hash, s.ip_address, s.user_agent, s.started_at, s.last_seen_at,
  s.expires_at, s.remember_me, s.authenticated_at, s.level_of_assurance, s.methods, s.factors, s.risk, s.impersonator`;
const withStanding = fragment`${columns}, ${standingColumns}`;
const jsonOf = (list: readonly object[] | null) => fragment`${list && JSON.stringify(list)}::jsonb`;
const live = (cutoffs: Cutoffs) => fragment`${sessionLives(cutoffs)} and u.enabled`;

export const byToken = async (sql: Sql, realm: string, tokenHash: Buffer, cutoffs: Cutoffs) =>
  (
    await sql<LiveRow>`select ${withStanding} from session s
      join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id
      where s.realm_id = ${realm} and s.token_hash = ${tokenHash} and ${live(cutoffs)}`
  )[0];

export const byId = async (sql: Sql, realm: string, id: string, cutoffs: Cutoffs) =>
  (
    await sql<LiveRow>`select ${withStanding} from session s
      join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id
      where s.realm_id = ${realm} and s.id = ${id} and ${live(cutoffs)}`
  )[0];

export type ListedRow = SessionRow & { clients: string[] };

/** The filters of a list, all of which must match, and where its page begins. */
export interface SessionPage {
  userId?: string | undefined;
  username?: string | undefined;
  /** A client that got tokens in the session. */
  clientId?: string | undefined;
  ipAddress?: string | undefined;
  limit: number;
  after?: { at: Date; id: string } | undefined;
}

/** The condition for a given value, else `true`. */
const when = <T>(value: T | undefined, condition: (value: T) => Fragment): Fragment =>
  value === undefined ? fragment`true` : condition(value);

/** The ids of the sessions in which a client or a SAML client takes part. */
const sessionsOf = (realm: string, clientId: string) => fragment`(
  select sc.session_id from session_client sc join client c on c.realm_id = sc.realm_id and c.id = sc.client
  where sc.realm_id = ${realm} and c.client_id = ${clientId}
  union all
  select sc.session_id from saml_session sc join saml_client c on c.realm_id = sc.realm_id and c.id = sc.client
  where sc.realm_id = ${realm} and c.entity_id = ${clientId})`;

/**
 * Newest first: ids are ordered by the time of their creation. The page begins after `after`. Each client is looked up by its key: for a
 * join the planner would read all clients of the realm for each session.
 */
export const list = (sql: Sql, realm: string, cutoffs: Cutoffs, page: SessionPage) => sql<ListedRow>`
  select ${columns}, array(
      select (select c.client_id from client c where c.realm_id = sc.realm_id and c.id = sc.client) from session_client sc
      where sc.realm_id = s.realm_id and sc.session_id = s.id
      union
      select (select c.entity_id from saml_client c where c.realm_id = sc.realm_id and c.id = sc.client) from saml_session sc
      where sc.realm_id = s.realm_id and sc.session_id = s.id order by 1) as clients
  from session s join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id
  where s.realm_id = ${realm} and ${live(cutoffs)}
    and ${when(page.userId, (id) => fragment`s.user_id = ${id}`)}
    and ${when(page.username, (username) => fragment`s.user_id = (${idOfUserNamed(realm, username)})`)}
    and ${when(page.clientId, (clientId) => fragment`s.id in ${sessionsOf(realm, clientId)}`)}
    and ${when(page.ipAddress, (address) => fragment`s.ip_address = ${address}`)}
    and ${when(page.after, (after) => fragment`s.id < ${after.id}`)}
  order by s.id desc limit ${page.limit}`;

interface OfflineRow {
  id: string;
  clientId: string;
  clientName: string | null;
  scopes: string[];
  started_at: Date;
  refreshed_at: Date | null;
  expires_at: Date;
}
/** The user's grants that outlive their session, newest first. */
export const offline = (
  sql: Sql,
  realm: string,
  { userId, now, after, limit }: { userId: string; now: Date } & Pick<SessionPage, 'after' | 'limit'>,
) => sql<OfflineRow>`
  select f.id, c.client_id as "clientId", c.name as "clientName", f.grant_data -> 'scopes' as scopes,
    f.created_at as started_at, f.refreshed_at, f.expires_at
  from refresh_family f join client c on c.realm_id = f.realm_id and c.id = f.client
  where f.realm_id = ${realm} and f.user_id = ${userId} and f.session_id is null and f.revoked_at is null
    and f.expires_at > ${now}
    and ${when(after, (place) => fragment`(f.created_at, f.id) < (${place.at}, ${place.id})`)}
  order by f.created_at desc, f.id desc limit ${limit}`;

export const insert = (
  { atLast }: Pick<Tx, 'atLast'>,
  realm: string,
  s: Omit<SessionRow, 'username'>,
  proven: Proven,
) => atLast`
  insert into session (realm_id, id, token_hash, user_id, ip_address, user_agent, started_at, last_seen_at, expires_at,
    remember_me, authenticated_at, level_of_assurance, methods, factors, risk, impersonator)
  values (${realm}, ${s.id}, ${s.token_hash}, ${provenUser(realm, proven)}, ${s.ip_address}, ${s.user_agent}, ${s.started_at},
    ${s.last_seen_at}, ${s.expires_at}, ${s.remember_me}, ${s.authenticated_at}, ${s.level_of_assurance}, ${s.methods},
    ${jsonOf(s.factors)}, ${jsonOf(s.risk)}, ${s.impersonator && JSON.stringify(s.impersonator)}::jsonb)`;

/** Stores a newer or stronger proof of the same user. The session continues under a new cookie. */
export const upgrade = async (
  sql: Sql,
  realm: string,
  id: string,
  to: Pick<SessionRow, 'token_hash' | 'authenticated_at' | 'level_of_assurance' | 'methods' | 'factors' | 'risk'> & {
    proven: Proven;
  },
) =>
  (
    await sql<{ id: string }>`
      update session set token_hash = ${to.token_hash}, authenticated_at = ${to.authenticated_at},
        last_seen_at = ${to.authenticated_at}, level_of_assurance = ${to.level_of_assurance}, methods = ${to.methods},
        factors = ${jsonOf(to.factors)}, risk = ${jsonOf(to.risk)}
      where realm_id = ${realm} and id = ${id} and user_id = ${provenUser(realm, { ...to.proven, sessionId: undefined })}
      returning id`
  ).length > 0;

/** The impersonator opens the address that they got: the session gets a new token, and its real end. */
export const replaceArrivalToken = async (
  sql: Sql,
  realm: string,
  tokenHash: Buffer,
  to: {
    tokenHash: Buffer;
    pendingMs: number;
    at: Date;
    expiresAt: Fragment;
    ipAddress: string;
    userAgent: string | null;
  },
) =>
  (
    await sql<{ id: string; expires_at: Date }>`
      update session s set token_hash = ${to.tokenHash}, expires_at = ${to.expiresAt}, last_seen_at = ${to.at},
        ip_address = ${to.ipAddress}, user_agent = ${to.userAgent}
      where realm_id = ${realm} and token_hash = ${tokenHash} and impersonator is not null and expires_at > ${to.at}
        and expires_at <= started_at + ${to.pendingMs} * interval '1 millisecond'
      returning id, expires_at`
  )[0];

export const touch = (sql: Sql, realm: string, id: string, at: Date) =>
  sql`update session set last_seen_at = ${at} where realm_id = ${realm} and id = ${id} and last_seen_at < ${at}`;

/** The applications to which a session `s` that ends has signed the user in. */
const clientsOf = fragment`array(
  select c.client_id from session_client sc join client c on c.realm_id = sc.realm_id and c.id = sc.client
  where sc.realm_id = s.realm_id and sc.session_id = s.id order by 1) as clients`;

/** The most frames that a browser loads without a noticeable delay. */
const MOST_FRAMES = 100;

/** The applications among them that have a front-channel logout address. */
export const framesOf = (sql: Sql, realm: string, ids: readonly string[]) => sql<{ uri: string; sid: string }>`
  select c.frontchannel_logout_uri as uri, sc.session_id as sid
  from session_client sc join client c on c.realm_id = sc.realm_id and c.id = sc.client
  where sc.realm_id = ${realm} and sc.session_id = any(${ids}::uuid[]) and c.enabled
    and c.frontchannel_logout_uri is not null
  order by c.client_id, sc.session_id limit ${MOST_FRAMES}`;

export const removeAll = (sql: Sql, realm: string, ids: readonly string[]) =>
  sql<{ id: string; user_id: string; username: string; impersonator: Impersonator | null; clients: string[] }>`
    delete from session s using realm_user u
    where s.realm_id = ${realm} and s.id = any(${ids}::uuid[]) and u.realm_id = s.realm_id and u.id = s.user_id
    returning s.id, s.user_id, u.username, s.impersonator, ${clientsOf}`;
export const remove = async (sql: Sql, realm: string, id: string) => (await removeAll(sql, realm, [id]))[0];

/** The sessions and offline grants in which a client or a SAML client takes part; undefined: there is no such client. */
export async function heldBy(sql: Sql, realm: string, clientId: string, { at, most }: { at: Date; most: number }) {
  const [row] = await sql<{ sessions: Held[]; offline: Held[] }>`
    select coalesce((select jsonb_agg(s) from (
        select id, user_id as "userId" from session
        where realm_id = ${realm} and id in ${sessionsOf(realm, clientId)} and expires_at > ${at} limit ${most}) s), '[]') as sessions,
      coalesce((select jsonb_agg(g) from (
        select f.id, f.user_id as "userId" from refresh_family f join client c on c.realm_id = f.realm_id and c.id = f.client
        where f.realm_id = ${realm} and c.client_id = ${clientId} and f.session_id is null and f.revoked_at is null
          and f.expires_at > ${at} limit ${most}) g), '[]') as offline
    where exists (select from client where realm_id = ${realm} and client_id = ${clientId})
      or exists (select from saml_client where realm_id = ${realm} and entity_id = ${clientId})`;
  return row;
}
interface Held {
  id: string;
  userId: string;
}

/** Ends the user's oldest sessions beyond the `keep` newest. The user's row is the lock. */
export async function removeOldest(sql: Sql, realm: string, userId: string, keep: number, cutoffs: Cutoffs) {
  await sql`select 1 from realm_user where realm_id = ${realm} and id = ${userId} for no key update`;
  return sql<{ id: string; clients: string[] }>`
    delete from session s where s.realm_id = ${realm} and s.id in (
      select s.id from session s join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id
      where s.realm_id = ${realm} and s.user_id = ${userId} and s.impersonator is null and ${live(cutoffs)}
      order by s.started_at desc, s.id desc offset ${keep})
    returning s.id, ${clientsOf}`;
}

export interface ServiceAccountRow {
  client_id: string;
  grant: 'client_credentials' | 'token-exchange';
  occurred_at: Date;
  ip_address: string | null;
}

/** At most this many events of one type are read, however many there are. */
const NEWEST = 10_000;
const newest = (realm: string, type: 'TOKEN_ISSUED' | 'WORKLOAD_TOKEN_ISSUED') => fragment`(
  select client_id, type, occurred_at, ip_address, data from event
  where realm_id = ${realm} and type = ${type} order by id desc limit ${NEWEST})`;

/** The last token that each client obtained for itself. */
export const serviceAccounts = (sql: Sql, realm: string, since: Date) => sql<ServiceAccountRow>`
  select * from (
    select distinct on (e.client_id) e.client_id, e.occurred_at, e.ip_address,
      case e.type when 'TOKEN_ISSUED' then 'client_credentials' else 'token-exchange' end as grant
    from (${newest(realm, 'TOKEN_ISSUED')} union all ${newest(realm, 'WORKLOAD_TOKEN_ISSUED')}) e
    join client c on c.realm_id = ${realm} and c.client_id = e.client_id
    where e.occurred_at > ${since} and (e.type = 'WORKLOAD_TOKEN_ISSUED' or e.data ->> 'grant' = 'client_credentials')
    order by e.client_id, e.occurred_at desc
  ) last order by occurred_at desc, client_id`;
