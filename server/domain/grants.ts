// SQL of grants: authorization codes, and the refresh families that they begin. One statement issues a code, one locks and reads codes
// or families with the user of the next tokens, one redeems them, one ends families. features/protocol/token/judge.ts decides whether
// a code or a family may be redeemed.
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import { LONGEST } from './end-access.ts';
import type { Factor } from './factors.ts';
import type { GrantData } from './grant-data.ts';
import { type PersonRow, personColumns } from './person.ts';
import type { Finding } from './risk.ts';
import type { Sender } from './sender.ts';
import { type Cutoffs, sessionLives } from './session.ts';
import { credentialTypes } from './standing.ts';

// `(client = …) is true` and `limit` make PostgreSQL look rows up by their keys even without statistics. Otherwise it may read all rows
// of a client by the index of clients, or the whole table, since it assumes a hundred rows in any JSON text.

// Values of many requests are sent as one JSON text: bytes in hex notation, moments in seconds, which format faster than dates.
const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;
const seconds = (moment: Date): number => moment.getTime() / 1000;

/**
 * The treatment of a row that another transaction has locked. A single request waits for it. A group passes it over, so that no
 * request waits for another one's row and no two groups deadlock.
 */
export type WhenLocked = 'wait' | 'pass over';
export const lock: Record<WhenLocked, Fragment> = { wait: fragment``, 'pass over': fragment`skip locked` };

/** Writes without reading: {@link Tx.atLast}. */
type Write = Tx['atLast'];

/** A code to issue. */
export interface NewCode {
  hash: Buffer;
  client: string;
  sessionId: string;
  userId: string;
  data: GrantData;
  expiresAt: Date;
}

const requestOf = (code: NewCode) => fragment`${JSON.stringify(code.data)}::jsonb, ${code.expiresAt}::timestamptz`;

/** Stores a code and notes the client in the session, in one statement. @returns false if the session has ended */
export const insertCode = async (sql: Sql, realm: string, code: NewCode): Promise<boolean> =>
  (
    await sql`
      with live as (
        select realm_id, id, user_id from session where realm_id = ${realm} and id = ${code.sessionId} for key share
      ), noted as (
        insert into session_client (realm_id, session_id, client)
        select realm_id, id, ${code.client}::uuid from live on conflict do nothing
      )
      insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
      select realm_id, ${code.hash}, ${code.client}::uuid, id, user_id, ${requestOf(code)} from live returning user_id`
  ).length > 0;

/** Stores many codes. @returns for each, false if the session has ended, or another transaction has locked it or the client */
export async function insertCodes(sql: Sql, codes: readonly (NewCode & { realm: string })[]): Promise<boolean[]> {
  const asked = codes.map(({ realm, hash, client, sessionId, data, expiresAt }) => ({
    realm_id: realm,
    code_hash: hex(hash),
    client,
    session_id: sessionId,
    request: data,
    expires_at: expiresAt.toISOString(),
  }));
  const rows = await sql<{ codeHash: Buffer }>`
    with live as (
      select a.*, s.user_id from json_to_recordset(${JSON.stringify(asked)}) as a (
        realm_id text, code_hash bytea, client uuid, session_id uuid, request jsonb, expires_at timestamptz
      ) cross join lateral (
        select s.user_id from session s
          join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id
          join client k on k.realm_id = s.realm_id and (k.id = a.client) is true
        where s.realm_id = a.realm_id and s.id = a.session_id for key share of s, u, k skip locked
      ) s
      limit ${asked.length}
    ), noted as (
      insert into session_client (realm_id, session_id, client)
      select realm_id, session_id, client from live order by realm_id, session_id, client on conflict do nothing
    )
    insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
    select realm_id, code_hash, client, session_id, user_id, request, expires_at from live
    returning code_hash as "codeHash"`;
  const kept = new Set(rows.map(({ codeHash }) => codeHash.toString('hex')));
  return codes.map(({ hash }) => kept.has(hash.toString('hex')));
}

/** Stores the code of a session that begins in the same transaction, without a check. */
export const insertFirstCode = (write: Write, realm: string, code: NewCode) => write`
  with noted as (
    insert into session_client (realm_id, session_id, client) values (${realm}, ${code.sessionId}, ${code.client})
  )
  insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
  values (${realm}, ${code.hash}, ${code.client}, ${code.sessionId}, ${code.userId}, ${requestOf(code)})`;

