// SQL of the ties of imported users: roles, groups, credentials and identities. import-store.ts writes the users' own rows.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { staging } from '../../../db/staging.ts';
import { clientRolePrefix } from '../../../resource/items.ts';
import type { Declares } from './document-user.ts';
import { type OfImport, onlyImportedUsers } from './import-lookups.ts';

export interface Tying {
  at: Date;
  many: boolean;
  declares: Declares;
  has(action: string): boolean;
}

// Lookups of roles and groups by their keys, as subqueries that leave the planner no choice. Just after an import its
// statistics show hardly any roles and groups, and a join would read all of them for each user.
/** The realm role of `ur`; null for a client role. */
export const roleName = fragment`select case when r.client is null then r.name end from role r
  where r.realm_id = ur.realm_id and r.id = ur.role_id`;
const clientOfRole = fragment`(select c.client_id from client c where c.realm_id = r.realm_id and c.id = r.client)`;
/** The client role of `ur` in the form of clientRoleKey; null for a realm role. */
export const clientRoleName = fragment`select ${clientRolePrefix(clientOfRole)} || r.name
  from role r where r.realm_id = ur.realm_id and r.id = ur.role_id`;
/** The group of `m`. */
export const groupPath = fragment`select g.path from user_group g where g.realm_id = m.realm_id and g.id = m.group_id`;

/** The name that `what` gives exists and is none of these. */
export const isOther = (what: Fragment, these: Fragment) =>
  fragment`(select name is not null and name <> all(${these}) from (${what}) named (name))`;

/** Types of declared credentials that the user has none of. An existing credential is never replaced. */
export const newCredentials = fragment`(select jsonb_agg(k.type) from (select distinct x.type from jsonb_to_recordset(i.credentials) as x (type text)
  where not exists (select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = x.type)) k)`;
/** Aliases of providers with a declared identity that no user has yet. */
export const newIdentities = (realm: string) => fragment`(select jsonb_agg(k.alias) from (
  select distinct x."identityProvider" as alias from jsonb_to_recordset(i.identities) as x ("identityProvider" text, digest text)
  where not exists (select from identity_link l join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
    where l.realm_id = ${realm} and p.alias = x."identityProvider" and l.subject_digest = decode(x.digest, 'hex'))) k)`;
export interface NewCredential {
  id: string;
  user_id: string;
  type: 'password' | 'otp';
  temporary: boolean;
}
export interface NewIdentity {
  id: string;
  user_id: string;
  alias: string;
}
/** The credentials and identities that existing users gain by the import. */
export interface NewProofs {
  credentials: NewCredential[];
  identities: NewIdentity[];
}

/**
 * Writes roles, groups, credentials and identities of the created and updated users. @returns the new proofs of the updated
 * ones
 */
export async function mergeTies(
  sql: Sql,
  realm: string,
  importId: string,
  { at, declares, many, has }: Tying,
): Promise<NewProofs> {
  const of = { realm, importId, many };
  await mergeRoles(sql, of, declares, has);
  if (declares.groups) await mergeGroups(sql, of, has);
  return {
    credentials: declares.credentials ? await mergeCredentials(sql, realm, importId, at) : [],
    identities: declares.identities ? await mergeIdentities(sql, realm, importId, at) : [],
  };
}

/** The identities count as used: a user known by them at the provider is not new here. */
const mergeIdentities = (sql: Sql, realm: string, importId: string, at: Date) =>
  sql<NewIdentity>`
    with made as (
      insert into identity_link (realm_id, id, user_id, provider_id, issuer, subject, subject_digest, name, created_at, last_used_at)
      select ${realm}, x.id, i.id, p.id, x.issuer, x.subject, decode(x.digest, 'hex'), x.name, ${at}::timestamptz, ${at}::timestamptz
      from ${staging(realm, importId)} i
      cross join lateral jsonb_to_recordset(i.identities) as x
        (id uuid, "identityProvider" text, issuer text, subject text, digest text, name text)
      join identity_provider p on p.realm_id = ${realm} and p.alias = x."identityProvider"
      where i.realm_id = ${realm} and i.action in ('create', 'update')
      on conflict do nothing returning id, user_id, provider_id
    )
    select m.id, m.user_id, p.alias from made m
    join ${staging(realm, importId)} i on i.realm_id = ${realm} and i.id = m.user_id and i.action = 'update'
    join identity_provider p on p.realm_id = ${realm} and p.id = m.provider_id
    order by i.n, p.alias, m.id`;

