// SQL of backchannel authentication (OpenID Connect CIBA): store a request, list what waits for a user, decide it. Once the user has
// approved it, its code is polled, locked and redeemed like a device's (device-codes.ts, grants.ts).
import { grantIdOf } from '../crypto/refresh-token.ts';
import { fragment, type Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import type { GrantData } from './grant-data.ts';

const MOST = 10;

export interface NewBackchannelRequest {
  id: string;
  hash: Buffer;
  client: string;
  userId: string | null;
  hintHash: Buffer;
  parameters: string;
  bindingMessage: string | null;
  challenge: string;
  shown: boolean;
  notification: Buffer | null;
  createdAt: Date;
  expiresAt: Date;
  intervalSeconds: number;
}
export const insertRequest = (sql: Sql, realm: string, r: NewBackchannelRequest) => sql`
  insert into backchannel_authentication (realm_id, id, code_hash, client, user_id, hint_hash, parameters, binding_message,
    challenge, shown, notification, created_at, expires_at, interval_seconds)
  values (${realm}, ${r.id}, ${r.hash}, ${r.client}, ${r.userId}, ${r.hintHash}, ${r.parameters}, ${r.bindingMessage},
    ${r.challenge}, ${r.shown}, ${r.notification}, ${r.createdAt}, ${r.expiresAt}, ${r.intervalSeconds})`;

interface Lately {
  /** Shown requests of this client, and of all clients, that the user has not approved. */
  unanswered: number;
  of_all: number;
  /** Those of this client that the user refused. */
  denied: number;
  /** One with the same hint and binding message waits. */
  repeated: boolean;
  /** One for the same user with the same binding message waits. */
  like: boolean;
}
/**
 * What else the user was shown, or asked with the same hint, lately; a request that was not shown delays no other. The lock lets
 * no second request count at the same moment.
 */
export async function readLately(
  sql: Sql,
  realm: string,
  {
    userId,
    client,
    hintHash,
    bindingMessage,
    now,
    since,
  }: {
    userId: string | null;
    client: string;
    hintHash: Buffer;
    bindingMessage: string | null;
    now: Date;
    since: Date;
  },
): Promise<Lately> {
  await sql`select from client where realm_id = ${realm} and id = ${client} for no key update`;
  await sql`select from realm_user where realm_id = ${realm} and id = ${userId} for no key update`;
  const shown = fragment`(select client, denied_at from backchannel_authentication
    where realm_id = ${realm} and user_id = ${userId} and created_at > ${since} and session_id is null and shown) s`;
  const waits = fragment`session_id is null and denied_at is null and expires_at > ${now} and client = ${client}
    and binding_message = ${bindingMessage}`;
  const [row] = await sql<Lately>`
    select
      (select count(*) filter (where client = ${client})::int from ${shown}) as unanswered,
      (select count(*)::int from ${shown}) as of_all,
      (select count(*)::int from ${shown} where client = ${client} and denied_at is not null) as denied,
      exists (select from backchannel_authentication
        where realm_id = ${realm} and hint_hash = ${hintHash} and ${waits}) as repeated,
      exists (select from backchannel_authentication
        where realm_id = ${realm} and user_id = ${userId} and ${waits}) as like`;
  return row ?? { unanswered: 0, of_all: 0, denied: 0, repeated: false, like: false };
}

export interface WaitingRequest {
  id: string;
  code_hash: Buffer;
  client_id: string;
  user_id: string;
  username: string;
  parameters: string;
  binding_message: string | null;
  challenge: string;
  notified: boolean;
  created_at: Date;
  expires_at: Date;
}
const waiting = (realm: string, userId: string, now: Date) => fragment`
  select b.id, b.code_hash, c.client_id, b.user_id, u.username, b.parameters, b.binding_message, b.challenge,
    b.notification is not null as notified, b.created_at, b.expires_at
  from backchannel_authentication b
    join client c on c.realm_id = b.realm_id and c.id = b.client
    join realm_user u on u.realm_id = b.realm_id and u.id = b.user_id
  where b.realm_id = ${realm} and b.user_id = ${userId} and b.shown and b.session_id is null and b.denied_at is null
    and b.expires_at > ${now}`;

export const waitingRequests = (sql: Sql, realm: string, userId: string, now: Date) =>
  sql<WaitingRequest>`${waiting(realm, userId, now)} order by b.created_at desc, b.id desc limit ${MOST}`;

/** Locks the request until it is decided; undefined: it is not this user's, was decided, or has expired. */
export const lockWaiting = async (
  sql: Sql,
  realm: string,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<WaitingRequest | undefined> =>
  (await sql<WaitingRequest>`${waiting(realm, userId, now)} and b.id = ${id} for update of b`)[0];

/** Approves a locked request, for the session that begins in the same transaction, and notes the client in the session. */
export const approveRequest = (
  write: Tx['atLast'],
  realm: string,
  { hash, sessionId, data }: { hash: Buffer; sessionId: string; data: GrantData },
): void => write`
  with approved as (
    update backchannel_authentication set session_id = ${sessionId}, request = ${JSON.stringify(data)}::jsonb
    where realm_id = ${realm} and code_hash = ${hash} returning realm_id, session_id, client
  )
  insert into session_client (realm_id, session_id, client) select realm_id, session_id, client from approved
  on conflict do nothing`;

export const denyRequest = (sql: Sql, realm: string, hash: Buffer, now: Date) => sql`
  update backchannel_authentication set denied_at = ${now} where realm_id = ${realm} and code_hash = ${hash}`;

export interface DecidedRequest {
  /** Sealed. */
  notification: Buffer;
  client_id: string;
  denied: boolean;
  /** The grant that its tokens began; null: none were issued. */
  family_id: string | null;
  code_hash: Buffer;
}
/** A request whose client is told of the decision; undefined: it has been told, or the request has expired without tokens. */
export const readNotification = async (
  sql: Sql,
  realm: string,
  id: string,
  now: Date,
): Promise<DecidedRequest | undefined> =>
  (
    await sql<DecidedRequest>`
      select b.notification, c.client_id, b.denied_at is not null as denied, b.family_id, b.code_hash
      from backchannel_authentication b join client c on c.realm_id = b.realm_id and c.id = b.client
      where b.realm_id = ${realm} and b.id = ${id} and b.notification is not null
        and (b.expires_at > ${now} or b.family_id is not null)`
  )[0];

/** @param sealed null: the client was told */
export const keepNotification = (sql: Sql, realm: string, id: string, sealed: Buffer | null) => sql`
  update backchannel_authentication set notification = ${sealed} where realm_id = ${realm} and id = ${id}`;

/** The grant that the request's tokens began; undefined: none were issued. */
export const grantOf = async (
  sql: Sql,
  realm: string,
  hash: Buffer,
): Promise<{ family_id: string; user_id: string } | undefined> =>
  (
    await sql<{ family_id: string; user_id: string }>`
      select family_id, user_id from backchannel_authentication
      where realm_id = ${realm} and code_hash = ${hash} and family_id is not null`
  )[0];

/** Whether a grant's access tokens are refused: the user withdrew their consent, or the grant was revoked. */
export async function hasGrantEnded(sql: Sql, realm: string, familyId: string): Promise<boolean> {
  const ended = await sql`select from revoked_token where realm_id = ${realm} and jti = ${grantIdOf(familyId)}`;
  return ended.length > 0;
}