export interface CodeRow extends PersonRow {
  /** Of the request that it answers. */
  n: number;
  session_id: string;
  session_expires_at: Date;
  request: GrantData;
  expires_at: Date;
  used_at: Date | null;
  /** The grant that the code began. */
  family_id: string | null;
  user_enabled: boolean;
}

/** The tables of codes: of the browser's authorization code, and of devices. */
export const codeTables = {
  authorization: fragment`authorization_code`,
  device: fragment`device_authorization`,
  backchannel: fragment`backchannel_authentication`,
};

/**
 * Locks and reads the client's codes that have a user. Rows that a family refers to are locked here too: its foreign keys would lock
 * them later, and a foreign key waits instead of passing over.
 */
export const lockCodes = (
  sql: Sql,
  asked: readonly { realm: string; client: string; codeHash: Buffer }[],
  whenLocked: WhenLocked,
  table = codeTables.authorization,
): Promise<CodeRow[]> => sql<CodeRow>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(
      asked.map((a, n) => ({ n, realm_id: a.realm, client: a.client, code_hash: hex(a.codeHash) })),
    )}) as a (n int, realm_id text, client uuid, code_hash bytea)
    limit ${asked.length}
  ), held as (
    select a.n, c.* from asked a cross join lateral (
      select c.realm_id, c.user_id, c.session_id, c.request, c.expires_at, c.used_at, c.family_id,
        s.expires_at as session_expires_at, u.enabled as user_enabled
      from ${table} c
        join session s on s.realm_id = c.realm_id and s.id = c.session_id
        join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
        join client k on k.realm_id = c.realm_id and k.id = c.client
      where c.realm_id = a.realm_id and c.code_hash = a.code_hash and (c.client = a.client) is true
      for no key update of c ${lock[whenLocked]} for key share of s, u, k ${lock[whenLocked]}
    ) c
  )
  select h.n, h.session_id, h.session_expires_at, h.request, h.expires_at, h.used_at, h.family_id, h.user_enabled, ${personColumns}
  from held h join realm_user u on u.realm_id = h.realm_id and u.id = h.user_id`;

/** Allows a device, and notes the client in the session. @returns false if the session has ended or the device was decided meanwhile */
export const allowDevice = async (
  sql: Sql,
  realm: string,
  { hash, sessionId, data, now }: { hash: Buffer; sessionId: string; data: GrantData; now: Date },
): Promise<boolean> =>
  (
    await sql`
      with live as (
        select realm_id, id, user_id from session where realm_id = ${realm} and id = ${sessionId} for key share
      ), allowed as (
        update ${codeTables.device} d set session_id = l.id, user_id = l.user_id, request = ${JSON.stringify(data)}::jsonb
        from live l where d.realm_id = l.realm_id and d.code_hash = ${hash} and d.expires_at > ${now}
          and d.session_id is null and d.denied_at is null
        returning d.realm_id, d.session_id, d.client
      ), noted as (
        insert into session_client (realm_id, session_id, client) select realm_id, session_id, client from allowed
        on conflict do nothing
      )
      select from allowed`
  ).length > 0;

export interface CodeTaking {
  realm: string;
  codeHash: Buffer;
  now: Date;
  familyId: string;
}
interface Beginning {
  /** The hash of the refresh token; null: the grant has none, and so no family. */
  tokenHash: Buffer | null;
  /** Without a family: the access token's expiry; until then the code's row represents the grant. */
  accessUntil?: Date;
  /** The grant outlives the session. */
  offline?: boolean;
  expiresAt?: Date;
  /** What the refresh token is bound to. */
  bound?: Sender | undefined;
}

export const takeCodes = (
  write: Write,
  taken: readonly (CodeTaking & Beginning)[],
  table = codeTables.authorization,
): void => write`
  with judged as (
    select * from json_to_recordset(${JSON.stringify(
      taken.map((t) => ({
        realm_id: t.realm,
        code_hash: hex(t.codeHash),
        family_id: t.familyId,
        token_hash: t.tokenHash && hex(t.tokenHash),
        offline: t.offline ?? false,
        bound: t.bound,
        expires_at: t.expiresAt && seconds(t.expiresAt),
        access_until: t.accessUntil && seconds(t.accessUntil),
        now: seconds(t.now),
      })),
    )}) as j (realm_id text, code_hash bytea, family_id uuid, token_hash bytea, offline boolean, bound jsonb, expires_at float8,
      access_until float8, now float8)
    limit ${taken.length}
  ), used as (
    update ${table} c set used_at = to_timestamp(j.now), family_id = j.family_id,
      expires_at = greatest(c.expires_at, to_timestamp(j.access_until))
    from judged j where c.realm_id = j.realm_id and c.code_hash = j.code_hash and c.used_at is null
    returning j.realm_id, j.family_id, j.token_hash, j.offline, j.bound, j.expires_at, j.now, c.client, c.user_id, c.session_id, c.request
  )
  insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
  select realm_id, family_id, client, user_id, case when offline then null else session_id end,
    request || coalesce(bound, '{}'), to_timestamp(now), to_timestamp(expires_at), token_hash
  from used where token_hash is not null`;

const CUTOFF_COLUMNS: Cutoffs<Fragment> = {
  now: fragment`to_timestamp(a.now)`,
  seen: fragment`to_timestamp(a.seen)`,
  started: fragment`to_timestamp(a.started)`,
  rememberedStarted: fragment`to_timestamp(a.remembered_started)`,
};

export interface FamilyRow extends PersonRow {
  /** Of the request that it answers. */
  n: number;
  family_id: string;
  token_hash: Buffer;
  revoked_at: Date | null;
  expires_at: Date;
  grant_data: GrantData;
  generation: number;
  user_enabled: boolean;
  /** Null for a grant that outlives its session. */
  session_id: string | null;
  session_expires_at: Date | null;
  session_last_seen_at: Date | null;
  /** True also without a session. */
  session_lives: boolean;
  /** The session's factors: a list, or the format of an older version. */
  session_factors: Factor[] | null;
  session_methods: string[] | null;
  session_started_at: Date | null;
  session_risk: Finding[] | null;
  /** The types of the user's credentials. */
  types: string[];
}

/** Locks and reads the client's grants. */
export const lockFamilies = (
  sql: Sql,
  asked: readonly { realm: string; client: string; familyId: string; cutoffs: Cutoffs }[],
  whenLocked: WhenLocked,
): Promise<FamilyRow[]> => sql<FamilyRow>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(
      asked.map((a, n) => ({
        n,
        realm_id: a.realm,
        client: a.client,
        family_id: a.familyId,
        now: seconds(a.cutoffs.now),
        seen: seconds(a.cutoffs.seen),
        started: seconds(a.cutoffs.started),
        remembered_started: seconds(a.cutoffs.rememberedStarted),
      })),
    )}) as a (n int, realm_id text, client uuid, family_id uuid, now float8, seen float8, started float8,
      remembered_started float8)
    limit ${asked.length}
  ), held as (
    select a.n, f.* from asked a cross join lateral (
      select f.realm_id, f.id, f.user_id, f.token_hash, f.revoked_at, f.expires_at, f.grant_data, f.generation, f.session_id,
        u.enabled as user_enabled, s.expires_at as session_expires_at, s.last_seen_at, s.factors, s.methods, s.started_at, s.risk,
        f.session_id is null or (${sessionLives(CUTOFF_COLUMNS)}) as session_lives
      from refresh_family f
        join realm_user u on u.realm_id = f.realm_id and u.id = f.user_id
        left join session s on s.realm_id = f.realm_id and s.id = f.session_id
      where f.realm_id = a.realm_id and f.id = a.family_id and (f.client = a.client) is true
      for no key update of f ${lock[whenLocked]}
    ) f
  )
  select h.n, h.id as family_id, h.token_hash, h.revoked_at, h.expires_at, h.grant_data, h.generation, h.user_enabled,
    h.session_id, h.session_expires_at, h.last_seen_at as session_last_seen_at, h.session_lives, h.factors as session_factors,
    h.methods as session_methods, h.started_at as session_started_at, h.risk as session_risk, ${credentialTypes}, ${personColumns}
  from held h join realm_user u on u.realm_id = h.realm_id and u.id = h.user_id`;

