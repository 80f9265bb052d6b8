// SQL of groups for SCIM: the columns for filters and sorting, the rows, the members of several groups at once, and the
// writes of `externalId`. The groups feature does all other writes.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { shownGroupPathSql } from '../../../domain/group-names.ts';
import type { Column, Columns } from './filter-sql.ts';

export interface ScimGroupRow {
  id: string;
  path: string;
  external_id: string | null;
  created_at: Date;
  updated_at: Date;
}

/** The group's externalId, as a subquery for each row: a join would read those of all groups. */
const externalId = fragment`(
  select s.external_id from scim_group s where s.realm_id = g.realm_id and s.group_id = g.id)`;

export const groupSelect = fragment`g.id, g.path, ${externalId} as external_id, g.created_at, g.updated_at`;
export const groupTable = fragment`user_group g`;
export const inRealm = (realm: string): Fragment => fragment`g.realm_id = ${realm}`;

export async function findGroup(sql: Sql, realm: string, id: string): Promise<ScimGroupRow | undefined> {
  const [row] = await sql<ScimGroupRow>`
    select ${groupSelect} from ${groupTable} where ${inRealm(realm)} and g.id = ${id}`;
  return row;
}

/** The group's path as clients see it: a name may contain slashes. */
const shownPath = shownGroupPathSql(fragment`g.path`);
const isShownAs = (path: Fragment): Fragment => fragment`lower(${shownPath}) = lower(${path})`;

/** The group that clients see at this path, but for the group `id` itself. */
export async function groupAt(sql: Sql, realm: string, path: string, id: string | null): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`
    select g.id from ${groupTable} where ${inRealm(realm)} and ${isShownAs(fragment`${path}::text`)}
      and ${shownPath} = ${path} and g.id is distinct from ${id}::uuid limit 1`;
  return row?.id;
}

/** Whether another group has this name in any case: clients find groups by name without regard to case. */
export async function isNameTaken(sql: Sql, realm: string, path: string, id: string | null): Promise<boolean> {
  const rows = await sql`
    select from ${groupTable} where ${inRealm(realm)} and ${isShownAs(fragment`${path}::text`)}
      and g.id is distinct from ${id}::uuid`;
  return rows.length > 0;
}

/** Locks the group against other SCIM changes; users can still join it in other ways. */
export const holdGroup = (sql: Sql, realm: string, id: string) => sql`
  select pg_advisory_xact_lock(hashtextextended('scim_group ' || ${realm} || ' ' || ${id}, 0)) is null as held`;

export const saveGroup = (sql: Sql, realm: string, id: string, externalId: string | null) => sql`
  insert into scim_group (realm_id, group_id, external_id) values (${realm}, ${id}, ${externalId})
  on conflict (realm_id, group_id) do update set external_id = excluded.external_id`;

export interface MemberRow {
  group_id: string;
  user_id: string;
}
export const membersOf = (sql: Sql, realm: string, groups: readonly string[], most: number): Promise<MemberRow[]> =>
  sql<MemberRow>`
    select group_id, user_id from group_member
    where realm_id = ${realm} and group_id = any(${groups}::uuid[])
    order by group_id, user_id limit ${most}`;

const text = (sql: Fragment): Column => ({ sql, kind: 'text' });

export const groupColumns: Columns = {
  single: {
    id: { sql: fragment`g.id`, kind: 'uuid' },
    externalId: {
      sql: externalId,
      kind: 'text',
      nullable: true,
      equals: (id) => fragment`exists (
        select from scim_group s where s.realm_id = g.realm_id and s.group_id = g.id and s.external_id = ${id}::text)`,
    },
    displayName: {
      ...text(fragment`substr(${shownPath}, 2)`),
      equals: (name) => isShownAs(fragment`'/' || ${name}::text`),
    },
    'meta.created': { sql: fragment`g.created_at`, kind: 'dateTime' },
    'meta.lastModified': { sql: fragment`g.updated_at`, kind: 'dateTime' },
    'meta.resourceType': text(fragment`'Group'::text`),
  },
  several: {
    members: [
      {
        some: (condition) => fragment`exists (
        select from group_member m where m.realm_id = g.realm_id and m.group_id = g.id and ${condition})`,
        columns: {
          value: { sql: fragment`m.user_id`, kind: 'uuid' },
          type: text(fragment`'User'::text`),
        },
      },
    ],
  },
};
