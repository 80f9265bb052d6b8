// SQL of the user whose data is exported or erased, and of the user's consents.
import type { ConsentRecord } from '../../../contract/gdpr.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Agreement } from '../../../domain/agreement.ts';
import { LONGEST } from '../../../domain/end-access.ts';

export interface SubjectRow {
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
}

export async function subject(sql: Sql, realm: string, userId: string): Promise<SubjectRow | undefined> {
  const [row] = await sql<SubjectRow>`
    select id, username, email, email_verified as "emailVerified" from realm_user where realm_id = ${realm} and id = ${userId}`;
  return row;
}

export const consents = (sql: Sql, realm: string, userId: string): Promise<ConsentRecord[]> => sql<ConsentRecord>`
  select c.client_id as "clientId", c.name as "clientName", o.scopes, o.resources, o.claims,
    floor(extract(epoch from o.granted_at) * 1000)::bigint as "grantedAt",
    floor(extract(epoch from o.updated_at) * 1000)::bigint as "updatedAt"
  from consent o join client c on c.realm_id = o.realm_id and c.id = o.client
  where o.realm_id = ${realm} and o.user_id = ${userId}
  union all
  select s.entity_id, s.name, '{}', '{}', o.claims,
    floor(extract(epoch from o.granted_at) * 1000)::bigint, floor(extract(epoch from o.updated_at) * 1000)::bigint
  from saml_consent o join saml_client s on s.realm_id = o.realm_id and s.id = o.client
  where o.realm_id = ${realm} and o.user_id = ${userId} order by 1`;

interface Removed extends Agreement {
  client: string;
  /** The longest lifetime of the client's access tokens, in seconds. */
  seconds: number;
}

/** Deletes the consent. @returns what the user had agreed to; undefined: there was no consent */
export async function removeConsent(
  sql: Sql,
  realm: string,
  { userId, clientId }: { userId: string; clientId: string },
): Promise<Removed | undefined> {
  const [row] = await sql<Removed>`
    delete from consent o using client c
    where o.realm_id = ${realm} and o.user_id = ${userId} and c.realm_id = o.realm_id and c.id = o.client
      and c.client_id = ${clientId}
    returning o.client, o.scopes, o.resources, o.claims, greatest(c.access_token_ttl_seconds, ${LONGEST}::int) as seconds`;
  return row;
}

/** Deletes a SAML client's consent. SAML clients have no grants. */
export async function removeSamlConsent(
  sql: Sql,
  realm: string,
  { userId, entityId }: { userId: string; entityId: string },
): Promise<Agreement | undefined> {
  const [row] = await sql<Agreement>`
    delete from saml_consent o using saml_client c
    where o.realm_id = ${realm} and o.user_id = ${userId} and c.realm_id = o.realm_id and c.id = o.client
      and c.entity_id = ${entityId}
    returning '{}'::text[] as scopes, '{}'::text[] as resources, o.claims`;
  return row;
}

/** Deletes the consents of both protocols that were given or extended since `since`. */
export const removeConsentsSince = (sql: Sql, realm: string, userId: string, since: Date) =>
  sql<Agreement & { clientId: string }>`
    with gone as (
      delete from consent o using client c
      where o.realm_id = ${realm} and o.user_id = ${userId} and o.updated_at >= ${since}
        and c.realm_id = o.realm_id and c.id = o.client
      returning c.client_id, o.scopes, o.resources, o.claims
    ), of_saml as (
      delete from saml_consent o using saml_client c
      where o.realm_id = ${realm} and o.user_id = ${userId} and o.updated_at >= ${since}
        and c.realm_id = o.realm_id and c.id = o.client
      returning c.entity_id, o.claims
    ) select client_id as "clientId", scopes, resources, claims from gone
      union all select entity_id, '{}', '{}', claims from of_saml`;

export const remove = (sql: Sql, realm: string, userId: string) =>
  sql`delete from realm_user where realm_id = ${realm} and id = ${userId}`;
