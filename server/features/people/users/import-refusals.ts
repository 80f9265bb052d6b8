// SQL that marks rows of an import which the realm can't accept, each with its errors, so that the other rows are written.
// A marked row has the action `refused` and its errors in `changes`; import-store.ts skips it. A row that can't be parsed
// is staged as `unreadable`, also with its errors.
import type { FieldError } from '../../../contract/problem.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { staging } from '../../../db/staging.ts';
import { clientRolePrefix } from '../../../resource/items.ts';
import { byEmail, byId, byUsername } from './import-lookups.ts';

/** @param found a query of `n`, `path` and `message` */
async function refuse(sql: Sql, realm: string, importId: string, found: Fragment): Promise<void> {
  await sql`
    update ${staging(realm, importId)} i set action = 'refused', changes = f.faults
    from (select n, jsonb_agg(jsonb_build_object('path', path, 'message', message)) as faults from (${found}) x group by n) f
    where i.realm_id = ${realm} and i.n = f.n and i.action <> 'refused'`;
}

/** Refuses rows whose errors were found one by one. */
export async function refuseRows(
  sql: Sql,
  realm: string,
  importId: string,
  rows: readonly { n: number; errors: readonly FieldError[] }[],
): Promise<void> {
  const faults = rows.flatMap(({ n, errors }) => errors.map(({ path, message }) => ({ n, path, message })));
  if (faults.length === 0) return;
  await refuse(
    sql,
    realm,
    importId,
    fragment`select * from unnest(${faults.map(({ n }) => n)}::bigint[], ${faults.map(({ path }) => path)}::text[],
      ${faults.map(({ message }) => message)}::text[]) as told (n, path, message)`,
  );
}

/** Refuses the row of one user. */
export const refuseUser = (
  sql: Sql,
  realm: string,
  importId: string,
  { id, path, message }: FieldError & { id: string },
): Promise<void> =>
  refuse(
    sql,
    realm,
    importId,
    fragment`select n, ${path}::text as path, ${message}::text as message from ${staging(realm, importId)}
      where realm_id = ${realm} and id = ${id}`,
  );

/**
 * If several rows declare the same username or address, the first stays. Runs before the rows are compared with the realm.
 */
export async function refuseRepeated(sql: Sql, realm: string, importId: string): Promise<void> {
  const columns: [path: string, name: Fragment][] = [
    ['username', fragment`username`],
    ['email', fragment`email`],
  ];
  for (const [path, name] of columns)
    await refuse(
      sql,
      realm,
      importId,
      fragment`select n, ${path}::text as path, 'declares ' || name || ' again: row ' || first || ' does already' as message from (
        select n, ${name} as name, min(n) over (partition by lower(${name})) as first
        from ${staging(realm, importId)} where realm_id = ${realm} and ${name} is not null and action = 'create') d
        where n > first`,
    );
}

/** Refuses rows that name a missing role, group, client role or identity provider. Runs before the rows are compared. */
export async function refuseUnknown(sql: Sql, realm: string, importId: string): Promise<void> {
  const named = (field: string, names: Fragment) =>
    fragment`select n, ${field}::text as field, ${names} as name from ${staging(realm, importId)}
      where realm_id = ${realm} and action = 'create'`;
  await refuse(
    sql,
    realm,
    importId,
    fragment`select n, field as path, 'there is no ' || kind || ' ' || name as message from (
      select n, field, name, case field when 'roles' then 'role' when 'groups' then 'group'
        when 'identities' then 'identityProvider' else 'clientRole' end as kind
      from (${named('roles', fragment`unnest(roles)`)} union all ${named('groups', fragment`unnest(groups)`)}
        union all ${named('clientRoles', fragment`unnest(client_roles)`)}
        union all ${named('identities', fragment`jsonb_array_elements(identities) ->> 'identityProvider'`)}) named
      where case field
        when 'roles' then name not in (select r.name from role r where r.realm_id = ${realm} and r.client is null)
        when 'groups' then name not in (select g.path from user_group g where g.realm_id = ${realm})
        when 'identities' then name not in (select p.alias from identity_provider p where p.realm_id = ${realm})
        else name not in (select ${clientRolePrefix(fragment`c.client_id`)} || r.name
          from role r join client c on c.realm_id = r.realm_id and c.id = r.client where r.realm_id = ${realm}) end) unknown`,
  );
}

/** Refuses rows of users that have another manager. */
export async function refuseManaged(sql: Sql, realm: string, importId: string): Promise<void> {
  await refuse(
    sql,
    realm,
    importId,
    fragment`select i.n, '' as path, 'user ' || i.username || ' is managed by ' || u.manager as message
      from ${staging(realm, importId)} i cross join lateral (${byId}) u where i.realm_id = ${realm} and i.action = 'conflict'`,
  );
}

/** Row `i` creates a user or changes its address. */
const renamed = fragment`(i.action = 'create' or i.action = 'update' and i.changes @> '[{"path": "email"}]')`;
/** Names in compatibility form (NFKC) and lower case. */
const folded = (name: Fragment) => fragment`lower(normalize(${name}, NFKC))`;

/**
 * Refuses the same names as the triggers of realm_user_names_apart: a username that looks like another user's name or
 * address.
 */
