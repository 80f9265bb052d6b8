// SQL of authorization codes and refresh families. One statement moves grants on and reads whom the next tokens are about.

import { type Fragment, fragment, type Sql } from '../../db/sql.ts';
import type { Factor } from '../../domain/factors.ts';
import { type PersonRow, personColumns } from '../../domain/person.ts';
import { OFFLINE } from '../../domain/scopes.ts';
import { type Cutoffs, sessionLives } from '../../domain/session.ts';
import { credentialTypes } from '../../domain/standing.ts';
import type { Finding } from '../risk/score.ts';

/** What the authorization endpoint keeps with a code, and a family with it. */
export interface GrantData {
  redirectUri: string;
  /** Names of the client scopes. */
  scopes: string[];
  openid: boolean;
  resources: string[];
  codeChallenge: string | null;
  nonce: string | null;
  authTime: number;
  acr: string;
  amr: string[];
  /** Whom its tokens are about, where that isn't the person's id. */
  sub?: string;
  /** What the person had proven, where the grant outlives their session. Older versions kept `amr` alone. */
  factors?: Factor[];
}

// Rows are looked up by their keys, also in a database too young for statistics: `(client = …) is true`, since PostgreSQL takes
// the index of clients for as good then, which reads everything that a client ever had; `limit`, since it takes any JSON text
// for a hundred rows, for which it would rather read the whole table.

// What many ask for is sent as one JSON text: bytes in the database's notation, moments in seconds, which are written
// several times faster than dates.
const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;
const seconds = (moment: Date): number => moment.getTime() / 1000;

/**
 * How the statements below meet a row that another transaction holds: a request that stands alone waits, a group passes it
 * over, so that nobody waits for somebody else's row and no two groups can hold each other up.
 */
export type Held = 'wait' | 'pass over';
const lock: Record<Held, Fragment> = { wait: fragment``, 'pass over': fragment`skip locked` };

/** What a request wants of what was granted; `grant_data @> wanted` says whether it may have it. */
export interface Wanted {
  scopes?: readonly string[];
  openid?: true;
  resources: readonly string[];
}

/** A request to exchange a code. */
export interface Redemption {
  realm: string;
  client: string;
  codeHash: Buffer;
  redirectUri: string;
  codeChallenge: string | null;
  wanted: Wanted;
  /** The grant that it begins. */
  familyId: string;
  /** Of its refresh token; null: the client gets none. */
  tokenHash: Buffer | null;
  /** When the refresh token ends, unless its session ends before. */
  expiresAt: Date;
  now: Date;
}

export interface RedeemedRow extends PersonRow {
  /** Of the request that it answers. */
  n: number;
  session_id: string;
  request: GrantData;
}

/**
 * Exchanges codes: those against which nothing speaks are used from here on and their refresh families begin; of the others
 * nothing is written. What a family refers to is locked as its foreign keys would, which wait and can't pass over.
 */
