// The rights that the author of a change must hold: an administrator can't give, or take over, rights that they don't hold.
// Each part says which clients a change reaches and which admin roles it gives. Decisions "Rights", "Tenancy".
import type { Permission } from '../contract/permissions.ts';
import { Problem } from '../contract/problem.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import { type Principal, permissionsIn } from '../domain/principal.ts';
import { ACCOUNT_SCOPE } from '../domain/scopes.ts';
import { joinPaths } from './items.ts';
import type { PlannedChange, RealmPart } from './part.ts';

/** Whether the principal holds every one of `permissions` over `target` (`*`: over every realm). */
export const holdsAll = (principal: Principal, target: string, permissions: readonly string[]): boolean => {
  const held: ReadonlySet<string> = permissionsIn(principal, target);
  return permissions.every((permission) => held.has(permission));
};

/** The problem `privilege-escalation`. @param paths the fields that need more permissions */
export const escalation = (what: string, paths: readonly string[] = []) =>
  new Problem('privilege-escalation', `${what} carries more than your own permissions`, {
    ...(paths.length > 0 && {
      errors: paths.map((path) => ({ path, message: 'needs more than your own permissions' })),
    }),
  });

const lacks = ({ kind, key }: PlannedChange, permissions: readonly string[]) =>
  new Problem('privilege-escalation', `The ${kind} ${key} also needs the permission ${permissions.join(' and ')}`, {
    extra: { permission: permissions[0] },
  });

/** The most fields that an error names. */
const MOST_NAMED = 20;

/** An application with the scope `account` can do in users' accounts what this permission allows. */
const AS_USERS: Permission = 'users:write';
const LENT = `the scope ${ACCOUNT_SCOPE}, by which an application acts in users’ accounts, needs the permission ${AS_USERS}`;

const mayLendAccounts = (principal: Principal, realm: string): boolean =>
  principal.registers === true || holdsAll(principal, realm, [AS_USERS]);

/**
 * @param paths the fields by which an application comes to act in users' accounts
 * @throws Problem `privilege-escalation` naming them
 */
export function refuseLending(principal: Principal, realm: string, paths: readonly string[]): void {
  if (paths.length === 0 || mayLendAccounts(principal, realm)) return;
  throw new Problem('privilege-escalation', `${paths.join(', ')}: ${LENT}`, {
    errors: paths.map((path) => ({ path, message: LENT })),
    extra: { permission: AS_USERS },
  });
}

interface GrantRow {
  holder: string;
  role: string;
  permissions: string[];
  target_realm: string;
}

/** @throws Problem `privilege-escalation` naming a client that holds more than the principal, or acts in users' accounts */
export async function refuseStronger(
  sql: Sql,
  principal: Principal,
  realm: string,
  clientIds: readonly string[],
): Promise<void> {
  if (clientIds.length === 0) return;
  const grants = await sql<GrantRow>`
    select c.client_id as holder, r.name as role, r.permissions, g.target_realm
    from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    join client c on c.realm_id = g.realm_id and c.id = g.client
    where g.realm_id = ${realm} and c.client_id = any(${clientIds}::text[])`;
  for (const grant of grants)
    if (!holdsAll(principal, grant.target_realm, grant.permissions))
      throw escalation(`The client ${grant.holder}, by its admin role ${grant.role},`);
  if (mayLendAccounts(principal, realm)) return;
  const [lent] = await sql<{ holder: string }>`
    select c.client_id as holder from client c
    join client_scope_link l on l.realm_id = c.realm_id and l.client = c.id
    join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id and s.name = ${ACCOUNT_SCOPE}
    where c.realm_id = ${realm} and c.client_id = any(${clientIds}::text[]) order by c.client_id limit 1`;
  if (lent)
    throw new Problem('privilege-escalation', `The client ${lent.holder}: ${LENT}`, {
      extra: { permission: AS_USERS },
    });
}

/** The same for the clients of a query of `client_id`. */
export async function refuseStrongerAmong(sql: Sql, principal: Principal, realm: string, clients: Fragment) {
  const named = await sql<{ client_id: string }>`${clients}`;
  const clientIds = named.map((row) => row.client_id);
  await refuseStronger(sql, principal, realm, clientIds);
}

