// SQL of service accounts' roles: the realm's, clients' and admin roles. Each statement takes many accounts as one JSON
// array.
import { fragment, type Sql } from '../../../db/sql.ts';
import { clientRolePrefix } from '../../../resource/items.ts';

/** `client_roles`: keys in the form of clientRoleKey. */
export interface AccountRow {
  id: string;
  client_id: string;
  roles: string[];
  client_roles: string[] | null;
  admin_roles: string[];
}

export const readAccounts = (sql: Sql, realm: string, only: readonly string[] | null): Promise<AccountRow[]> =>
  sql<AccountRow>`
    select c.id, c.client_id,
      array(select r.name from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
        where cr.realm_id = c.realm_id and cr.client = c.id and r.client is null) as roles,
      array(select ${clientRolePrefix(fragment`rc.client_id`)} || r.name
        from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
        join client rc on rc.realm_id = r.realm_id and rc.id = r.client
        where cr.realm_id = c.realm_id and cr.client = c.id) as client_roles,
      array(select a.name from admin_grant g join admin_role a on a.realm_id = g.realm_id and a.id = g.role_id
        where g.realm_id = c.realm_id and g.client = c.id and g.target_realm = c.realm_id) as admin_roles
    from client c
    where c.realm_id = ${realm} and (${only}::text[] is null or c.client_id = any(${only}::text[]))`;

/** Replaces the service accounts' realm and client roles. */
export async function setAccountRoles(sql: Sql, realm: string, accounts: string): Promise<void> {
  await sql`
    with account as (
      select c.id, x.roles, x."clientRoles" from client c
      join jsonb_to_recordset(${accounts}::jsonb) as x ("clientId" text, roles text[], "clientRoles" jsonb) on x."clientId" = c.client_id
      where c.realm_id = ${realm}
    ), wanted as (
      select a.id as client, r.id as role_id from account a
      join role r on r.realm_id = ${realm} and r.client is null and r.name = any(a.roles)
      union
      select a.id, r.id from account a, jsonb_to_recordset(a."clientRoles") as k ("clientId" text, role text)
      join client kc on kc.realm_id = ${realm} and kc.client_id = k."clientId"
      join role r on r.realm_id = ${realm} and r.client = kc.id and r.name = k.role
    ), dropped as (
      delete from client_role cr using account a where cr.realm_id = ${realm} and cr.client = a.id
        and not exists (select from wanted w where w.client = cr.client and w.role_id = cr.role_id)
    )
    insert into client_role (realm_id, client, role_id) select ${realm}, client, role_id from wanted on conflict do nothing`;
}

/** Replaces the service accounts' admin roles over this realm. */
export async function setAccountAdminRoles(sql: Sql, realm: string, accounts: string): Promise<void> {
  await sql`
    with account as (
      select c.id, x."adminRoles" from client c
      join jsonb_to_recordset(${accounts}::jsonb) as x ("clientId" text, "adminRoles" text[]) on x."clientId" = c.client_id
      where c.realm_id = ${realm}
    ), wanted as (
      select a.id as client, r.id as role_id from account a
      join admin_role r on r.realm_id = ${realm} and r.name = any(a."adminRoles")
    ), dropped as (
      delete from admin_grant g using account a where g.realm_id = ${realm} and g.client = a.id and g.target_realm = ${realm}
        and not exists (select from wanted w where w.client = g.client and w.role_id = g.role_id)
    )
    insert into admin_grant (realm_id, role_id, client, target_realm) select ${realm}, role_id, client, ${realm} from wanted
    on conflict do nothing`;
}

/** Locks the admin roles with these names, so that their permissions stay the same until the transaction ends. */
export async function holdAdminRoles(sql: Sql, realm: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await sql`
    select id from admin_role where realm_id = ${realm} and name = any(${names}::text[]) order by id for share`;
}
