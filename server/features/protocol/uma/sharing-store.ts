// SQL of the shares of users' resources, and of requests for them.
import { jsonText } from '../../../db/json.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { idOfUserNamed } from '../../../domain/user-names.ts';

const MOST = 500;

/** A resource that its owner decides about. */
export interface OwnedResource {
  /** The resource server's clientId. */
  client: string;
  clientId: string;
  clientName: string;
  resource: string;
  name: string;
  type: string | null;
  scopes: string[];
}
/** The user's resources: registered for them, or configured with them as the managing owner. */
export const ownedBy = (sql: Sql, realm: string, { userId, username }: { userId: string; username: string }) =>
  sql<OwnedResource>`
    select * from (
      select c.id as client, c.client_id as "clientId", coalesce(c.name, c.client_id) as "clientName",
        r.id::text as resource, coalesce(r.name, r.id::text) as name, r.type, r.scopes
      from uma_resource r join client c on c.realm_id = r.realm_id and c.id = r.client
      where r.realm_id = ${realm} and r.user_id = ${userId}
      union all
      select c.id, c.client_id, coalesce(c.name, c.client_id), e.name, coalesce(e."displayName", e.name), e.type, e.scopes
      from authorization_service s join client c on c.realm_id = s.realm_id and c.client_id = s.client_id
        cross join jsonb_to_recordset(s.resources) as e (name text, "displayName" text, type text, scopes text[],
          owner text, "ownerManaged" boolean)
      where s.realm_id = ${realm} and e."ownerManaged"
        and lower(normalize(e.owner, NFKC)) = lower(normalize(${username}::text, NFKC))
        and ${userId}::uuid = (${idOfUserNamed(realm, fragment`e.owner`)})
    ) owned order by "clientName", name, resource limit ${MOST}`;

export interface ShareRow {
  id: string;
  client: string;
  resource: string;
  /** The other user, by the name that the owner uses. */
  named: string;
  scopes: string[];
  requested: string[];
  denied: string[];
  created_at: Date;
  updated_at: Date;
}
export const sharesBy = (sql: Sql, realm: string, userId: string) => sql<ShareRow>`
  select id, client, resource, named, scopes, requested, denied, created_at, updated_at from uma_share
  where realm_id = ${realm} and user_id = ${userId} order by named, id limit ${10 * MOST}`;

export async function lockShare(sql: Sql, realm: string, id: string, owner: string): Promise<ShareRow | undefined> {
  const [row] = await sql<ShareRow>`
    select id, client, resource, named, scopes, requested, denied, created_at, updated_at from uma_share
    where realm_id = ${realm} and id = ${id} and user_id = ${owner} for update`;
  return row;
}

export interface SharedWith extends Omit<ShareRow, 'named' | 'client'> {
  clientId: string;
  clientName: string;
  name: string;
  owner: string;
}
/** The resources that others share with the user, and the user's open requests. */
export const sharesWith = (sql: Sql, realm: string, userId: string) => sql<SharedWith>`
  select s.id, c.client_id as "clientId", coalesce(c.name, c.client_id) as "clientName", s.resource,
    coalesce(r.name, s.resource) as name, o.username as owner, s.scopes, s.requested, s.denied, s.created_at, s.updated_at
  from uma_share s join client c on c.realm_id = s.realm_id and c.id = s.client
    join realm_user o on o.realm_id = s.realm_id and o.id = s.user_id
    left join uma_resource r on r.realm_id = s.realm_id and r.client = s.client and r.id::text = s.resource
  where s.realm_id = ${realm} and s.requester_id = ${userId} order by "clientName", name, s.id limit ${MOST}`;

export const countShares = async (
  sql: Sql,
  realm: string,
  { client, resource }: { client: string; resource: string },
): Promise<number> =>
  (
    await sql<{ count: number }>`
      select count(*)::int as count from uma_share where realm_id = ${realm} and client = ${client} and resource = ${resource}`
  )[0]?.count ?? 0;

export interface NewShare {
  id: string;
  client: string;
  resource: string;
  owner: string;
  /** The user of that name; null: there is none. */
  target: string | null;
  named: string;
  scopes: readonly string[];
  at: Date;
}
export async function userNamed(sql: Sql, realm: string, username: string): Promise<string | null> {
  const [row] = await sql<{ id: string }>`${idOfUserNamed(realm, username)}`;
  return row?.id ?? null;
}

/**
 * Shares with the user of that name. For an unknown name a share without a user is stored, so that the owner can't tell
 * the difference.
 */
