// SQL of users, with the names of the roles and groups that they hold directly.
import type { RequiredAction } from '../../../contract/required-actions.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { actionsInForce } from '../../../domain/required-actions.ts';
import { lowerForms } from '../../../domain/user-names.ts';

export interface UserRow {
  id: string;
  username: string;
  email: string | null;
  email_verified: boolean;
  first_name: string | null;
  last_name: string | null;
  enabled: boolean;
  attributes: Record<string, string[]>;
  required_actions: RequiredAction[];
  created_at: Date;
}
export interface UserWithLinks extends UserRow {
  roles: string[];
  groups: string[];
}

export const columns = fragment`
  u.id, u.username, u.email, u.email_verified, u.first_name, u.last_name, u.enabled, u.attributes,
  ${actionsInForce} as required_actions, u.created_at, array(
    select r.name from user_role ur join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
    where ur.realm_id = u.realm_id and ur.user_id = u.id and r.client is null order by r.name collate "C"
  ) as roles, array(
    select g.path from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
    where m.realm_id = u.realm_id and m.user_id = u.id order by g.path collate "C"
  ) as groups`;

export async function find(sql: Sql, realm: string, id: string): Promise<UserWithLinks | undefined> {
  const [row] = await sql<UserWithLinks>`
    select ${columns} from realm_user u where u.realm_id = ${realm} and u.id = ${id}`;
  return row;
}

/** Makes other writers of this user wait. */
export async function lock(sql: Sql, realm: string, id: string): Promise<void> {
  await sql`select id from realm_user where realm_id = ${realm} and id = ${id} for update`;
}

/**
 * The attribute by which applications know the user, if its value is another user's or a client's name; undefined: it is
 * free.
 */
export async function subjectTaken(
  sql: Sql,
  realm: string,
  { id, attributes }: Pick<UserRow, 'id' | 'attributes'>,
): Promise<string | undefined> {
  const [row] = await sql<{ attribute: string }>`
    select s.attribute from (
      select settings ->> 'subjectAttribute' as attribute from realm
      where realm_id = ${realm} and settings ->> 'subjectStrategy' = 'attribute') s
    cross join lateral (select subject_in(${JSON.stringify(attributes)}::jsonb, s.attribute) as subject) o
    where exists (select from realm_user where realm_id = ${realm} and subject = o.subject and id <> ${id})
      or exists (select from client where realm_id = ${realm} and client_id = o.subject)`;
  return row?.attribute;
}

/**
 * Which of a user's two names another user has. Users can sign in by username and by address, so neither may equal another
 * user's username or address.
 */
export async function takenName(
  sql: Sql,
  realm: string,
  { id, username, email }: Pick<UserRow, 'id' | 'username' | 'email'>,
): Promise<'username' | 'email' | undefined> {
  const [row] = await sql<{ username: boolean }>`
    select true as username from realm_user where realm_id = ${realm} and id <> ${id} and lower(username) = lower(${username})
    union all select true from realm_user where realm_id = ${realm} and id <> ${id} and lower(email) = lower(normalize(${username}, NFKC))
    union all select true from realm_user
      where realm_id = ${realm} and id <> ${id} and lower(username) = lower(normalize(${username}, NFKC))
    union all select true from realm_user
      where realm_id = ${realm} and id <> ${id} and lower(normalize(username, NFKC)) <> lower(username)
        and lower(normalize(username, NFKC)) = lower(normalize(${username}, NFKC))
    union all select true from realm_user
      where realm_id = ${realm} and id <> ${id} and lower(username) = any(${lowerForms(username)}::text[]) and not exists (
        select from realm_user own where own.realm_id = ${realm} and own.id = ${id} and lower(own.username) = lower(${username}))
    union all select false from realm_user
      where realm_id = ${realm} and id <> ${id} and (lower(email) = lower(${email}) or lower(username) = lower(${email})
        or (lower(normalize(username, NFKC)) <> lower(username) and lower(normalize(username, NFKC)) = lower(${email})))
    limit 1`;
  return row && (row.username ? 'username' : 'email');
}

/** @returns false: the username or the e-mail address is taken */
export async function insert(sql: Sql, realm: string, u: UserRow): Promise<boolean> {
  const [row] = await sql`
    insert into realm_user (realm_id, id, username, email, email_verified, first_name, last_name, enabled, attributes,
      required_actions, created_at)
    values (${realm}, ${u.id}, ${u.username}, ${u.email}, ${u.email_verified}, ${u.first_name}, ${u.last_name},
      ${u.enabled}, ${JSON.stringify(u.attributes)}, ${u.required_actions}, ${u.created_at})
    on conflict do nothing returning id`;
  return row !== undefined;
}

/**
 * Enables a user without required actions, so that the next sign-in asks only for credentials. @returns the changed fields
 */