const mergeCredentials = (sql: Sql, realm: string, importId: string, at: Date) =>
  sql<NewCredential>`
    with made as (
      insert into credential (realm_id, id, user_id, type, label, secret, created_at)
      select distinct on (i.id, x.type, case when x.type = 'password' then null else x.id end)
        ${realm}, x.id, i.id, x.type, x.label, x.secret, ${at}::timestamptz
      from ${staging(realm, importId)} i, jsonb_to_recordset(i.credentials) as x (id uuid, type text, label text, secret jsonb)
      where i.realm_id = ${realm} and i.action in ('create', 'update')
        and not exists (select from credential c where c.realm_id = ${realm} and c.user_id = i.id and c.type = x.type offset 0)
      returning id, user_id, type, coalesce((secret ->> 'temporary')::boolean, false) as temporary
    )
    select m.* from made m join ${staging(realm, importId)} i on i.realm_id = ${realm} and i.id = m.user_id and i.action = 'update'
    order by i.n, m.type, m.id`;

async function mergeRoles(sql: Sql, of: OfImport, declares: Declares, has: Tying['has']): Promise<void> {
  const { realm, importId } = of;
  const theirs = onlyImportedUsers(fragment`ur.user_id`, of);
  if (declares.roles && has('update'))
    await sql`
      delete from user_role ur using ${staging(realm, importId)} i
      where i.realm_id = ${realm} and i.action = 'update' and i.roles is not null and ur.realm_id = ${realm} and ur.user_id = i.id
        and ${isOther(roleName, fragment`i.roles`)} ${theirs}`;
  if (declares.clientRoles && has('update'))
    await sql`
      delete from user_role ur using ${staging(realm, importId)} i
      where i.realm_id = ${realm} and i.action = 'update' and i.client_roles is not null and ur.realm_id = ${realm}
        and ur.user_id = i.id and ${isOther(clientRoleName, fragment`i.client_roles`)} ${theirs}`;
  if (declares.roles)
    await sql`
      insert into user_role (realm_id, user_id, role_id)
      select ${realm}, i.id, r.id from ${staging(realm, importId)} i cross join lateral unnest(i.roles) as n (name)
      join role r on r.realm_id = ${realm} and r.client is null and r.name = n.name
      where i.realm_id = ${realm} and i.action in ('create', 'update') on conflict do nothing`;
  if (declares.clientRoles)
    await sql`
      insert into user_role (realm_id, user_id, role_id)
      select ${realm}, id, role_id from (
        select i.id, (
          select r.id from role r where r.realm_id = ${realm} and r.name = substr(n.name, strpos(n.name, '/') + 1) and r.client = (
            select c.id from client c where c.realm_id = ${realm}
              and c.client_id = replace(replace(split_part(n.name, '/', 1), '%2F', '/'), '%25', '%'))) as role_id
        from ${staging(realm, importId)} i cross join lateral unnest(i.client_roles) as n (name)
        where i.realm_id = ${realm} and i.action in ('create', 'update')) tied
      where role_id is not null on conflict do nothing`;
}

async function mergeGroups(sql: Sql, of: OfImport, has: Tying['has']): Promise<void> {
  const { realm, importId } = of;
  if (has('update'))
    await sql`
    delete from group_member m using ${staging(realm, importId)} i
    where i.realm_id = ${realm} and i.action = 'update' and i.groups is not null and m.realm_id = ${realm} and m.user_id = i.id
      and ${isOther(groupPath, fragment`i.groups`)} ${onlyImportedUsers(fragment`m.user_id`, of)}`;
  await sql`
    insert into group_member (realm_id, group_id, user_id)
    select ${realm}, g.id, i.id from ${staging(realm, importId)} i cross join lateral unnest(i.groups) as n (path)
    join user_group g on g.realm_id = ${realm} and g.path = n.path
    where i.realm_id = ${realm} and i.action in ('create', 'update') on conflict do nothing`;
}