export const redeem = (sql: Sql, asked: readonly Redemption[], held: Held) => sql<RedeemedRow>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(
      asked.map((a, n) => ({
        n,
        realm_id: a.realm,
        client: a.client,
        code_hash: hex(a.codeHash),
        redirect_uri: a.redirectUri,
        code_challenge: a.codeChallenge,
        wanted: a.wanted,
        family_id: a.familyId,
        token_hash: a.tokenHash && hex(a.tokenHash),
        expires_at: seconds(a.expiresAt),
        now: seconds(a.now),
      })),
    )}) as a (n int, realm_id text, client uuid, code_hash bytea, redirect_uri text, code_challenge text, wanted jsonb,
      family_id uuid, token_hash bytea, expires_at float8, now float8)
    limit ${asked.length}
  ), fit as (
    select a.*, c.session_expires_at from asked a cross join lateral (
      select s.expires_at as session_expires_at from authorization_code c
        join session s on s.realm_id = c.realm_id and s.id = c.session_id
        join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
        join client k on k.realm_id = c.realm_id and k.id = c.client
      where c.realm_id = a.realm_id and c.code_hash = a.code_hash and (c.client = a.client) is true and c.used_at is null
        and c.expires_at > to_timestamp(a.now) and u.enabled and c.request @> a.wanted
        and c.request ->> 'redirectUri' = a.redirect_uri
        and c.request ->> 'codeChallenge' is not distinct from a.code_challenge
      for no key update of c ${lock[held]} for key share of s, u, k ${lock[held]}
    ) c
  ), taken as (
    update authorization_code c set used_at = to_timestamp(f.now), family_id = f.family_id
    from fit f where c.realm_id = f.realm_id and c.code_hash = f.code_hash
    returning f.*, c.session_id, c.user_id, c.request,
      c.request -> 'scopes' @> ${JSON.stringify([OFFLINE])}::jsonb as offline
  ), begun as (
    insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
    select realm_id, family_id, client, user_id, case when offline then null else session_id end, request, to_timestamp(now),
      least(to_timestamp(expires_at), case when offline then null else session_expires_at end), token_hash
    from taken where token_hash is not null
  )
  select t.n, t.session_id, t.request, ${personColumns}
  from taken t join realm_user u on u.realm_id = t.realm_id and u.id = t.user_id`;

interface CodeRow {
  expires_at: Date;
  request: GrantData;
  enabled: boolean;
}

/** Takes a code that can't be exchanged: from here on it is used. */
export async function takeCode(
  sql: Sql,
  { realm, codeHash, client, familyId, now }: Redemption,
): Promise<CodeRow | undefined> {
  const [row] = await sql<CodeRow>`
    update authorization_code c set used_at = ${now}, family_id = ${familyId} from realm_user u
    where c.realm_id = ${realm} and c.code_hash = ${codeHash} and c.client = ${client} and c.used_at is null
      and u.realm_id = c.realm_id and u.id = c.user_id
    returning c.request, c.expires_at, u.enabled`;
  return row;
}

/** The grant that a used code began. */
export async function familyOfCode(
  sql: Sql,
  realm: string,
  { codeHash, client }: { codeHash: Buffer; client: string },
): Promise<{ family_id: string; user_id: string } | undefined> {
  const [row] = await sql<{ family_id: string; user_id: string }>`
    select family_id, user_id from authorization_code
    where realm_id = ${realm} and code_hash = ${codeHash} and client = ${client} and family_id is not null`;
  return row;
}

const CUTOFF_COLUMNS: Cutoffs<Fragment> = {
  now: fragment`to_timestamp(a.now)`,
  seen: fragment`to_timestamp(a.seen)`,
  started: fragment`to_timestamp(a.started)`,
  rememberedStarted: fragment`to_timestamp(a.remembered_started)`,
};

/** A request to go on with a grant. */
export interface Rotation {
  realm: string;
  client: string;
  familyId: string;
  presented: Buffer;
  /** The token that takes its place; the same again where tokens may be used more than once. */
  next: Buffer;
  /** The new token's own life; null keeps the present one. */
  expiresAt: Date | null;
  wanted: Wanted;
  /** All of the grant's resources must be among these; null: it is `wanted` that says which, and they were checked. */
  allowed: readonly string[] | null;
  cutoffs: Cutoffs;
  /** A session that was seen before this moment is touched. */
  touchBefore: Date;
}

export interface RotatedRow extends PersonRow {
  /** Of the request that it answers. */
  n: number;
  session_id: string | null;
  grant_data: GrantData;
  generation: number;
  /** Of credentials that the person has. */
  types: string[];
  /** What its session has proven: a list, or what an older version kept. Null without a session. */
  session_factors: Factor[] | null;
  session_methods: string[] | null;
  session_started_at: Date | null;
  session_risk: Finding[] | null;
}

/**
 * Replaces the current tokens of families (or keeps them) and prolongs their sessions. Of two that present the same token at
 * once, the row lock lets one pass; the other finds another token there and gets nothing.
 */
export const rotate = (sql: Sql, asked: readonly Rotation[], held: Held) => sql<RotatedRow>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(
      asked.map((a, n) => ({
        n,
        realm_id: a.realm,
        client: a.client,
        family_id: a.familyId,
        presented: hex(a.presented),
        next: hex(a.next),
        expires_at: a.expiresAt && seconds(a.expiresAt),
        wanted: a.wanted,
        allowed: a.allowed,
        now: seconds(a.cutoffs.now),
        seen: seconds(a.cutoffs.seen),
        started: seconds(a.cutoffs.started),
        remembered_started: seconds(a.cutoffs.rememberedStarted),
        touch_before: seconds(a.touchBefore),
      })),
    )}) as a (n int, realm_id text, client uuid, family_id uuid, presented bytea, next bytea, expires_at float8,
      wanted jsonb, allowed jsonb, now float8, seen float8, started float8, remembered_started float8, touch_before float8)
    limit ${asked.length}
  ), fit as (
    select a.n, a.realm_id, a.family_id, a.next, a.expires_at, a.now, f.session_id, f.session_expires_at,
      f.last_seen_at < to_timestamp(a.touch_before) as stale, f.factors, f.methods, f.started_at, f.risk
    from asked a cross join lateral (
      select f.session_id, s.expires_at as session_expires_at, s.last_seen_at, s.factors, s.methods, s.started_at, s.risk
      from refresh_family f
        join realm_user u on u.realm_id = f.realm_id and u.id = f.user_id
        left join session s on s.realm_id = f.realm_id and s.id = f.session_id
      where f.realm_id = a.realm_id and f.id = a.family_id and (f.client = a.client) is true
        and f.token_hash = a.presented and f.revoked_at is null and f.expires_at > to_timestamp(a.now)
        and u.enabled and f.grant_data @> a.wanted
        and (a.allowed is null or f.grant_data -> 'resources' <@ a.allowed)
        and (f.session_id is null or (${sessionLives(CUTOFF_COLUMNS)}))
      for no key update of f ${lock[held]}
    ) f
  ), moved as (
    update refresh_family f set token_hash = t.next, generation = generation + 1,
      expires_at = least(coalesce(to_timestamp(t.expires_at), f.expires_at), t.session_expires_at)
    from fit t where f.realm_id = t.realm_id and f.id = t.family_id
    returning t.n, f.realm_id, f.user_id, f.session_id, f.grant_data, f.generation, t.factors, t.methods, t.started_at, t.risk
  ), stale as (
    select s.realm_id, s.id, t.now from fit t join session s on s.realm_id = t.realm_id and s.id = t.session_id
    where t.stale for no key update of s skip locked
  ), seen as (
    update session s set last_seen_at = to_timestamp(t.now) from stale t where s.realm_id = t.realm_id and s.id = t.id
  )
  select m.n, m.session_id, m.grant_data, m.generation, m.factors as session_factors, m.methods as session_methods,
    m.started_at as session_started_at, m.risk as session_risk, ${credentialTypes}, ${personColumns}
  from moved m join realm_user u on u.realm_id = m.realm_id and u.id = m.user_id`;