export async function refuseNamesOfOthers(sql: Sql, realm: string, importId: string): Promise<void> {
  const message = fragment`'is the address or the username of another user'`;
  const [username, email] = [fragment`i.username`, fragment`i.email`];
  const compatible = (name: Fragment) => fragment`select s.id from realm_user s where s.realm_id = i.realm_id
    and ${folded(fragment`s.username`)} = ${folded(name)} and ${folded(fragment`s.username`)} <> lower(s.username) offset 0`;
  const of = (path: string, other: Fragment) => fragment`
    select i.n, ${path}::text as path, ${message} as message from ${staging(realm, importId)} i
    cross join lateral (${other}) u where i.realm_id = ${realm} and ${renamed} and u.id <> i.id`;
  await refuse(
    sql,
    realm,
    importId,
    fragment`${of('username', byEmail(folded(username)))} union ${of('username', byUsername(folded(username)))}
      union ${of('username', compatible(username))}
      union ${of('email', byUsername(fragment`lower(${email})`))} union ${of('email', compatible(email))}`,
  );
  await refuse(
    sql,
    realm,
    importId,
    fragment`select n, path, ${message} as message from (
      select n, path, min(n) over same as first, bool_or(path = 'username') over same as apart from (
        select i.n, 'username' as path, ${folded(username)} as name from ${staging(realm, importId)} i
        where i.realm_id = ${realm} and i.action in ('create', 'update')
        union all
        select i.n, 'email', ${folded(email)} from ${staging(realm, importId)} i
        where i.realm_id = ${realm} and i.action in ('create', 'update') and i.email is not null) names
      window same as (partition by name)) x where apart and n > first`,
  );
}

/** Refuses rows whose id belongs to another user, in the realm or in an earlier row. */
export async function refuseIdsOfOthers(sql: Sql, realm: string, importId: string): Promise<void> {
  await refuse(
    sql,
    realm,
    importId,
    fragment`select i.n, 'id' as path, 'is the id of another user' as message from (
        select n, id, realm_id, min(n) over (partition by id) as first from ${staging(realm, importId)}
        where realm_id = ${realm} and action = 'create') i
      where i.n > i.first or exists (select from realm_user s where s.realm_id = i.realm_id and s.id = i.id offset 0)`,
  );
}

/**
 * Refuses rows whose subject attribute (the name of users towards applications) is another user's value or a client's name.
 */
export async function refuseSubjectsOfOthers(sql: Sql, realm: string, importId: string): Promise<void> {
  const [strategy] = await sql<{ name: string }>`
    select settings ->> 'subjectAttribute' as name from realm
    where realm_id = ${realm} and settings ->> 'subjectStrategy' = 'attribute' and settings ->> 'subjectAttribute' is not null`;
  if (!strategy) return;
  const { name } = strategy;
  await refuse(
    sql,
    realm,
    importId,
    fragment`select n, ${`attributes.${name}`}::text as path, 'is what applications know another user or a client by' as message from (
        select i.n, i.id, i.realm_id, i.subject, min(i.n) over (partition by i.subject) as first from (
          select n, id, realm_id, subject_in(attributes, ${name}) as subject from ${staging(realm, importId)}
          where realm_id = ${realm} and action in ('create', 'update')) i where i.subject is not null) x
      where n > first or exists (select from realm_user s where s.realm_id = x.realm_id and s.subject = x.subject and s.id <> x.id offset 0)
        or exists (select from client c where c.realm_id = x.realm_id and c.client_id = x.subject offset 0)`,
  );
}

/**
 * Refuses rows with an address that another user has and keeps. The user of a refused row keeps its own address, too, so
 * the row that wants that address is refused as well. No other check may run after this one.
 */
export async function refuseTakenEmails(sql: Sql, realm: string, importId: string): Promise<void> {
  await refuse(
    sql,
    realm,
    importId,
    fragment`with recursive wanted as materialized (
        select i.n, u.username as owner, o.n as giver from ${staging(realm, importId)} i
        cross join lateral (${byEmail(fragment`lower(i.email)`)}) u
        left join ${staging(realm, importId)} o on o.realm_id = ${realm} and o.id = u.id and o.action = 'update'
          and 'email' = any(o.declared)
        where i.realm_id = ${realm} and i.email is not null and i.action in ('create', 'update') and u.id <> i.id),
      kept as (
        select n, owner from wanted where giver is null
        union select w.n, w.owner from wanted w join kept k on k.n = w.giver)
      select n, 'email' as path, 'is ' || owner || '''s already' as message from kept`,
  );
}

/** The number of refused rows, and the errors of the first of them. */
export async function refusedRows(sql: Sql, realm: string, importId: string, limit: number) {
  const rows = await sql<{ n: number; errors: FieldError[]; count: number }>`
    select n, changes as errors, count(*) over () as count from ${staging(realm, importId)}
    where realm_id = ${realm} and action in ('refused', 'unreadable') order by n limit ${limit}`;
  return { count: rows[0]?.count ?? 0, first: rows.map(({ n, errors }) => ({ n, errors })) };
}

/** The first rows that were accepted, each with its action. */
export const acceptedRows = (sql: Sql, realm: string, importId: string, limit: number) =>
  sql<{ n: number; username: string; action: 'create' | 'update' | 'take' | 'same' }>`
    select n, username, action from ${staging(realm, importId)}
    where realm_id = ${realm} and action in ('create', 'update', 'take', 'same') order by n limit ${limit}`;

/**
 * The first of the import's `count` rows that are missing from the staging table, because their users were erased
 * meanwhile.
 */
export const erasedDuringImport = (
  sql: Sql,
  realm: string,
  importId: string,
  { count, limit }: { count: number; limit: number },
) =>
  sql<{ n: number }>`
    select g.n from generate_series(0, ${count}::bigint - 1) as g (n)
    where not exists (select from ${staging(realm, importId)} i where i.realm_id = ${realm} and i.n = g.n)
    order by g.n limit ${limit}`;
