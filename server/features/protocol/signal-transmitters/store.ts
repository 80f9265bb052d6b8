// SQL of trusted transmitters' events: whose they are, and which have been received.
import type { Reaction } from '../../../contract/signal-transmitters.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import type { SimpleSubject } from './token.ts';

export interface TransmitterRow {
  id: string;
  name: string;
  issuer: string;
  jwks_uri: string | null;
  audience: string | null;
  identity_provider: string | null;
  match_email: boolean;
  reactions: Partial<Record<string, Reaction>>;
  delivery: 'push' | 'poll';
  poll_url: string | null;
  secret: Buffer | null;
  access_token: Buffer | null;
}
/** A transmitter as `t`, with the realm's stream there as `c`. */
const columns = fragment`
  t.id, t.name, t.issuer, t.jwks_uri, coalesce(t.audience, c.audience) as audience, t.identity_provider, t.match_email, t.reactions,
  t.delivery, coalesce(t.poll_url, c.poll_url) as poll_url, t.secret, t.access_token`;
const connected = fragment`
  signal_transmitter t left join signal_connection c on c.realm_id = t.realm_id and c.transmitter = t.id`;

/** An enabled transmitter that pushes. */
export async function pushingTransmitter(sql: Sql, realm: string, name: string): Promise<TransmitterRow | undefined> {
  const [row] = await sql<TransmitterRow>`
    select ${columns} from ${connected}
    where t.realm_id = ${realm} and t.name = ${name} and t.enabled and t.delivery = 'push'`;
  return row;
}
/** An enabled transmitter whose tokens are fetched. */
export async function polledTransmitter(sql: Sql, realm: string, id: string): Promise<TransmitterRow | undefined> {
  const [row] = await sql<TransmitterRow>`
    select ${columns} from ${connected}
    where t.realm_id = ${realm} and t.id = ${id} and t.enabled and t.delivery = 'poll'`;
  return row;
}
export const polledTransmitters = (sql: Sql) => sql<{ realm: string; id: string }>`
  select t.realm_id as realm, t.id from ${connected}
  where t.enabled and t.delivery = 'poll' and coalesce(t.poll_url, c.poll_url) is not null`;
export async function transmitterById(sql: Sql, realm: string, id: string): Promise<TransmitterRow | undefined> {
  const [row] = await sql<TransmitterRow>`
    select ${columns} from ${connected} where t.realm_id = ${realm} and t.id = ${id}`;
  return row;
}

export interface ConnectionRow {
  stream_id: string;
  audience: string | null;
  poll_url: string | null;
  connected_at: Date;
}
export async function connectionOf(sql: Sql, realm: string, transmitter: string): Promise<ConnectionRow | undefined> {
  const [row] = await sql<ConnectionRow>`
    select stream_id, audience, poll_url, connected_at from signal_connection
    where realm_id = ${realm} and transmitter = ${transmitter}`;
  return row;
}
export const saveConnection = (sql: Sql, realm: string, transmitter: string, c: ConnectionRow) => sql`
  insert into signal_connection (realm_id, transmitter, stream_id, audience, poll_url, connected_at)
  values (${realm}, ${transmitter}, ${c.stream_id}, ${c.audience}, ${c.poll_url}, ${c.connected_at})
  on conflict (realm_id, transmitter) do update set stream_id = excluded.stream_id, audience = excluded.audience,
    poll_url = excluded.poll_url, connected_at = excluded.connected_at`;
export const deleteConnection = (sql: Sql, realm: string, transmitter: string) => sql`
  delete from signal_connection where realm_id = ${realm} and transmitter = ${transmitter}`;

/** @returns false if the token was received before */
export const isFirst = async (
  sql: Sql,
  realm: string,
  { transmitter, jti, until }: { transmitter: string; jti: Buffer; until: Date },
): Promise<boolean> =>
  (
    await sql`
      insert into signal_received (realm_id, transmitter, jti_hash, expires_at) values (${realm}, ${transmitter}, ${jti}, ${until})
      on conflict do nothing returning jti_hash`
  ).length > 0;

export interface KnownUser {
  id: string;
  username: string;
}

/**
 * The user whom the transmitter's subject names: by a link to its identity provider, or by a confirmed address that only one user has.
 */
export async function userOf(
  sql: Sql,
  realm: string,
  { issuer, identity_provider: alias, match_email: byEmail }: TransmitterRow,
  subject: SimpleSubject,
): Promise<KnownUser | undefined> {
  if (subject.format === 'email') {
    if (!byEmail) return undefined;
    const rows = await sql<KnownUser>`
      select id, username from realm_user
      where realm_id = ${realm} and lower(email) = lower(${subject.email}::text) and email_verified limit 2`;
    return rows.length === 1 ? rows[0] : undefined;
  }
  if (alias === null) return undefined;
  const named =
    subject.format === 'opaque' ? { issuer, subject: subject.id } : { issuer: subject.iss, subject: subject.sub };
  const [row] = await sql<KnownUser>`
    select u.id, u.username from identity_link l
      join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id and p.alias = ${alias}
      join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
    where l.realm_id = ${realm} and l.subject_digest = ${identityDigest(named)}`;
  return row;
}

export const raiseRisk = (sql: Sql, realm: string, userId: string, until: Date) => sql`
  insert into signal_risk (realm_id, user_id, expires_at) values (${realm}, ${userId}, ${until})
  on conflict (realm_id, user_id) do update set expires_at = greatest(signal_risk.expires_at, excluded.expires_at)`;
