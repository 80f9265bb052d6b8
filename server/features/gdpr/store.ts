// SQL of a data subject and of what they agreed to.
import type { ConsentRecord } from '../../contract/gdpr.ts';
import type { Sql } from '../../db/sql.ts';

export interface SubjectRow {
  id: string;
  username: string;
  email: string | null;
}

export async function subject(sql: Sql, realm: string, userId: string): Promise<SubjectRow | undefined> {
  const [row] = await sql<SubjectRow>`
    select id, username, email from realm_user where realm_id = ${realm} and id = ${userId}`;
  return row;
}

export const consents = (sql: Sql, realm: string, userId: string): Promise<ConsentRecord[]> => sql<ConsentRecord>`
  select c.client_id as "clientId", c.name as "clientName", o.scopes, '{}'::text[] as resources,
    floor(extract(epoch from o.granted_at) * 1000)::bigint as "grantedAt",
    floor(extract(epoch from o.updated_at) * 1000)::bigint as "updatedAt"
  from consent o join client c on c.realm_id = o.realm_id and c.id = o.client
  where o.realm_id = ${realm} and o.user_id = ${userId} order by c.client_id`;

/** What was agreed to, and the grants that ended with it; undefined: there was nothing. */
export async function removeConsent(
  sql: Sql,
  realm: string,
  { userId, clientId, now }: { userId: string; clientId: string; now: Date },
): Promise<{ scopes: string[]; families: string[] } | undefined> {
  const [row] = await sql<{ scopes: string[]; families: string[] }>`
    with gone as (
      delete from consent o using client c
      where o.realm_id = ${realm} and o.user_id = ${userId} and c.realm_id = o.realm_id and c.id = o.client
        and c.client_id = ${clientId} returning o.client, o.scopes
    ), ended as (
      update refresh_family f set revoked_at = ${now} from gone
      where f.realm_id = ${realm} and f.user_id = ${userId} and f.client = gone.client and f.revoked_at is null
      returning f.id
    ) select scopes, array(select id::text from ended) as families from gone`;
  return row;
}

/** Access tokens of these grants are refused from now on. */
export const refuseTokens = (sql: Sql, realm: string, gids: readonly string[], until: Date) => sql`
  insert into revoked_token (realm_id, jti, expires_at)
  select ${realm}, unnest(${gids}::uuid[]), ${until} on conflict do nothing`;

export const remove = (sql: Sql, realm: string, userId: string) =>
  sql`delete from realm_user where realm_id = ${realm} and id = ${userId}`;
