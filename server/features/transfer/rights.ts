// What the importer must hold: each section's permissions, and more than what it gives or takes over.
// Pure but for one query of who holds admin grants. Decisions "Import, export, plan" (Rights), "Tenancy".
import type { Permission } from '../../contract/permissions.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import { strings } from '../../http/document.ts';
import { may, type Principal } from '../../http/principal.ts';
import type { Section } from './document.ts';
import type { Fields, RealmPart } from './part.ts';
import type { PlannedChange } from './plan.ts';

/** Whether the principal holds every one of `permissions` over `target` (`*`: over every realm). */
export const holdsAll = (principal: Principal, target: string, permissions: readonly string[]): boolean => {
  const held: ReadonlySet<string> | undefined =
    target === '*'
      ? principal.permissions.get('*')
      : new Set([...(principal.permissions.get(target) ?? []), ...(principal.permissions.get('*') ?? [])]);
  return permissions.every((p) => held?.has(p) ?? false);
};

/** @throws Problem `forbidden` naming the first missing permission */
export function requirePermission(principal: Principal, realm: string, permission: Permission): void {
  if (!may(principal, realm, permission))
    throw new Problem('forbidden', `This needs the permission ${permission} in the realm ${realm}`, {
      extra: { permission },
    });
}

/** Reading what is declared (the plan shows it), writing what changes. */
export function requireSections(
  principal: Principal,
  realm: string,
  { declared, written }: { declared: readonly RealmPart[]; written: readonly RealmPart[] },
): void {
  for (const part of declared) requirePermission(principal, realm, `${part.area}:read`);
  for (const part of written) requirePermission(principal, realm, `${part.area}:write`);
}

export const escalation = (what: string) =>
  new Problem('privilege-escalation', `${what} carries more than your own permissions`);

interface GrantRow {
  holder: string;
  role: string;
  permissions: string[];
  target_realm: string;
}

/** Clients whose credentials or reach a change would put into other hands. */
function clientsTouched(changes: readonly PlannedChange[]): Set<string> {
  const out = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'client' || change.kind === 'serviceAccountRoles') out.add(change.key);
    if (change.kind !== 'workloadIdentity') continue;
    const { clientId } = change.save;
    if (typeof clientId === 'string') out.add(clientId);
    for (const { path, from } of change.fields) if (path === 'clientId' && typeof from === 'string') out.add(from);
  }
  return out;
}

/**
 * Refuses to have the secret of a stronger client compared: what a plan holds would tell who declares it whether they
 * guessed right.
 * @throws Problem `privilege-escalation` naming the client, whether or not the secret is the same
 */
export const refuseGuesses = (
  sql: Sql,
  principal: Principal,
  realm: string,
  sections: readonly Section[],
): Promise<void> => {
  const clients = sections
    .filter(({ part }) => part.kind === 'client')
    .flatMap(({ items }) => items.filter(({ fields }) => typeof fields.secret === 'string').map(({ key }) => key));
  return clients.length === 0 ? Promise.resolve() : refuseStronger(sql, principal, { realm, clients, cut: [] });
};

/** The clients, and those that the workload identities `cut` act for, must hold no more than the principal. */
async function refuseStronger(
  sql: Sql,
  principal: Principal,
  { realm, clients, cut }: { realm: string; clients: readonly string[]; cut: readonly string[] },
): Promise<void> {
  const grants = await sql<GrantRow>`
    select c.client_id as holder, r.name as role, r.permissions, g.target_realm
    from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    join client c on c.realm_id = g.realm_id and c.id = g.client
    where g.realm_id = ${realm} and (c.client_id = any(${clients}::text[]) or c.client_id in (
      select w.client_id from workload_identity w where w.realm_id = ${realm} and w.name = any(${cut}::text[])))`;
  for (const grant of grants)
    if (!holdsAll(principal, grant.target_realm, grant.permissions))
      throw escalation(`The client ${grant.holder}, by its admin role ${grant.role},`);
}

/** Admin roles that a change gives to a service account. */
const given = (changes: readonly PlannedChange[]): { to: string; role: string }[] =>
  changes
    .filter((c) => c.kind === 'serviceAccountRoles')
    .flatMap((c) => strings(field(c.save, 'adminRoles')).map((role) => ({ to: c.key, role })));
const field = (fields: Fields, name: string): unknown => fields[name];

/**
 * Nobody can give, or take over, what they do not hold: admin roles, service accounts that hold some, workload
 * identities that act for such a client.
 * @throws Problem `privilege-escalation` naming the object
 */
export async function refuseEscalation(
  sql: Sql,
  principal: Principal,
  realm: string,
  changes: readonly PlannedChange[],
): Promise<void> {
  const roleChanges = changes.filter((c) => c.kind === 'adminRole');
  const clients = [...clientsTouched(changes)];
  const gifts = given(changes);
  // A deletion doesn't say whose it was.
  const cut = changes.filter((c) => c.kind === 'workloadIdentity' && c.action === 'delete').map((c) => c.key);
  if (roleChanges.length === 0 && clients.length === 0 && cut.length === 0) return;

  await refuseStronger(sql, principal, { realm, clients, cut });

  const named = [...new Set([...gifts.map((g) => g.role), ...roleChanges.map((c) => c.key)])];
  if (named.length === 0) return;
  const roles = await sql<{ name: string; permissions: string[]; targets: string[] }>`
    select r.name, r.permissions, array(
      select distinct g.target_realm from admin_grant g where g.realm_id = r.realm_id and g.role_id = r.id) as targets
    from admin_role r where r.realm_id = ${realm} and r.name = any(${named}::text[])`;
  const stored = new Map(roles.map((r) => [r.name, r]));
  const planned = new Map(roleChanges.map((c) => [c.key, strings(field(c.save, 'permissions'))]));
  for (const change of roleChanges) {
    const role = stored.get(change.key);
    const permissions = [...(planned.get(change.key) ?? []), ...(role?.permissions ?? [])];
    for (const target of new Set([realm, ...(role?.targets ?? [])]))
      if (!holdsAll(principal, target, permissions)) throw escalation(`The admin role ${change.key}`);
  }
  for (const { to, role } of gifts) {
    const permissions = planned.get(role) ?? stored.get(role)?.permissions ?? [];
    if (!holdsAll(principal, realm, permissions)) throw escalation(`The admin role ${role} for the client ${to}`);
  }
}