export async function enable(sql: Sql, realm: string, id: string): Promise<('enabled' | 'requiredActions')[]> {
  const [was] = await sql<{ enabled: boolean; actions: boolean }>`
    select enabled, required_actions <> '{}' as actions from realm_user where realm_id = ${realm} and id = ${id} for update`;
  if (!was || (was.enabled && !was.actions)) return [];
  await sql`update realm_user set enabled = true, required_actions = '{}' where realm_id = ${realm} and id = ${id}`;
  return [...(was.enabled ? [] : (['enabled'] as const)), ...(was.actions ? (['requiredActions'] as const) : [])];
}

/** Inserts a user with a username and no other data. */
export const insertNamed = (
  sql: Sql,
  realm: string,
  { id, username, at }: { id: string; username: string; at: Date },
) =>
  insert(sql, realm, {
    id,
    username,
    email: null,
    email_verified: false,
    first_name: null,
    last_name: null,
    enabled: true,
    attributes: {},
    required_actions: [],
    created_at: at,
  });

export async function update(sql: Sql, realm: string, u: UserRow): Promise<void> {
  await sql`
    update realm_user set username = ${u.username}, email = ${u.email}, email_verified = ${u.email_verified},
      first_name = ${u.first_name}, last_name = ${u.last_name}, enabled = ${u.enabled},
      attributes = ${JSON.stringify(u.attributes)}, required_actions = ${u.required_actions}
    where realm_id = ${realm} and id = ${u.id}`;
}

export async function remove(sql: Sql, realm: string, id: string): Promise<void> {
  await sql`delete from realm_user where realm_id = ${realm} and id = ${id}`;
}

/** Sets the user's realm roles. @returns the names that exist */
export async function setRoles(sql: Sql, realm: string, id: string, roles: readonly string[]): Promise<Set<string>> {
  await sql`
    delete from user_role ur using role r
    where ur.realm_id = ${realm} and ur.user_id = ${id} and r.realm_id = ur.realm_id and r.id = ur.role_id
      and r.client is null and r.name <> all(${roles}::text[])`;
  const rows = await sql<{ name: string }>`
    with named as (
      select id, name from role where realm_id = ${realm} and client is null and name = any(${roles}::text[])
    ), added as (
      insert into user_role (realm_id, user_id, role_id) select ${realm}, ${id}, id from named on conflict do nothing
    ) select name from named`;
  return new Set(rows.map((row) => row.name));
}

/** Sets the user's groups. @returns the paths that exist */
export async function setGroups(sql: Sql, realm: string, id: string, paths: readonly string[]): Promise<Set<string>> {
  await sql`
    delete from group_member m using user_group g
    where m.realm_id = ${realm} and m.user_id = ${id} and g.realm_id = m.realm_id and g.id = m.group_id
      and g.path <> all(${paths}::text[])`;
  const rows = await sql<{ path: string }>`
    with named as (
      select id, path from user_group where realm_id = ${realm} and path = any(${paths}::text[])
    ), added as (
      insert into group_member (realm_id, group_id, user_id) select ${realm}, id, ${id} from named on conflict do nothing
    ) select path from named`;
  return new Set(rows.map((row) => row.path));
}

/** The fields that users can change themselves. */
export const updateOwn = (
  sql: Sql,
  realm: string,
  id: string,
  own: {
    firstName: string | null;
    lastName: string | null;
    attributes: Readonly<Record<string, readonly string[]>>;
  },
) => sql`
  update realm_user set first_name = ${own.firstName}, last_name = ${own.lastName}, attributes = ${JSON.stringify(own.attributes)}
  where realm_id = ${realm} and id = ${id}`;

/** @returns whether the action was required */
export const dropAction = async (sql: Sql, realm: string, id: string, action: RequiredAction): Promise<boolean> =>
  (
    await sql`
      update realm_user set required_actions = array_remove(required_actions, ${action})
      where realm_id = ${realm} and id = ${id} and ${action} = any(required_actions) returning id`
  ).length > 0;

/** The user with this address, as username or as address. */
export async function owner(
  sql: Sql,
  realm: string,
  email: string,
  except: string | null,
): Promise<{ id: string; username: string; email: string | null } | undefined> {
  const [row] = await sql<{ id: string; username: string; email: string | null }>`
    select id, username, email from realm_user
    where realm_id = ${realm} and lower(email) = lower(${email}) and id is distinct from ${except}::uuid
    union all
    select id, username, email from realm_user
    where realm_id = ${realm} and lower(username) = lower(${email}) and id is distinct from ${except}::uuid
    limit 1`;
  return row;
}

export const setEmail = (
  sql: Sql,
  realm: string,
  id: string,
  { email, username }: { email: string; username: string },
) => sql`
  update realm_user set email = ${email}, email_verified = true, username = ${username},
    required_actions = array_remove(required_actions, 'VERIFY_EMAIL')
  where realm_id = ${realm} and id = ${id}`;

export const setTerms = (sql: Sql, realm: string, id: string, version: string | null) => sql`
  update realm_user set terms_version = ${version} where realm_id = ${realm} and id = ${id}`;
