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
  poll_url: string | null;
  secret: Buffer | null;
}
const columns = fragment`
  id, name, issuer, jwks_uri, audience, identity_provider, match_email, reactions, poll_url, secret`;

/** An enabled transmitter that pushes. */
export async function pushingTransmitter(sql: Sql, realm: string, name: string): Promise<TransmitterRow | undefined> {
  const [row] = await sql<TransmitterRow>`
    select ${columns} from signal_transmitter
    where realm_id = ${realm} and name = ${name} and enabled and delivery = 'push'`;
  return row;
}
/** An enabled transmitter whose tokens are fetched. */
export async function polledTransmitter(sql: Sql, realm: string, id: string): Promise<TransmitterRow | undefined> {
  const [row] = await sql<TransmitterRow>`
    select ${columns} from signal_transmitter
    where realm_id = ${realm} and id = ${id} and enabled and delivery = 'poll' and poll_url is not null`;
  return row;
}
export const polledTransmitters = (sql: Sql) => sql<{ realm: string; id: string }>`
  select realm_id as realm, id from signal_transmitter where enabled and delivery = 'poll' and poll_url is not null`;

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
  const named = subject.format === 'opaque' ? { issuer, subject: subject.id } : { issuer: subject.iss, subject: subject.sub };
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
