// SQL of searching for users: a page in the order of the case-folded username, which is unique. Specification 4.10.
import { asciiEmail } from '../../../contract/email.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { type Reach, userReached } from '../../../domain/reach.ts';
import { userBegins, userMatches } from '../../../domain/user-search.ts';
import { lockedAt } from '../credentials/lockouts.ts';
import { columns, type UserWithLinks } from './store.ts';

/** The conditions of a search, all of which must hold. */
export interface UserSearch {
  /** A pattern for `like`. */
  text?: string | undefined;
  enabled?: boolean | undefined;
  /** Whether too many failures have locked the user. */
  locked?: boolean | undefined;
  email?: string | undefined;
  /** A realm role that the user holds directly. */
  role?: string | undefined;
  /** The path of a group. */
  group?: string | undefined;
  /** The name of an organization. */
  organization?: string | undefined;
  attributes?: Readonly<Record<string, string>> | undefined;
  /** The users that the caller can reach. */
  reach?: Reach | undefined;
}
export interface UserPage {
  after: string;
  limit: number;
}

const idOf = async (row: Promise<{ id: string }[]>): Promise<string | undefined> => (await row)[0]?.id;
const roleId = (sql: Sql, realm: string, name: string) =>
  idOf(sql<{ id: string }>`select id from role where realm_id = ${realm} and client is null and name = ${name}`);
const groupId = (sql: Sql, realm: string, path: string) =>
  idOf(sql<{ id: string }>`select id from user_group where realm_id = ${realm} and path = ${path}`);
/** The user is a direct member of the group. */
export const inGroup = (realm: string, id: string): Fragment =>
  fragment`u.id in (select user_id from group_member where realm_id = ${realm} and group_id = ${id})`;
const organizationId = (sql: Sql, realm: string, name: string) =>
  idOf(sql<{ id: string }>`select id from organization where realm_id = ${realm} and name = ${name}`);

/**
 * The best plan depends on how many users match, so each search must be planned with its values: run it where
 * `plan_cache_mode` is `force_custom_plan`. Ids of roles and groups are looked up first, so that the planner sees which
 * ones are meant.
 */
export async function search(
  sql: Sql,
  realm: string,
  { text, enabled, locked, email, role, group, organization, attributes, reach }: UserSearch,
  page: UserPage,
  now: Date,
): Promise<UserWithLinks[]> {
  const conditions: Fragment[] = reach ? [userReached(realm, reach)] : [];
  if (role !== undefined) {
    const id = await roleId(sql, realm, role);
    if (id === undefined) return [];
    conditions.push(fragment`u.id in (select user_id from user_role where realm_id = ${realm} and role_id = ${id})`);
  }
  if (group !== undefined) {
    const id = await groupId(sql, realm, group);
    if (id === undefined) return [];
    conditions.push(inGroup(realm, id));
  }
  if (organization !== undefined) {
    const id = await organizationId(sql, realm, organization);
    if (id === undefined) return [];
    conditions.push(
      fragment`u.id in (select user_id from organization_member where realm_id = ${realm} and organization_id = ${id})`,
    );
  }
  if (enabled !== undefined) conditions.push(fragment`u.enabled = ${enabled}`);
  if (locked !== undefined) conditions.push(locked ? lockedAt(realm, now) : fragment`not (${lockedAt(realm, now)})`);
  // At most one user has the address, but the planner doesn't know that: it would read all users in the order of the page.
  if (email !== undefined)
    conditions.push(fragment`u.id = (
      select e.id from realm_user e where e.realm_id = ${realm} and lower(e.email) = lower(${asciiEmail(email)}))`);
  if (attributes !== undefined) {
    const wanted = Object.entries(attributes).map(([name, value]) => [name, [value]]);
    conditions.push(fragment`u.attributes @> ${JSON.stringify(Object.fromEntries(wanted))}::jsonb`);
  }
  if (text === undefined) return list(sql, realm, page, conditions);
  const matching = [await userMatches(sql, realm, text), ...conditions];
  const end = await endOfNext(sql, realm, page.after);
  if (end === undefined) return list(sql, realm, page, matching);
  const next = await list(sql, realm, page, [fragment`lower(u.username) < ${end}`, ...matching]);
  if (next.length === page.limit) return next;
  const begins = userBegins(text);
  if (!begins) return listOfFew(sql, realm, page, matching);
  const beyond = [fragment`lower(u.username) >= ${end}`, begins, ...conditions];
  return [...next, ...(await listOfFew(sql, realm, { ...page, limit: page.limit - next.length }, beyond))];
}

/** Those of the users whom too many failures have locked. */
export const lockedAmong = async (
  sql: Sql,
  realm: string,
  ids: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> =>
  new Set(
    (
      await sql<{ id: string }>`
        select u.id from realm_user u
        where u.realm_id = ${realm} and u.id = any(${ids}::uuid[]) and ${lockedAt(realm, now)}`
    ).map(({ id }) => id),
  );

/**
 * A text is first searched among this many next users in order: common texts are found there. For some rare texts the
 * planner expects many matches, and would read all users in the order of the page.
 */
const NEXT = 400;
/** The first username after these users; undefined: no more users are left. */
const endOfNext = async (sql: Sql, realm: string, after: string): Promise<string | undefined> => {
  const [end] = await sql<{ name: string }>`
    select lower(username) as name from realm_user where realm_id = ${realm} and lower(username) > lower(${after})
    order by lower(username) offset ${NEXT} limit 1`;
  return end?.name;
};

/** The same page, but all matches are found before they are ordered. */
const listOfFew = (
  sql: Sql,
  realm: string,
  { after, limit }: UserPage,
  conditions: readonly Fragment[],
): Promise<UserWithLinks[]> => sql<UserWithLinks>`
  with found as materialized (
    select u.id, lower(u.username) as name from realm_user u
    where u.realm_id = ${realm} and lower(u.username) > lower(${after}) ${all(conditions)})
  select ${columns} from realm_user u
  where u.realm_id = ${realm} and u.id = any(array(select id from found order by name limit ${limit}))
  order by lower(u.username)`;

export const list = (
  sql: Sql,
  realm: string,
  { after, limit }: UserPage,
  conditions: readonly Fragment[] = [],
): Promise<UserWithLinks[]> => sql<UserWithLinks>`
  select ${columns} from realm_user u
  where u.realm_id = ${realm} and lower(u.username) > lower(${after}) ${all(conditions)}
  order by lower(u.username) limit ${limit}`;

const all = ([first, ...rest]: readonly Fragment[]): Fragment =>
  first ? fragment`and ${first} ${all(rest)}` : fragment``;
