// SQL of users that come from directories, for many users at once.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { Holder, NameField, Outsider } from './directory-names.ts';
import type { DirectoryPerson } from './from-directory.ts';

export interface Row {
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  firstName: string | null;
  lastName: string | null;
  attributes: Record<string, string[]>;
  enabled: boolean;
}
export interface KnownRow extends Row {
  /** The value that the directory last had. */
  enabled_there: boolean;
  password_changed: string | null;
}

/**
 * For each person, in order: the user that exists for the entry, and the other users that hold the claimed username or
 * address (compared as `takenName` of store.ts does).
 */
export const knownPeople = (sql: Sql, realm: string, directoryId: string, people: readonly DirectoryPerson[]) =>
  sql<{ was: KnownRow | null; username: Holder[]; email: Holder[] }>`
    select case when u.id is not null then jsonb_build_object('id', u.id, 'username', u.username, 'email', u.email,
      'emailVerified', u.email_verified, 'firstName', u.first_name, 'lastName', u.last_name, 'attributes', u.attributes,
      'enabled', u.enabled, 'enabled_there', p.enabled_there, 'password_changed', p.password_changed) end as was,
      coalesce(n.holders, '[]'::jsonb) as username, coalesce(m.holders, '[]'::jsonb) as email
    from unnest(${people.map((one) => one.external)}::text[], ${people.map((one) => one.username)}::text[],
      ${people.map((one) => one.email)}::text[]) with ordinality as e (external, username, email, n)
    left join directory_person p on p.realm_id = ${realm} and p.directory_id = ${directoryId} and p.external_id = e.external
    left join realm_user u on u.realm_id = ${realm} and u.id = p.user_id
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', h.id, 'column', h.which)) as holders from (
        select o.id, 'username' as which from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id and lower(o.username) = lower(e.username)
        union select o.id, 'email' from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id and lower(o.email) = lower(normalize(e.username, NFKC))
        union select o.id, 'username' from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id and lower(o.username) = lower(normalize(e.username, NFKC))
        union select o.id, 'username' from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id
          and lower(normalize(o.username, NFKC)) <> lower(o.username)
          and lower(normalize(o.username, NFKC)) = lower(normalize(e.username, NFKC))) h) n on true
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', h.id, 'column', h.which)) as holders from (
        select o.id, 'email' as which from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id and lower(o.email) = lower(e.email)
        union select o.id, 'username' from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id and lower(o.username) = lower(e.email)
        union select o.id, 'username' from realm_user o
        where o.realm_id = ${realm} and o.id is distinct from p.user_id
          and lower(normalize(o.username, NFKC)) <> lower(o.username)
          and lower(normalize(o.username, NFKC)) = lower(e.email)) h) m on true
    order by e.n`;

/**
 * For users that hold names claimed by entries of the directory: whether these names are free, and which entry the user
 * comes from.
 */