/** @throws Problem `privilege-escalation` naming a user who holds more than the principal */
async function refuseStrongerPeople(
  sql: Sql,
  principal: Principal,
  realm: string,
  { people, changes }: { people: Fragment; changes: readonly PlannedChange[] },
): Promise<void> {
  const grants = await sql<GrantRow>`
    select u.username as holder, r.name as role, r.permissions, g.target_realm
    from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    join realm_user u on u.realm_id = g.realm_id and u.id = g.user_id
    where g.realm_id = ${realm} and g.user_id in (${people})`;
  for (const grant of grants)
    if (!holdsAll(principal, grant.target_realm, grant.permissions))
      throw escalation(
        `The user ${grant.holder}, who signs in by what it changes, by the admin role ${grant.role},`,
        changes.flatMap(({ path, fields }) => fields.map((field) => joinPaths(path, field.path))).slice(0, MOST_NAMED),
      );
}

/** @throws Problem `privilege-escalation` naming a user that holds more than the principal */
export const refuseStrongerUsers = (
  sql: Sql,
  principal: Principal,
  realm: string,
  userIds: readonly string[],
): Promise<void> =>
  refuseStrongerPeople(sql, principal, realm, { people: fragment`select unnest(${userIds}::uuid[])`, changes: [] });

/**
 * Refuses a change that reaches a client with more rights than the principal, that gives an admin role which they don't hold, or
 * that changes an admin role by permissions which they don't hold.
 * @throws Problem `privilege-escalation` naming the object
 */
export async function refuseEscalation(
  sql: Sql,
  {
    realm,
    principal,
    parts,
    changes,
  }: { realm: string; principal: Principal; parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<void> {
  const byKind = new Map(parts.map((part) => [part.kind, part]));
  const clients = new Set<string>();
  const grants: { role: string; to: string }[] = [];
  const widened = new Map<string, readonly string[]>();
  const planned = new Map<string, readonly string[]>();
  for (const change of changes) {
    const part = byKind.get(change.kind);
    for (const clientId of part?.actsAs?.(change) ?? []) clients.add(clientId);
    grants.push(...(part?.gives?.(change) ?? []));
    const lacking = (part?.needs?.(change) ?? []).filter((permission) => !holdsAll(principal, realm, [permission]));
    if (lacking.length > 0) throw lacks(change, lacking);
    const moved = part?.permissionsOf?.(change);
    // The stored role is looked up below by the name that it has now.
    if (moved) widened.set(change.renamedFrom ?? change.key, moved);
    const { permissions } = change.save;
    if (moved && Array.isArray(permissions)) planned.set(change.key, permissions.map(String));
  }
  await refuseStronger(sql, principal, realm, [...clients]);
  for (const part of parts) {
    const asksMore = part.signsInAs || part.extends || part.lendsAccounts || part.actsAsOthers;
    const own = asksMore ? changes.filter(({ kind }) => kind === part.kind) : [];
    if (own.length === 0) continue;
    const others = part.actsAsOthers?.(own, realm);
    if (others) await refuseStrongerAmong(sql, principal, realm, others);
    const people = part.signsInAs?.(own, realm);
    if (people) await refuseStrongerPeople(sql, principal, realm, { people, changes: own });
    refuseLending(principal, realm, (await part.lendsAccounts?.(sql, realm, own)) ?? []);
    const roles = part.extends?.(own, realm);
    for (const role of roles ? await sql<{ name: string; permissions: string[] }>`${roles}` : [])
      if (!holdsAll(principal, realm, role.permissions))
        throw escalation(`The admin role ${role.name}, which would count for more people,`);
  }

  const named = [...new Set([...grants.map((grant) => grant.role), ...widened.keys()])];
  if (named.length === 0) return;
  const rows = await sql<{ name: string; permissions: string[]; targets: string[] }>`
    select r.name, r.permissions, array(
      select distinct g.target_realm from admin_grant g where g.realm_id = r.realm_id and g.role_id = r.id) as targets
    from admin_role r where r.realm_id = ${realm} and r.name = any(${named}::text[])`;
  const stored = new Map(rows.map((row) => [row.name, row]));
  // All holders of the role gain or lose these permissions, in every realm that the role was granted for.
  for (const [name, moved] of widened)
    for (const target of new Set([realm, ...(stored.get(name)?.targets ?? [])]))
      if (!holdsAll(principal, target, moved)) throw escalation(`The admin role ${name}`);
  for (const { to, role } of grants)
    if (!holdsAll(principal, realm, planned.get(role) ?? stored.get(role)?.permissions ?? []))
      throw escalation(`The admin role ${role} for the client ${to}`);
}
