// Reads the part of an evaluation's input that is no configuration, in one query: registered resources, and owners'
// shares.
import { fragment, type Sql } from '../../../db/sql.ts';
import { namesOfUser } from '../../../domain/user-names.ts';
import type { Protected, Runtime } from './evaluate.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Whether a key has the form of a registered resource's id; other keys are names of configured resources. */
export const isRegisteredId = (key: string): boolean => UUID.test(key);

/** The resources to read: these, or all that the user owns or has a share of. */
export type Which = { keys: readonly string[] } | 'theirs';

/**
 * The registered resources among these, and what their owners share with the user.
 * @param usernames those of the model
 */
export async function readRuntime(
  sql: Sql,
  realm: string,
  {
    client,
    userId,
    which,
    usernames,
  }: { client: string; userId: string | null; which: Which; usernames: readonly string[] },
): Promise<Runtime> {
  const ids = which === 'theirs' ? [] : which.keys.filter(isRegisteredId);
  const keys = which === 'theirs' ? [] : which.keys;
  const theirs = which === 'theirs';
  const owner = { id: fragment`o.id`, username: fragment`o.username` };
  const shares = fragment`
    select s.resource, o.username || ${namesOfUser(realm, owner, usernames)} as owners, s.scopes from uma_share s
      join realm_user o on o.realm_id = s.realm_id and o.id = s.user_id and o.enabled
    where s.realm_id = ${realm} and s.client = ${client} and s.requester_id = ${userId}::uuid and s.scopes <> '{}'
      and (${theirs}::boolean or s.resource = any(${keys}::text[]))`;
  const [row] = await sql<{
    registered: (Protected & { key: string })[];
    shared: { resource: string; owners: string[]; scopes: string[] }[];
  }>`
    with shared as materialized (${shares}), registered as (
      select r.id as key, coalesce(r.name, r.id::text) as name, r.type, r.scopes, o.username as owner,
        o.id is not null as "ownerManaged"
      from uma_resource r left join realm_user o on o.realm_id = r.realm_id and o.id = r.user_id
      where r.realm_id = ${realm} and r.client = ${client} and (r.id = any(${ids}::uuid[]) or (${theirs}::boolean
        and (r.user_id = ${userId}::uuid or r.id::text in (select resource from shared))))
    )
    select (select coalesce(jsonb_agg(registered), '[]') from registered) as registered,
      (select coalesce(jsonb_agg(shared), '[]') from shared) as shared`;
  return {
    registered: new Map(row?.registered.map(({ key, ...resource }) => [key, resource])),
    shared: new Map(
      row?.shared.map(({ resource, owners, scopes }) => [resource, { owners, scopes: new Set(scopes) }] as const),
    ),
  };
}

/** A client's registered resources of a type, in the order of their ids. */
export async function registeredOfType(
  sql: Sql,
  realm: string,
  { client, type, after, limit }: { client: string; type: string; after: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }>`
    select id from uma_resource
    where realm_id = ${realm} and client = ${client} and type = ${type} and id > ${after}::uuid order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** The shares of one resource that owners gave to each of these users. */
export async function sharesOf(
  sql: Sql,
  realm: string,
  {
    client,
    resource,
    users,
    usernames,
  }: { client: string; resource: string; users: readonly string[]; usernames: readonly string[] },
): Promise<ReadonlyMap<string, Runtime['shared']>> {
  const owner = { id: fragment`o.id`, username: fragment`o.username` };
  const rows = await sql<{ user_id: string; owners: string[]; scopes: string[] }>`
    select s.requester_id as user_id, o.username || ${namesOfUser(realm, owner, usernames)} as owners, s.scopes
    from uma_share s join realm_user o on o.realm_id = s.realm_id and o.id = s.user_id and o.enabled
    where s.realm_id = ${realm} and s.client = ${client} and s.resource = ${resource} and s.scopes <> '{}'
      and s.requester_id = any(${users}::uuid[])`;
  return new Map(
    rows.map(({ user_id, owners, scopes }) => [user_id, new Map([[resource, { owners, scopes: new Set(scopes) }]])]),
  );
}
