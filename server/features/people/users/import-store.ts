// SQL of a bulk import of users: plans in the staging rows, then merges them with one statement per table. A user that the
// realm doesn't have yet is staged as `create`, so an import into an empty realm compares nothing.

import type { UserProfile } from '../../../contract/user-profile.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { staging } from '../../../db/staging.ts';
import { giveDefaults } from '../../../domain/new-users.ts';
import { type ProfileData, seenByAdministrators } from '../../../domain/user-profile.ts';
import { clientRolePrefix } from '../../../resource/items.ts';
import type { Declares } from './document-user.ts';
import { byEmail, byId, byUsername, onlyImportedUsers } from './import-lookups.ts';
import {
  clientRoleName,
  groupPath,
  mergeTies,
  type NewProofs,
  newCredentials,
  newIdentities,
  roleName,
  type Tying,
} from './import-ties.ts';

/** Resets the rows to their staged state, before the first try and after a failed one. */
export async function reset(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`delete from ${staging(realm, importId)} where realm_id = ${realm} and n < 0`;
  await sql`update ${staging(realm, importId)} set action = 'create', changes = null where realm_id = ${realm}
    and action not in ('create', 'unreadable')`;
}

/** The planner needs to know how many rows there are. */
export const analyze = (sql: Sql, realm: string, importId: string) =>
  sql`analyze ${staging(realm, importId)} (realm_id, action)`;

/**
 * Runs statements of an import, in its transaction, without nested loops. The planner has no statistics of a realm that was
 * just filled and estimates few users: a nested loop would cost the product of both sides.
 */
export async function hashing<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  await sql`set local enable_nestloop = off`;
  const result = await work();
  await sql`set local enable_nestloop = on`;
  return result;
}

/** Whether the row `i` of the import, if there is one, declares roles and groups. */
const saidBy = fragment`i.roles is not null as says_roles, i.client_roles is not null as says_client_roles,
  i.groups is not null as says_groups`;
const heldRoles = fragment`user_role ur where ur.realm_id = u.realm_id and ur.user_id = u.id`;
const currentRoles = fragment`array(select name from (select (${roleName}) as name from ${heldRoles}) held where name is not null)`;
const currentClientRoles = fragment`array(
  select name from (select (${clientRoleName}) as name from ${heldRoles}) held where name is not null)`;
const currentGroups = fragment`array(select (${groupPath}) from group_member m where m.realm_id = u.realm_id and m.user_id = u.id)`;
const none = fragment`null::text[]`;
/** A changed address must be verified again, unless the document declares `emailVerified`. */
const verified = fragment`case when 'emailVerified' = any(i.declared) then i.email_verified
  when 'email' = any(i.declared) and lower(u.email) is distinct from lower(i.email) then false else u.email_verified end`;

/**
 * Compares the declared fields of existing users. `manager` owns what it declares; a user of another manager is a conflict
 * unless `force` is set. The plan shows no value of an attribute that administrators may not see.
 */
