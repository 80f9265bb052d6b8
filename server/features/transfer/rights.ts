// What the importer must hold: each section's permissions, and as much as those whose secrets it would have compared.
// What the changes give or take over is resource/rights.ts's. Decisions "Import, export, plan" (Rights), "Tenancy".
import type { Permission } from '../../contract/permissions.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import { may, type Principal } from '../../domain/principal.ts';
import type { RealmPart } from '../../resource/part.ts';
import { refuseStronger } from '../../resource/rights.ts';
import type { Section } from './document.ts';

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
  return refuseStronger(sql, principal, realm, clients);
};
