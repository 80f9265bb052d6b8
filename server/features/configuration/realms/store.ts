// SQL of the realm table. A realm's id is its name.
import { searchedText, textMatches } from '../../../db/searched-text.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { forgetRealm } from '../../../events/log.ts';

export interface RealmRow {
  realm_id: string;
  revision: number;
  /** null: never set. */
  display_name: string | null;
  issuer: string | null;
  created_at: Date;
  declared_only: string[];
}
const columns = fragment`
  realm_id, revision, settings ->> 'displayName' as display_name, settings ->> 'issuer' as issuer, created_at,
  coalesce(settings -> 'declaredOnly', '[]') as declared_only`;

/** The realms that a caller may see: all, or those named. */
export type Visible = 'all' | readonly string[];
const within = (visible: Visible): Fragment =>
  visible === 'all' ? fragment`true` : fragment`realm_id = any(${visible}::text[])`;
/** For every caller a realm that is being deleted is gone already. */
const there = fragment`deleted_at is null`;

/**
 * A digest over every visible realm with its revision, and the realms' number. An index has both (migration indexes_of_large_realms):
 * with 10,000 realms this reads some sixty pages.
 */
export async function digest(sql: Sql, visible: Visible): Promise<{ tag: string; total: number }> {
  const [row] = await sql<{ tag: string; total: number }>`
    select md5(coalesce(sum(hashtextextended(realm_id, revision)), 0) || ':' || count(*)) as tag, count(*)::int as total
    from realm where ${there} and ${within(visible)}`;
  return row ?? { tag: '', total: 0 };
}

const searched = searchedText(['realm_id', "settings ->> 'displayName'"]);

/** @param pattern for `like`, without regard to case; undefined: every realm */
export const list = (
  sql: Sql,
  visible: Visible,
  { after, limit, pattern }: { after: string; limit: number; pattern: string | undefined },
) => sql<RealmRow>`
  select ${columns} from realm
  where ${there} and ${within(visible)} and realm_id > ${after}
    ${pattern === undefined ? fragment`` : fragment`and ${textMatches(searched, pattern)}`}
  order by realm_id limit ${limit}`;

export async function read(sql: Sql, realm: string): Promise<RealmRow | undefined> {
  const [row] = await sql<RealmRow>`select ${columns} from realm where realm_id = ${realm} and ${there}`;
  return row;
}

export async function lock(sql: Sql, realm: string): Promise<RealmRow | undefined> {
  const [row] = await sql<RealmRow>`select ${columns} from realm where realm_id = ${realm} and ${there} for update`;
  return row;
}

/** The existing ones of `realms`. */
export const existingRealms = (sql: Sql, realms: readonly string[]) => sql<{ realm_id: string }>`
  select realm_id from realm where realm_id = any(${realms}::text[]) and ${there}`;

/**
 * undefined: the name is taken. Events of a deleted realm with the same name don't belong to the new one, but its
 * revisions continue, so that no revision has two meanings.
 */
export async function insert(
  sql: Sql,
  row: { realm: string; displayName: string | undefined; createdBy: string; at: Date },
): Promise<RealmRow | undefined> {
  const settings = row.displayName === undefined ? {} : { displayName: row.displayName };
  const [inserted] = await sql<RealmRow>`
    insert into realm (realm_id, revision, settings, created_by, created_at)
    values (${row.realm}, coalesce((select revision + 1 from former_realm where name = ${row.realm}), 1),
      ${JSON.stringify(settings)}::jsonb, ${row.createdBy}, ${row.at})
    on conflict do nothing returning ${columns}`;
  if (inserted) await forgetRealm(sql, row.realm);
  return inserted;
}

/**
 * From now on no request finds the realm, none of its jobs runs, and its issuer is free. Grants over it, also those that
 * administrators of master hold, are deleted at once.
 */
export async function markDeleted(sql: Sql, realm: string, at: Date): Promise<void> {
  await sql`delete from admin_grant where target_realm = ${realm}`;
  await sql`
    insert into former_realm (name, revision, created_by, adoption)
    select realm_id, revision, created_by, adoption from realm where realm_id = ${realm}
    on conflict (name) do update set revision = excluded.revision, created_by = excluded.created_by,
      adoption = excluded.adoption`;
  await sql`update webhook set enabled = false where realm_id = ${realm} and enabled`;
  await sql`update messaging_provider set enabled = false where realm_id = ${realm} and enabled`;
  await sql`update scim_target set enabled = false where realm_id = ${realm} and enabled`;
  await sql`update directory set enabled = false where realm_id = ${realm} and enabled`;
  await sql`update saml_client set enabled = false where realm_id = ${realm} and enabled`;
  await sql`update agent set status = 'suspended' where realm_id = ${realm} and status = 'active'`;
  await sql`update realm set deleted_at = ${at}, settings = settings - 'issuer', own_issuer = null where realm_id = ${realm}`;
  await sql`select pg_notify('realm_changed', ${realm})`;
}

/** undefined: no realm with this name was ever deleted. */
export async function readFormer(
  sql: Sql,
  realm: string,
): Promise<{ created_by: string; adoption: string[] } | undefined> {
  const [row] = await sql<{ created_by: string; adoption: string[] }>`
    select created_by, adoption from former_realm where name = ${realm}`;
  return row;
}

/** Renames a creator of realms, existing or deleted, and a manager that may adopt them. */
export async function renameMakers(
  sql: Sql,
  { from, to }: { from: string; to: string },
  names: readonly string[],
): Promise<void> {
  await sql`
    update realm set
      created_by = case when created_by = ${from} or starts_with(created_by, ${from}::text || '/')
        then ${to}::text || substr(created_by, length(${from}::text) + 1) else created_by end,
      adoption = array(select case when one = ${from} or starts_with(one, ${from}::text || '/')
        then ${to}::text || substr(one, length(${from}::text) + 1) else one end
        from unnest(adoption) with ordinality as listed (one, at) order by at)
    where realm_id = any(${names}::text[])`;
  await sql`
    update former_realm set
      created_by = case when created_by = ${from} or starts_with(created_by, ${from}::text || '/')
        then ${to}::text || substr(created_by, length(${from}::text) + 1) else created_by end,
      adoption = array(select case when one = ${from} or starts_with(one, ${from}::text || '/')
        then ${to}::text || substr(one, length(${from}::text) + 1) else one end
        from unnest(adoption) with ordinality as listed (one, at) order by at)
    where name = any(${names}::text[])`;
}
