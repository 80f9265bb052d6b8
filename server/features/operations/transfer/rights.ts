// The permissions that an importer needs: each section's, and those of the principals whose secrets are compared.
// resource/rights.ts checks what the changes grant or take over. Decisions "Import, export, plan" (Rights), "Tenancy".
import type { Area, Permission } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { hasPermission, type Principal, permissionsIn, requirePermission } from '../../../domain/principal.ts';
import type { RealmPart, Section } from '../../../resource/part.ts';
import { refuseStronger } from '../../../resource/rights.ts';

/**
 * Checked before anything is read: a caller without any permission here learns nothing, not even whether the realm
 * exists.
 * @throws Problem `forbidden`
 */
export function requireAny(principal: Principal, realm: string): void {
  if (permissionsIn(principal, realm).size === 0)
    throw new Problem('forbidden', `You hold no permission in the realm ${realm}`);
}

const OPERATORS = 'k8s:';
/** Folds case: users read names, which are ASCII (ManagerName), without regard to case. */
const lower = (name: string) => name.toLowerCase();

/**
 * Managers' names are global. Names of the operator are reserved for principals that manage every realm as it does, so that
 * an administrator of one realm can't use them to change the operator's objects.
 * @throws Problem `forbidden`
 */
export function requireManager(principal: Principal, manager: string, reserved: readonly string[]): void {
  const prefix = [OPERATORS, ...reserved].find((one) => lower(manager).startsWith(lower(one)));
  if (prefix !== undefined && !hasPermission(principal, '*', 'managers:write'))
    throw new Problem('forbidden', `Managers named ${prefix}… need the permission managers:write over every realm`, {
      extra: { permission: 'managers:write' },
    });
}

/** The permissions of one import. */
export interface Rights {
  /** A plan may show stored values of the section. */
  read(area: Area): boolean;
  write(area: Area): boolean;
  /** The section may be planned: by read permission, or in a dry run by `realm:plan`, which covers no users. */
  plan(area: Area): boolean;
}

export function rightsOf({ principal, realm, query: { dryRun } }: Importing): Rights {
  const holds = (permission: Permission) => hasPermission(principal, realm, permission);
  const read = (area: Area) => holds(`${area}:read`);
  return {
    read,
    write: (area) => holds(`${area}:write`),
    plan: (area) => read(area) || (dryRun && area !== 'users' && holds('realm:plan')),
  };
}
interface Importing {
  principal: Principal;
  realm: string;
  query: { dryRun: boolean };
}

/**
 * Requires the permission to plan for declared and touched sections, and to write for changed ones unless nothing is
 * written.
 */
export function requireSections(
  asked: Importing,
  { planned, written }: { planned: readonly RealmPart[]; written: readonly RealmPart[] },
): void {
  const { principal, realm, query } = asked;
  const { plan } = rightsOf(asked);
  const touched = query.dryRun ? [...planned, ...written] : planned;
  for (const { area } of touched) if (!plan(area)) requirePermission(principal, realm, `${area}:read`);
  if (query.dryRun) return;
  for (const { area } of written) requirePermission(principal, realm, `${area}:write`);
}

/**
 * Refuses to compare the secret of a client with more permissions: the plan would tell the importer whether a guess was
 * right.
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
  return refuseStronger(sql, principal, realm, clients);
};