export async function upsertShare(sql: Sql, realm: string, share: NewShare): Promise<ShareRow | undefined> {
  const { id, client, resource, owner, target, named, scopes, at } = share;
  const [row] =
    target === null
      ? await sql<ShareRow>`
          insert into uma_share as s (realm_id, id, client, resource, user_id, named, scopes, requested, denied, created_at, updated_at)
          values (${realm}, ${id}, ${client}, ${resource}, ${owner}, ${named}, ${scopes}, '{}', '{}', ${at}, ${at})
          on conflict (realm_id, client, resource, user_id, lower(named)) where requester_id is null
            do update set scopes = excluded.scopes, updated_at = excluded.updated_at
          returning id, client, resource, named, scopes, requested, denied, created_at, updated_at`
      : await sql<ShareRow>`
          insert into uma_share as s (realm_id, id, client, resource, user_id, requester_id, named, scopes, requested, denied,
            created_at, updated_at)
          values (${realm}, ${id}, ${client}, ${resource}, ${owner}, ${target}, ${named}, ${scopes}, '{}', '{}', ${at}, ${at})
          on conflict (realm_id, requester_id, client, resource, user_id) do update set scopes = excluded.scopes,
            requested = array(select unnest(s.requested) except select unnest(excluded.scopes) order by 1),
            denied = array(select unnest(s.denied) except select unnest(excluded.scopes) order by 1),
            updated_at = excluded.updated_at
          returning id, client, resource, named, scopes, requested, denied, created_at, updated_at`;
  return row;
}

export async function updateShare(
  sql: Sql,
  realm: string,
  id: string,
  { scopes, denied, at }: { scopes: readonly string[]; denied: readonly string[]; at: Date },
): Promise<ShareRow | undefined> {
  const [row] = await sql<ShareRow>`
    update uma_share set scopes = ${scopes}, requested = '{}', denied = ${denied}, updated_at = ${at}
    where realm_id = ${realm} and id = ${id}
    returning id, client, resource, named, scopes, requested, denied, created_at, updated_at`;
  return row;
}

export interface EndedShare {
  resource: string;
  clientId: string;
  named: string;
  scopes: string[];
  mine: boolean;
}
/** Deletes a share for its owner or its recipient. */
export async function deleteShare(sql: Sql, realm: string, id: string, by: string): Promise<EndedShare | undefined> {
  const [row] = await sql<EndedShare>`
    delete from uma_share s using client c
    where s.realm_id = ${realm} and s.id = ${id} and (s.user_id = ${by} or s.requester_id = ${by})
      and c.realm_id = s.realm_id and c.id = s.client
    returning s.resource, c.client_id as "clientId", s.named, s.scopes, s.user_id = ${by} as mine`;
  return row;
}

export interface RequestedShare {
  id: string;
  resource: string;
  /** The owner's username. */
  owner: string;
  /** The scopes that wait for the owner's answer. */
  requested: string[];
  /** Whether the owner was notified of all requested scopes already. */
  known: boolean;
  userId: string;
  /** null: the user has no confirmed address. */
  email: string | null;
}
export interface WantedShare {
  id: string;
  resource: string;
  owner: string;
  scopes: readonly string[];
}
/** Requests shares from owners; scopes that they denied are not requested again. */
export const requestShares = (
  sql: Sql,
  realm: string,
  wanted: readonly WantedShare[],
  { client, requester, named, at }: { client: string; requester: string; named: string; at: Date },
) => sql<RequestedShare>`
  with asked as (insert into uma_share as s (realm_id, id, client, resource, user_id, requester_id, named, scopes, requested, denied, created_at,
    updated_at)
  select ${realm}, w.id, ${client}, w.resource, o.id, ${requester}, ${named}, '{}', w.scopes, '{}', ${at}::timestamptz, ${at}::timestamptz
  from jsonb_to_recordset(${jsonText(wanted)}::jsonb) as w (id uuid, resource text, owner text, scopes text[])
    cross join lateral (${idOfUserNamed(realm, fragment`w.owner`)}) named
    join realm_user o on o.realm_id = ${realm} and o.id = named.id and o.enabled and o.id <> ${requester}
  on conflict (realm_id, requester_id, client, resource, user_id) do update set
    requested = array(select unnest(s.requested || excluded.requested) except select unnest(s.denied || s.scopes) order by 1),
    updated_at = excluded.updated_at
  returning s.id, s.resource, s.user_id, s.requested)
  select a.id, a.resource, a.requested, a.requested <@ coalesce(before.requested, '{}') as known,
    u.id as "userId", u.username as owner, case when u.email_verified then u.email end as email
  from asked a join realm_user u on u.realm_id = ${realm} and u.id = a.user_id
    left join uma_share before on before.realm_id = ${realm} and before.id = a.id`;