export interface Rotation {
  realm: string;
  familyId: string;
  presented: Buffer;
  /** The hash of the next refresh token; the same one if tokens may be used more than once. */
  next: Buffer;
  expiresAt: Date;
  now: Date;
  /** The session to note as used. */
  touch: string | null;
}

/** Stores the next refresh tokens. A session that is locked is not noted as used now; its next use notes it. */
export const rotateFamilies = (write: Write, rotations: readonly Rotation[]): void => write`
  with judged as (
    select * from json_to_recordset(${JSON.stringify(
      rotations.map((r) => ({
        realm_id: r.realm,
        family_id: r.familyId,
        presented: hex(r.presented),
        next: hex(r.next),
        expires_at: seconds(r.expiresAt),
        now: seconds(r.now),
        touch: r.touch,
      })),
    )}) as j (realm_id text, family_id uuid, presented bytea, next bytea, expires_at float8, now float8, touch uuid)
    limit ${rotations.length}
  ), moved as (
    update refresh_family f set token_hash = j.next, generation = generation + 1, expires_at = to_timestamp(j.expires_at),
      refreshed_at = to_timestamp(j.now)
    from judged j where f.realm_id = j.realm_id and f.id = j.family_id and f.token_hash = j.presented and f.revoked_at is null
  ), stale as (
    select s.realm_id, s.id, j.now from judged j join session s on s.realm_id = j.realm_id and s.id = j.touch
    for no key update of s skip locked
  )
  update session s set last_seen_at = to_timestamp(t.now) from stale t where s.realm_id = t.realm_id and s.id = t.id`;

