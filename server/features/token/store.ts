// SQL of authorization codes and refresh families. One statement moves a grant on and reads whom the next token is about.

import { type PersonRow, personColumns } from '../../db/person.ts';
import { type Cutoffs, sessionLives } from '../../db/session.ts';
import type { Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';

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
}

interface CodeRow extends PersonRow {
  client: string;
  session_id: string;
  session_expires_at: Date;
  expires_at: Date;
  request: GrantData;
}

/** Takes an unused code of this client: from here on it is used, whatever comes of it. */
export async function takeCode(
  sql: Sql,
  realm: string,
  { codeHash, client, familyId, now }: { codeHash: Buffer; client: string; familyId: string; now: Date },
): Promise<CodeRow | undefined> {
  const [row] = await sql<CodeRow>`
    with taken as (
      update authorization_code set used_at = ${now}, family_id = ${familyId}
      where realm_id = ${realm} and code_hash = ${codeHash} and client = ${client} and used_at is null
      returning realm_id, client, session_id, user_id, request, expires_at
    )
    select t.client, t.session_id, s.expires_at as session_expires_at, t.expires_at, t.request, ${personColumns}
    from taken t join realm_user u on u.realm_id = t.realm_id and u.id = t.user_id
      join session s on s.realm_id = t.realm_id and s.id = t.session_id`;
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

/** Written last: nothing of the exchange reads it. */
export function insertFamily(
  { atLast }: Pick<Tx, 'atLast'>,
  realm: string,
  family: {
    id: string;
    client: string;
    userId: string;
    sessionId: string | null;
    data: GrantData;
    tokenHash: Buffer;
    now: Date;
    expiresAt: Date;
  },
): void {
  atLast`
    insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
    values (${realm}, ${family.id}, ${family.client}, ${family.userId}, ${family.sessionId},
      ${JSON.stringify(family.data)}, ${family.now}, ${family.expiresAt}, ${family.tokenHash})`;
}

export interface FamilyRow extends PersonRow {
  session_id: string | null;
  grant_data: GrantData;
  generation: number;
}

/**
 * Replaces a family's current token (or keeps it) and prolongs its session, in one statement. Of two that present the same
 * token at once, the row lock lets one pass; the other finds another token there and gets nothing.
 */
export async function rotate(
  sql: Sql,
  realm: string,
  {
    familyId,
    client,
    presented,
    next,
    now,
    expiresAt,
    cutoffs,
    touchBefore,
  }: {
    familyId: string;
    client: string;
    presented: Buffer;
    next: Buffer;
    now: Date;
    /** The new token's own life; null keeps the present one. */
    expiresAt: Date | null;
    cutoffs: Cutoffs;
    touchBefore: Date;
  },
): Promise<FamilyRow | undefined> {
  const [row] = await sql<FamilyRow>`
    with live as (
      select s.id, s.expires_at from refresh_family f join session s on s.realm_id = f.realm_id and s.id = f.session_id
      where f.realm_id = ${realm} and f.id = ${familyId} and ${sessionLives(cutoffs)}
    ), moved as (
      update refresh_family f set token_hash = ${next}, generation = generation + 1,
        expires_at = least(coalesce(${expiresAt}::timestamptz, f.expires_at), (select expires_at from live))
      where f.realm_id = ${realm} and f.id = ${familyId} and f.client = ${client} and f.token_hash = ${presented}
        and f.revoked_at is null and f.expires_at > ${now} and (f.session_id is null or exists (select from live))
      returning f.realm_id, f.user_id, f.session_id, f.grant_data, f.generation
    ), seen as (
      update session s set last_seen_at = ${now} from moved m
      where s.realm_id = m.realm_id and s.id = m.session_id and s.last_seen_at < ${touchBefore}
    )
    select m.session_id, m.grant_data, m.generation, ${personColumns}
    from moved m join realm_user u on u.realm_id = m.realm_id and u.id = m.user_id`;
  return row;
}

/** Why a token was not taken. */
export async function readFamily(
  sql: Sql,
  realm: string,
  { familyId, client }: { familyId: string; client: string },
): Promise<{ user_id: string; token_hash: Buffer; revoked_at: Date | null; expires_at: Date } | undefined> {
  const [row] = await sql<{ user_id: string; token_hash: Buffer; revoked_at: Date | null; expires_at: Date }>`
    select user_id, token_hash, revoked_at, expires_at from refresh_family
    where realm_id = ${realm} and id = ${familyId} and client = ${client}`;
  return row;
}

/** Ends a grant: its refresh token, and its access tokens by their `gid`. False: it had ended, or there is none. */
export async function endFamily(
  sql: Sql,
  realm: string,
  { familyId, gid, now, accessUntil }: { familyId: string; gid: string; now: Date; accessUntil: Date },
): Promise<boolean> {
  const [row] = await sql<{ family: boolean }>`
    with ended as (
      update refresh_family set revoked_at = ${now} where realm_id = ${realm} and id = ${familyId} and revoked_at is null
      returning id
    ), refused as (
      insert into revoked_token (realm_id, jti, expires_at) values (${realm}, ${gid}, ${accessUntil})
      on conflict do nothing returning jti
    )
    select exists (select from ended) or exists (select from refused) as family`;
  return row?.family ?? false;
}