export async function usersHoldingNames(
  sql: Sql,
  realm: string,
  directoryId: string,
  ids: readonly string[],
): Promise<Map<string, Outsider>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; gone: boolean; external: string | null }>`
    select u.id, p.gone and not p.enabled_there and not u.enabled as gone,
      case when p.directory_id = ${directoryId} then p.external_id end as external
    from realm_user u join directory_person p on p.realm_id = u.realm_id and p.user_id = u.id
    where u.realm_id = ${realm} and u.id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, gone, external }) => [id, { gone, external }]));
}

/**
 * Takes names from users whose entry is gone: it removes the address, and appends a unique suffix to the username.
 * @returns the users with their new usernames
 */
export async function freeNames(
  sql: Sql,
  realm: string,
  holders: readonly Holder[],
): Promise<{ id: string; username: string; fields: NameField[] }[]> {
  if (holders.length === 0) return [];
  const idsOf = (column: NameField) => [...new Set(holders.flatMap((one) => (one.column === column ? [one.id] : [])))];
  const [renamed, unaddressed] = [idsOf('username'), idsOf('email')];
  const rows = await sql<{ id: string; username: string }>`
    update realm_user set
      username = case when id = any(${renamed}::uuid[]) then left(username, 200) || '-gone-' || id else username end,
      email = case when id = any(${unaddressed}::uuid[]) then null else email end,
      email_verified = email_verified and id <> all(${unaddressed}::uuid[])
    where realm_id = ${realm} and id = any(${[...renamed, ...unaddressed]}::uuid[]) returning id, username`;
  return rows.map((row) => ({
    ...row,
    fields: [
      ...(renamed.includes(row.id) ? (['username'] as const) : []),
      ...(unaddressed.includes(row.id) ? (['email'] as const) : []),
    ],
  }));
}

export const markEntriesSeen = (
  sql: Sql,
  realm: string,
  directoryId: string,
  syncId: string,
  externals: readonly string[],
) => sql`
  update directory_person set seen_in = ${syncId}
  where realm_id = ${realm} and directory_id = ${directoryId} and external_id = any(${externals}::text[])`;

const columns = (rows: readonly Row[]) => JSON.stringify(rows);

/** @returns the ids of the inserted users; a user whose name is taken is not inserted */
export async function insertPeople(sql: Sql, realm: string, rows: readonly Row[], at: Date): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const made = await sql<{ id: string }>`
    insert into realm_user (realm_id, id, username, email, email_verified, first_name, last_name, enabled, attributes, created_at)
    select ${realm}, id, username, email, "emailVerified", "firstName", "lastName", enabled, attributes, ${at}
    from jsonb_to_recordset(${columns(rows)}::jsonb) as e (id uuid, username text, email text, "emailVerified" boolean,
      "firstName" text, "lastName" text, enabled boolean, attributes jsonb)
    on conflict do nothing returning id`;
  return new Set(made.map(({ id }) => id));
}

/** Names can move between users of one batch, also to new users: all names that change are freed before any is written. */
export async function vacateNames(sql: Sql, realm: string, changed: readonly { row: Row; was: Row }[]): Promise<void> {
  const renamed = changed.filter(({ row, was }) => row.username !== was.username || row.email !== was.email);
  if (renamed.length > 0)
    await sql`
      update realm_user set username = id::text, email = null
      where realm_id = ${realm} and id = any(${renamed.map(({ row }) => row.id)}::uuid[])`;
}

export async function updatePeople(sql: Sql, realm: string, changed: readonly { row: Row; was: Row }[]): Promise<void> {
  if (changed.length === 0) return;
  await sql`
    update realm_user u set username = e.username, email = e.email, email_verified = e."emailVerified",
      first_name = e."firstName", last_name = e."lastName", enabled = e.enabled, attributes = e.attributes
    from jsonb_to_recordset(${columns(changed.map(({ row }) => row))}::jsonb) as e (id uuid, username text, email text,
      "emailVerified" boolean, "firstName" text, "lastName" text, enabled boolean, attributes jsonb)
    where u.realm_id = ${realm} and u.id = e.id`;
}

/** @param syncId the sync that read these entries; null: they were read outside a sync, and a running sync's marks stay */
export async function link(
  sql: Sql,
  realm: string,
  directoryId: string,
  syncId: string | null,
  people: readonly { person: DirectoryPerson; id: string }[],
): Promise<void> {
  if (people.length === 0) return;
  const rows = people.map(({ person: { external, dn, dnKey, login, enabled, passwordChanged }, id }) => ({
    external,
    dn,
    key: dnKey,
    login,
    enabled,
    changed: passwordChanged,
    id,
  }));
  await sql`
    insert into directory_person as p (realm_id, directory_id, external_id, user_id, dn, dn_key, login, enabled_there,
      password_changed, seen_in)
    select ${realm}, ${directoryId}, external, id, dn, key, login, enabled, changed, ${syncId}::uuid
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e (external text, id uuid, dn text, key text, login text,
      enabled boolean, changed text)
    on conflict (realm_id, directory_id, external_id) do update set dn = excluded.dn, dn_key = excluded.dn_key,
      login = excluded.login, enabled_there = excluded.enabled_there, password_changed = excluded.password_changed,
      gone = false, seen_in = coalesce(excluded.seen_in, p.seen_in)`;
}

/**
 * The directory keeps the password. This credential has no hash: it names the directory, and proofs of the password refer
 * to it.
 */
export const insertPasswords = (
  sql: Sql,
  realm: string,
  directoryId: string,
  people: readonly { id: string; userId: string }[],
  at: Date,
) => sql`
  insert into credential (realm_id, id, user_id, type, secret, created_at)
  select ${realm}, e.id, e.user_id, 'password', jsonb_build_object('directory', ${directoryId}::text), ${at}
  from unnest(${people.map(({ id }) => id)}::uuid[], ${people.map(({ userId }) => userId)}::uuid[]) as e (id, user_id)
  where not exists (select from credential c where c.realm_id = ${realm} and c.user_id = e.user_id and c.type = 'password')
  on conflict do nothing`;

export const renewPasswords = (
  sql: Sql,
  realm: string,
  people: readonly { id: string; credentialId: string }[],
  at: Date,
) => sql`
  update credential c set id = e.credential_id, secret = c.secret - 'reported', created_at = ${at}, last_used_at = null
  from unnest(${people.map(({ id }) => id)}::uuid[], ${people.map(({ credentialId }) => credentialId)}::uuid[]) as e (id, credential_id)
  where c.realm_id = ${realm} and c.user_id = e.id and c.type = 'password' and c.secret ? 'directory'`;

export const notSeenIn = (syncId: string): Fragment => fragment`seen_in is distinct from ${syncId}::uuid`;
export const withStableIds = (externals: readonly string[]): Fragment =>
  fragment`external_id = any(${externals}::text[])`;

/** The ids of users among the directory's entries that are enabled, or not known to be gone. */
export const presentUserIds = (realm: string, directoryId: string, which: Fragment): Fragment => fragment`
  select user_id from directory_person
  where realm_id = ${realm} and directory_id = ${directoryId} and (enabled_there or not gone) and ${which}`;

export const dnOf = async (sql: Sql, realm: string, userId: string): Promise<string> =>
  (await sql<{ dn: string }>`select dn from directory_person where realm_id = ${realm} and user_id = ${userId}`)[0]
    ?.dn ?? '';

/**
 * Disables users whose entries are gone. Their old distinguished names no longer match a group's members, because another
 * entry may have them by now.
 * @param but ids of users to skip
 * @returns the users, and whether each was enabled until now
 */
export const disableGone = (
  sql: Sql,
  realm: string,
  directoryId: string,
  { which, most, but }: { which: Fragment; most: number; but: readonly string[] },
) =>
  sql<{ id: string; username: string; enabled: boolean }>`
    with gone as (
      ${presentUserIds(realm, directoryId, which)} and user_id <> all(${but}::uuid[]) limit ${most} for update
    ), told as (
      update directory_person p set enabled_there = false, gone = true, dn_key = '', login = '' from gone
      where p.realm_id = ${realm} and p.user_id = gone.user_id returning p.user_id
    ), was as (
      select u.id, u.username, u.enabled from realm_user u join told on u.realm_id = ${realm} and u.id = told.user_id
    ), disabled as (
      update realm_user u set enabled = false from was where u.realm_id = ${realm} and u.id = was.id and was.enabled returning u.id
    ) select id, username, enabled from was`;

/**
 * Sets the members of these groups among the directory's users. Other members stay.
 * @param members by group: distinguished names in canonical form, or usernames in lower case
 * @param of only this user's memberships
 * @returns the users that joined or left a group
 */
export const setGroups = (
  sql: Sql,
  realm: string,
  directoryId: string,
  {
    groups,
    members,
    of,
  }: { groups: readonly string[]; members: readonly { group: string; key: string }[]; of?: string },
) => sql<{ id: string; username: string }>`
  with named as (
    select m.group_id, m.key from unnest(${members.map(({ group }) => group)}::uuid[], ${members.map(({ key }) => key)}::text[])
      as m (group_id, key) where m.key <> ''
  ), wanted as (
    select n.group_id, p.user_id from named n join directory_person p
      on p.realm_id = ${realm} and p.directory_id = ${directoryId} and p.dn_key = n.key
    union
    select n.group_id, p.user_id from named n join directory_person p
      on p.realm_id = ${realm} and p.directory_id = ${directoryId} and p.login = n.key
  ), gone as (
    delete from group_member g using directory_person p
    where g.realm_id = ${realm} and g.group_id = any(${groups}::uuid[]) and p.realm_id = g.realm_id
      and p.directory_id = ${directoryId} and p.user_id = g.user_id
      and (${of ?? null}::uuid is null or g.user_id = ${of ?? null}::uuid)
      and not exists (select from wanted w where w.group_id = g.group_id and w.user_id = g.user_id)
    returning g.user_id
  ), come as (
    insert into group_member (realm_id, group_id, user_id)
    select ${realm}, group_id, user_id from wanted
    where ${of ?? null}::uuid is null or user_id = ${of ?? null}::uuid on conflict do nothing returning user_id
  )
  select u.id, u.username from realm_user u
  where u.realm_id = ${realm} and u.id in (select user_id from gone union select user_id from come) order by u.username`;