/** Reads a client's grant. */
export async function readFamily(
  sql: Sql,
  realm: string,
  { familyId, client }: { familyId: string; client: string },
): Promise<{ user_id: string; revoked_at: Date | null } | undefined> {
  const [row] = await sql<{ user_id: string; revoked_at: Date | null }>`
    select user_id, revoked_at from refresh_family
    where realm_id = ${realm} and id = ${familyId} and client = ${client}`;
  return row;
}

export interface Ending {
  realm: string;
  familyId: string;
  gid: string;
  now: Date;
  /** The latest expiry of its access tokens. */
  accessUntil: Date;
}

/** Ends a grant: its refresh token, and its access tokens by their `gid`. @returns false if it had ended before */
export async function endFamily(sql: Sql, { realm, familyId, gid, now, accessUntil }: Ending): Promise<boolean> {
  const [row] = await sql<{ ended: boolean }>`
    with ended as (
      update refresh_family set revoked_at = ${now}
      where realm_id = ${realm} and id = ${familyId} and revoked_at is null returning id
    ), refused as (
      insert into revoked_token (realm_id, jti, expires_at) values (${realm}, ${gid}, ${accessUntil})
      on conflict do nothing returning jti
    )
    select exists (select from ended) or exists (select from refused) as ended`;
  return row?.ended ?? false;
}

/** Ends a user's grant that outlives its session; undefined if none is active. `seconds`: the lifetime of its longest access token. */
export async function endOffline(
  sql: Sql,
  realm: string,
  { userId, id, now }: { userId: string; id: string; now: Date },
): Promise<{ client_id: string; username: string; seconds: number } | undefined> {
  const [row] = await sql<{ client_id: string; username: string; seconds: number }>`
    update refresh_family f set revoked_at = ${now} from client c, realm_user u
    where f.realm_id = ${realm} and f.id = ${id} and f.user_id = ${userId} and f.session_id is null
      and f.revoked_at is null and f.expires_at > ${now}
      and c.realm_id = f.realm_id and c.id = f.client and u.realm_id = f.realm_id and u.id = f.user_id
    returning c.client_id, u.username, greatest(c.access_token_ttl_seconds, ${LONGEST}::int) as seconds`;
  return row;
}

/** Ends all grants of a user to a client, and unredeemed codes. @returns the grants, whose access tokens the caller must refuse */
export async function endGrants(
  sql: Sql,
  realm: string,
  { userId, client, now }: { userId: string; client: string; now: Date },
): Promise<string[]> {
  const theirs = fragment`realm_id = ${realm} and client = ${client} and session_id in (
    select id from session where realm_id = ${realm} and user_id = ${userId})`;
  await sql`
    with unused as (delete from ${codeTables.authorization} where ${theirs} and used_at is null),
      unasked as (update ${codeTables.backchannel} set denied_at = ${now} where ${theirs} and used_at is null)
    update ${codeTables.device} set denied_at = ${now} where ${theirs} and used_at is null`;
  // After the codes: that write waited for clients that were exchanging one. A code without a family represents its grant itself.
  const rows = await sql<{ id: string }>`
    with ended as (
      update refresh_family set revoked_at = ${now}
      where realm_id = ${realm} and user_id = ${userId} and client = ${client} and revoked_at is null returning id
    ) select id from ended
    union select family_id from ${codeTables.authorization} where ${theirs} and family_id is not null
    union select family_id from ${codeTables.device} where ${theirs} and family_id is not null
    union select family_id from ${codeTables.backchannel} where ${theirs} and family_id is not null`;
  return rows.map(({ id }) => id);
}
