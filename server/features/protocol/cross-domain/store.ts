// SQL of grants across domains: the policy or trust of a client, and the users whom grants name.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { GrantData } from '../../../domain/grant-data.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import { type PersonRow, personColumns } from '../../../domain/person.ts';
import { actionsInForce } from '../../../domain/required-actions.ts';
import { type Cutoffs, sessionLives } from '../../../domain/session.ts';
import type { GrantKind } from './kinds.ts';

export interface PolicyRow {
  name: string;
  token_types: ('id-jag' | 'jwt')[];
  target_client_id: string;
  scopes: string[];
  resources: string[];
  authorization_details_types: string[];
  token_scopes: string[];
  groups: string[];
  roles: string[];
  least_level: number | null;
  max_age: number | null;
  relying_party: string | null;
  email: boolean;
  ttl_seconds: number;
}

/** The enabled policy of the client for the audience. */
export async function policyFor(
  sql: Sql,
  realm: string,
  { clientId, audience }: { clientId: string; audience: string },
): Promise<PolicyRow | undefined> {
  const [row] = await sql<PolicyRow>`
    select name, token_types, target_client_id, scopes, resources, authorization_details_types, token_scopes, groups, roles,
      least_level, max_age, relying_party, email, ttl_seconds
    from cross_domain_policy
    where realm_id = ${realm} and client_id = ${clientId} and audience = ${audience} and enabled`;
  return row;
}

export interface TrustRow {
  name: string;
  issuer: string;
  jwks_uri: string | null;
  token_types: GrantKind[];
  scopes: string[];
  resources: string[];
  authorization_details_types: string[];
  identity_provider: string | null;
  email_domains: string[];
  trust_email: boolean;
  trust_authentication: boolean;
}

/** The enabled trust of the client in the issuer. */
export async function trustFor(
  sql: Sql,
  realm: string,
  { clientId, issuer }: { clientId: string; issuer: string },
): Promise<TrustRow | undefined> {
  const [row] = await sql<TrustRow>`
    select name, issuer, jwks_uri, token_types, scopes, resources, authorization_details_types, identity_provider, email_domains,
      trust_email, trust_authentication
    from cross_domain_trust
    where realm_id = ${realm} and client_id = ${clientId} and issuer = ${issuer} and enabled`;
  return row;
}

/** Whether a client of the realm takes untyped grants of the issuer. */
export const takesUntyped = async (sql: Sql, realm: string, issuer: string): Promise<boolean> =>
  (
    await sql`
      select from cross_domain_trust
      where realm_id = ${realm} and issuer = ${issuer} and enabled and 'untyped' = any(token_types) limit 1`
  ).length > 0;

export interface UserRow extends PersonRow {
  /** The actions that the user must do before they are signed in. */
  actions: string[];
}
const userColumns = fragment`${personColumns}, ${actionsInForce} as actions`;

const oneUser = async (sql: Sql, query: Fragment): Promise<UserRow | undefined> => {
  const rows = await sql<UserRow>`${query}`;
  return rows.length === 1 ? rows[0] : undefined;
};

export const userById = (sql: Sql, realm: string, id: string): Promise<UserRow | undefined> =>
  oneUser(sql, fragment`select ${userColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${id}`);

/** The user whose link to the identity provider has this issuer and subject. */
export const userByLink = (
  sql: Sql,
  realm: string,
  { alias, issuer, subject }: { alias: string; issuer: string; subject: string },
): Promise<UserRow | undefined> =>
  oneUser(
    sql,
    fragment`
      select ${userColumns} from identity_link l
        join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id and p.alias = ${alias} and p.enabled
        join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
      where l.realm_id = ${realm} and l.subject_digest = ${identityDigest({ issuer, subject })}`,
  );

/** The only user with this confirmed address. */
export const userByEmail = (sql: Sql, realm: string, email: string): Promise<UserRow | undefined> =>
  oneUser(
    sql,
    fragment`
      select ${userColumns} from realm_user u
      where u.realm_id = ${realm} and lower(u.email) = lower(${email}::text) and u.email_verified limit 2`,
  );

export interface LiveGrant {
  user_id: string;
  grant_data: GrantData;
}

/** The live grant of the client's refresh token. */
export async function liveGrant(
  sql: Sql,
  realm: string,
  { familyId, hash, client, cutoffs }: { familyId: string; hash: Buffer; client: string; cutoffs: Cutoffs },
): Promise<LiveGrant | undefined> {
  const [row] = await sql<LiveGrant>`
    select f.user_id, f.grant_data from refresh_family f
      left join session s on s.realm_id = f.realm_id and s.id = f.session_id
    where f.realm_id = ${realm} and f.id = ${familyId} and f.client = ${client} and f.token_hash = ${hash}
      and f.revoked_at is null and f.expires_at > ${cutoffs.now}
      and (f.session_id is null or (${sessionLives(cutoffs)}))`;
  return row;
}

/** Whether a grant of the client that began with this sign-in of the user, and outlives sessions, is in force. */
export const hasLiveGrant = async (
  sql: Sql,
  realm: string,
  { userId, client, authTime, now }: { userId: string; client: string; authTime: number; now: Date },
): Promise<boolean> =>
  (
    await sql`
      select from refresh_family
      where realm_id = ${realm} and user_id = ${userId} and client = ${client} and session_id is null and revoked_at is null
        and expires_at > ${now} and grant_data @> ${JSON.stringify({ openid: true, authTime })}::jsonb limit 1`
  ).length > 0;

/** Whether the user agrees to the client. */
export const hasAgreed = async (
  sql: Sql,
  realm: string,
  { userId, client }: { userId: string; client: string },
): Promise<boolean> =>
  (await sql`select from consent where realm_id = ${realm} and user_id = ${userId} and client = ${client}`).length > 0;