export interface FamilyRow {
  user_id: string;
  token_hash: Buffer;
  revoked_at: Date | null;
  expires_at: Date;
  grant_data: GrantData;
  enabled: boolean;
}

/** Why a token was not taken. */
export async function readFamily(
  sql: Sql,
  realm: string,
  { familyId, client }: { familyId: string; client: string },
): Promise<FamilyRow | undefined> {
  const [row] = await sql<FamilyRow>`
    select f.user_id, f.token_hash, f.revoked_at, f.expires_at, f.grant_data, u.enabled
    from refresh_family f join realm_user u on u.realm_id = f.realm_id and u.id = f.user_id
    where f.realm_id = ${realm} and f.id = ${familyId} and f.client = ${client}`;
  return row;
}

/** A grant that is to end. */
export interface Ending {
  realm: string;
  familyId: string;
  gid: string;
  now: Date;
  /** The latest end of its access tokens. */
  accessUntil: Date;
}

/** Ends grants: their refresh tokens, and their access tokens by their `gid`. @returns the families of those that had not ended */
export async function endFamilies(sql: Sql, grants: readonly Ending[]): Promise<Set<string>> {
  const rows = await sql<{ family_id: string }>`
    with asked as (
      select * from json_to_recordset(${JSON.stringify(
        grants.map((g) => ({
          realm_id: g.realm,
          family_id: g.familyId,
          gid: g.gid,
          now: seconds(g.now),
          access_until: seconds(g.accessUntil),
        })),
      )}) as a (realm_id text, family_id uuid, gid uuid, now float8, access_until float8)
      limit ${grants.length}
    ), ended as (
      update refresh_family f set revoked_at = to_timestamp(a.now) from asked a
      where f.realm_id = a.realm_id and f.id = a.family_id and f.revoked_at is null
      returning f.id
    ), refused as (
      insert into revoked_token (realm_id, jti, expires_at) select realm_id, gid, to_timestamp(access_until) from asked
      on conflict do nothing returning realm_id, jti
    )
    select id as family_id from ended
    union select a.family_id from refused r join asked a on a.realm_id = r.realm_id and a.gid = r.jti`;
  return new Set(rows.map((row) => row.family_id));
}