export async function compare(
  sql: Sql,
  realm: string,
  importId: string,
  { manager, force, declares, profile }: { manager: string; force: boolean; declares: Declares; profile: UserProfile },
): Promise<void> {
  const seen = seenByAdministrators(profile, fragment`a.key`);
  const shown = (attributes: Fragment) =>
    seen
      ? fragment`(select coalesce(jsonb_object_agg(a.key, case when ${seen} then a.value else '["***"]' end), '{}')
          from jsonb_each(${attributes}) a)`
      : attributes;
  const creds = declares.credentials ? newCredentials : fragment`null::jsonb`;
  const identities = declares.identities ? newIdentities(realm) : fragment`null::jsonb`;
  await sql`
    with found as (
      select i.ctid as place, u.id, u.manager,
        case when u.username <> i.username
          then jsonb_build_array(jsonb_build_object('path', 'username', 'from', u.username, 'to', i.username)) else '[]' end
        || case when 'email' = any(i.declared) and u.email is distinct from i.email
          then jsonb_build_array(jsonb_build_object('path', 'email', 'from', u.email, 'to', i.email)) else '[]' end
        || case when u.email_verified <> ${verified}
          then jsonb_build_array(jsonb_build_object('path', 'emailVerified', 'from', u.email_verified, 'to', ${verified})) else '[]' end
        || case when 'firstName' = any(i.declared) and u.first_name is distinct from i.first_name
          then jsonb_build_array(jsonb_build_object('path', 'firstName', 'from', u.first_name, 'to', i.first_name)) else '[]' end
        || case when 'lastName' = any(i.declared) and u.last_name is distinct from i.last_name
          then jsonb_build_array(jsonb_build_object('path', 'lastName', 'from', u.last_name, 'to', i.last_name)) else '[]' end
        || case when 'enabled' = any(i.declared) and u.enabled <> i.enabled
          then jsonb_build_array(jsonb_build_object('path', 'enabled', 'from', u.enabled, 'to', i.enabled)) else '[]' end
        || case when 'attributes' = any(i.declared) and u.attributes <> i.attributes
          then jsonb_build_array(jsonb_build_object('path', 'attributes',
            'from', ${shown(fragment`u.attributes`)}, 'to', ${shown(fragment`i.attributes`)})) else '[]' end
        || case when 'createdAt' = any(i.declared) and u.created_at <> i.created_at
          then jsonb_build_array(jsonb_build_object('path', 'createdAt', 'from', floor(extract(epoch from u.created_at) * 1000)::bigint,
            'to', floor(extract(epoch from i.created_at) * 1000)::bigint)) else '[]' end
        || case when 'requiredActions' = any(i.declared)
            and not (u.required_actions @> i.required_actions and u.required_actions <@ i.required_actions)
          then jsonb_build_array(jsonb_build_object('path', 'requiredActions', 'from', u.required_actions, 'to', i.required_actions)) else '[]' end
        || case when i.roles is not null and not (t.roles @> i.roles and t.roles <@ i.roles)
          then jsonb_build_array(jsonb_build_object('path', 'roles', 'from', t.roles, 'to', i.roles)) else '[]' end
        || case when i.groups is not null and not (t.groups @> i.groups and t.groups <@ i.groups)
          then jsonb_build_array(jsonb_build_object('path', 'groups', 'from', t.groups, 'to', i.groups)) else '[]' end
        || case when i.client_roles is not null and not (t.client_roles @> i.client_roles and t.client_roles <@ i.client_roles)
          then jsonb_build_array(jsonb_build_object('path', 'clientRoles', 'from', t.client_roles, 'to', i.client_roles)) else '[]' end
        || case when t.credentials is not null
          then jsonb_build_array(jsonb_build_object('path', 'credentials', 'from', null, 'to', '***')) else '[]' end
        || case when t.identities is not null
          then jsonb_build_array(jsonb_build_object('path', 'identities', 'from', null, 'to', t.identities)) else '[]' end as changes
      from ${staging(realm, importId)} i
      cross join lateral (${byUsername(fragment`lower(i.username)`)}) u
      cross join lateral (select ${declares.roles ? currentRoles : none} as roles, ${declares.groups ? currentGroups : none} as groups,
        ${declares.clientRoles ? currentClientRoles : none} as client_roles, ${creds} as credentials, ${identities} as identities) t
      where i.realm_id = ${realm} and i.action = 'create'
    )
    update ${staging(realm, importId)} i set id = f.id, changes = f.changes, action = case
        when f.manager <> ${manager} and not ${force}::boolean then 'conflict'
        when f.changes <> '[]' then 'update'
        when f.manager is distinct from ${manager} then 'take'
        else 'same' end
    from found f where i.realm_id = ${realm} and i.ctid = f.place`;
}

/** Whether the realm has any user. */
export async function hasUsers(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select from realm_user where realm_id = ${realm} limit 1`;
  return row !== undefined;
}

const isStaged = (realm: string, importId: string) => fragment`exists (select from ${staging(realm, importId)} i
  where i.realm_id = ${realm} and lower(i.username) = lower(u.username))`;

/** Stages this manager's users that the document no longer contains, for deletion. */
export async function stageDropped(sql: Sql, realm: string, importId: string, manager: string): Promise<void> {
  await sql`
    insert into ${staging(realm, importId)} (realm_id, import_id, n, id, username, declared, action)
    select ${realm}, ${importId}, -row_number() over (order by u.username), u.id, u.username, '{}', 'delete' from realm_user u
    where u.realm_id = ${realm} and u.manager = ${manager} and not ${isStaged(realm, importId)}`;
}

/** Of users that a document without users leaves as they are, no more are counted: a plan of settings must not read all. */
const MOST_LEFT = 10_000;

/**
 * This manager's users that the document doesn't contain: the count, and the names of less than 20.
 * @param importId absent: the document contains no users, and the count ends at {@link MOST_LEFT}
 */
export async function undeclaredUsers(sql: Sql, of: { realm: string; manager: string; importId?: string }) {
  const declared = of.importId === undefined ? fragment`false` : isStaged(of.realm, of.importId);
  const bound = of.importId === undefined ? fragment`limit ${MOST_LEFT}` : fragment``;
  // Users are read only if the manager has ever applied users.
  const [row] = await sql<{ count: number; usernames: string[] | null }>`
    with undeclared as materialized (
      select u.username from realm_user u
      where exists (select from manager m where m.realm_id = ${of.realm} and m.name = ${of.manager} and m.users)
        and u.realm_id = ${of.realm} and u.manager = ${of.manager} and not ${declared} ${bound}
    ), few as (select username from undeclared limit 20)
    select (select count(*)::int from undeclared) as count, (select array_agg(username order by username) from few) as usernames`;
  const { count = 0, usernames } = row ?? {};
  return { count, usernames: count < 20 ? (usernames ?? []) : [] };
}

export async function counts(sql: Sql, realm: string, importId: string): Promise<Map<string, number>> {
  const rows = await sql<{ action: string; count: number }>`
    select action, count(*) as count from ${staging(realm, importId)} where realm_id = ${realm} group by action`;
  return new Map(rows.map((row) => [row.action, row.count]));
}

/**
 * The users that the import would delete, disable, or take a role or a group from: how many, and how many live sessions
 * they have.
 */
export const affectedUsers = (sql: Sql, realm: string, importId: string, at: Date) =>
  sql<{ effect: 'delete' | 'disable' | 'lose'; people: number; sessions: number }>`
    select t.effect, count(distinct t.id)::int as people, count(distinct s.id)::int as sessions from (
      select i.id, case when i.action = 'delete' then 'delete'
        when i.changes @> '[{"path": "enabled", "to": false}]' then 'disable' else 'lose' end as effect
      from ${staging(realm, importId)} i where i.realm_id = ${realm} and (i.action = 'delete'
        or i.action = 'update' and (i.changes @> '[{"path": "enabled", "to": false}]' or exists (
          select from jsonb_array_elements(i.changes) c cross join lateral jsonb_array_elements_text(c -> 'from') f
          where c ->> 'path' in ('roles', 'groups', 'clientRoles') and not c -> 'to' ? f)))
    ) t left join session s on s.realm_id = ${realm} and s.user_id = t.id and s.expires_at > ${at}
    group by t.effect`;

const SOME = 100;

export const conflicts = (sql: Sql, realm: string, importId: string) =>
  sql<{ key: string; manager: string }>`
    select i.username as key, u.manager from ${staging(realm, importId)} i cross join lateral (${byId}) u
    where i.realm_id = ${realm} and i.action = 'conflict' order by i.n`;

/** Usernames and addresses that the document declares twice. */
export const duplicateUsers = (sql: Sql, realm: string, importId: string) =>
  sql<{ field: string; value: string; places: number[] }>`
    (select 'username' as field, min(username) as value, array_agg(n order by n) as places from ${staging(realm, importId)}
      where realm_id = ${realm} and n >= 0 group by lower(username) having count(*) > 1 limit ${SOME})
    union all
    (select 'email', min(email), array_agg(n order by n) from ${staging(realm, importId)}
      where realm_id = ${realm} and n >= 0 and email is not null group by lower(email) having count(*) > 1 limit ${SOME})`;

export interface ProfileRow extends ProfileData {
  n: number;
  /** Paths. */
  olderThanProfile: string[];
  /** null: the user is new. */
  before: ProfileData | null;
}

/**
 * Opens a cursor over all users that are created or changed, as they should become, in the document's order. The rows have
 * no index on that order, so a query for each page would read all rows each time.
 */
export async function openProfiles(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`
  declare profile no scroll cursor for
  select i.n, i.username,
    case when u.id is null or 'email' = any(i.declared) then i.email else u.email end as email,
    case when u.id is null or 'firstName' = any(i.declared) then i.first_name else u.first_name end as "firstName",
    case when u.id is null or 'lastName' = any(i.declared) then i.last_name else u.last_name end as "lastName",
    case when u.id is null or 'attributes' = any(i.declared) then coalesce(i.attributes, '{}') else u.attributes end as attributes,
    case when u.id is not null then jsonb_build_object('username', u.username, 'email', u.email, 'firstName', u.first_name,
      'lastName', u.last_name, 'attributes', u.attributes) end as before,
    coalesce(i.older_than_profile, '{}') as "olderThanProfile"
  from ${staging(realm, importId)} i left join lateral (${byId}) u on i.action = 'update'
  where i.realm_id = ${realm} and i.action in ('create', 'update') order by i.n`;
}

export const nextProfiles = (sql: Sql) => sql<ProfileRow>`fetch forward 2000 from profile`;
export const closeProfiles = (sql: Sql) => sql`close profile`;

/** Addresses that another user has and keeps. */
export const takenEmails = (sql: Sql, realm: string, importId: string) =>
  sql<{ n: number; owner: string }>`
    select i.n, u.username as owner from ${staging(realm, importId)} i
    cross join lateral (${byEmail(fragment`lower(i.email)`)}) u
    where i.realm_id = ${realm} and lower(u.username) <> lower(i.username) and i.email is not null and i.action in ('create', 'update')
      and not exists (select from ${staging(realm, importId)} o where o.realm_id = ${realm} and lower(o.username) = lower(u.username)
        and (o.action = 'delete' or 'email' = any(o.declared)))
    limit ${SOME}`;

type Ties = Record<'roles' | 'groups' | 'clientRoles' | 'identities', readonly string[]>;

/**
 * Roles, groups, client roles and providers that users name but that neither exist nor are planned, or that this import
 * deletes.
 */
export const unknownNames = (sql: Sql, realm: string, importId: string, { made, gone }: { made: Ties; gone: Ties }) =>
  sql<{ n: number; field: keyof Ties; name: string }>`
    select min(n) as n, field, name from (
      select n, 'roles' as field, unnest(roles) as name from ${staging(realm, importId)} where realm_id = ${realm} and roles <> '{}'
      union all select n, 'groups', unnest(groups) from ${staging(realm, importId)} where realm_id = ${realm} and groups <> '{}'
      union all select n, 'clientRoles', unnest(client_roles) from ${staging(realm, importId)} where realm_id = ${realm} and client_roles <> '{}'
      union all select n, 'identities', jsonb_array_elements(identities) ->> 'identityProvider' from ${staging(realm, importId)}
        where realm_id = ${realm} and identities <> '[]'
    ) named
    where case field
      when 'roles' then name = any(${gone.roles}::text[]) or name <> all(${made.roles}::text[]) and not exists (
        select from role r where r.realm_id = ${realm} and r.client is null and r.name = named.name)
      when 'groups' then name = any(${gone.groups}::text[]) or name <> all(${made.groups}::text[]) and not exists (
        select from user_group g where g.realm_id = ${realm} and g.path = named.name)
      when 'identities' then name = any(${gone.identities}::text[]) or name <> all(${made.identities}::text[]) and not exists (
        select from identity_provider p where p.realm_id = ${realm} and p.alias = named.name)
      else name = any(${gone.clientRoles}::text[]) or name <> all(${made.clientRoles}::text[]) and not exists (
        select from role r join client c on c.realm_id = r.realm_id and c.id = r.client where r.realm_id = ${realm}
          and ${clientRolePrefix(fragment`c.client_id`)} || r.name = named.name) end
    group by field, name order by 1 limit ${SOME}`;

/** Changed or deleted users that hold admin roles. */
export const administrators = (sql: Sql, realm: string, importId: string) =>
  sql<{ n: number; holder: string; role: string; permissions: string[]; target_realm: string }>`
    select i.n, i.username as holder, r.name as role, r.permissions, g.target_realm
    from admin_grant g join ${staging(realm, importId)} i on i.realm_id = ${realm} and i.id = g.user_id and i.action in ('update', 'delete')
    join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    where g.realm_id = ${realm} and g.user_id is not null`;

export interface Merging extends Tying {
  manager: string;
}

export const deletedUserIds = (realm: string, importId: string) =>
  fragment`select id from ${staging(realm, importId)} where realm_id = ${realm} and action = 'delete'`;

/** Users that can't sign in after the import. */
export const deletedOrDisabledUserIds = (realm: string, importId: string) => fragment`
  select id from ${staging(realm, importId)}
  where realm_id = ${realm} and (action = 'delete' or action = 'update' and changes @> '[{"path": "enabled", "to": false}]')`;

export async function removeDropped(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`delete from realm_user where realm_id = ${realm} and id in (${deletedUserIds(realm, importId)})`;
}

export interface ChangedRow {
  id: string;
  username: string;
  action: 'update' | 'delete';
  fields: string[];
  disabled: boolean;
  /** The document declares the user's required actions. */
  actions_set: boolean;
}

/** The existing users that the import changes or deletes, in the document's order. */
export const changedUsers = (sql: Sql, realm: string, importId: string) =>
  sql<ChangedRow>`
    select id, username, action, array(select jsonb_array_elements(changes) ->> 'path') as fields,
      coalesce(changes @> '[{"path": "enabled", "to": false}]', false) as disabled, 'requiredActions' = any(declared) as actions_set
    from ${staging(realm, importId)} where realm_id = ${realm} and action in ('update', 'delete') order by n`;

/** Writes the plan of {@link compare}. */
export const merge = (sql: Sql, realm: string, importId: string, merging: Merging): Promise<NewProofs> =>
  hashing(sql, () => mergeRows(sql, realm, importId, merging));

async function mergeRows(
  sql: Sql,
  realm: string,
  importId: string,
  { manager, at, declares, many, has }: Merging,
): Promise<NewProofs> {
  const theirs = onlyImportedUsers(fragment`u.id`, { realm, importId, many });
  // Addresses are unique but can move between users in one import, so they are cleared first.
  if (has('update'))
    await sql`
      update realm_user u set email = null from ${staging(realm, importId)} i
      where i.realm_id = ${realm} and i.action = 'update' and 'email' = any(i.declared) and u.realm_id = ${realm}
        and u.id = i.id and lower(u.email) <> lower(i.email) ${theirs}`;
  if (has('update') || has('take'))
    await sql`
      update realm_user u set manager = ${manager}, username = i.username, email_verified = ${verified},
        email = case when 'email' = any(i.declared) then i.email else u.email end,
        first_name = case when 'firstName' = any(i.declared) then i.first_name else u.first_name end,
        last_name = case when 'lastName' = any(i.declared) then i.last_name else u.last_name end,
        enabled = coalesce(i.enabled, u.enabled), attributes = coalesce(i.attributes, u.attributes),
        required_actions = coalesce(i.required_actions, u.required_actions), created_at = coalesce(i.created_at, u.created_at)
      from ${staging(realm, importId)} i
      where i.realm_id = ${realm} and i.action in ('update', 'take') and u.realm_id = ${realm} and u.id = i.id ${theirs}`;
  if (has('create'))
    await sql`
      insert into realm_user (realm_id, id, username, email, email_verified, first_name, last_name, enabled, attributes,
        required_actions, created_at, manager)
      select ${realm}, id, username, email, coalesce(email_verified, false), first_name, last_name, coalesce(enabled, true),
        coalesce(attributes, '{}'), coalesce(required_actions, '{}'), coalesce(created_at, ${at}), ${manager}
      from ${staging(realm, importId)} where realm_id = ${realm} and action = 'create'`;
  const proofs = await mergeTies(sql, realm, importId, { at, declares, many, has });
  // New users without declared roles or groups get the defaults.
  if (has('create'))
    await giveDefaults(
      sql,
      realm,
      fragment`select id, ${saidBy} from ${staging(realm, importId)} i where realm_id = ${realm} and action = 'create'`,
    );
  return proofs;
}

/** Gives the defaults to users that this transaction wrote; a user's row of the import shows which ones it declares. */
export const giveDefaultsToWritten = (sql: Sql, realm: string, importId: string): Promise<void> =>
  giveDefaults(
    sql,
    realm,
    fragment`select u.id, ${saidBy} from realm_user u left join ${staging(realm, importId)} i on i.realm_id = ${realm} and i.id = u.id
      where u.realm_id = ${realm} and u.xmin = pg_current_xact_id()::xid`,
  );

export {
  createStaging as prepare,
  dropStaging as discard,
  dropStagingBefore as discardOld,
} from '../../../db/staging.ts';
export * as asides from './import-refusals.ts';
export { mergeTies };
