// Refuses a plan for master that would leave no administrator, before anything is written, so that a dry run is refused
// too. domain/administrators.ts defines which users are administrators.
import { MASTER } from '../../../contract/realms.ts';
import type { Fragment, Sql } from '../../../db/sql.ts';
import { administratorToKeep, KEPT_ADMINISTRATOR, refuseLastAdministrator } from '../../../domain/administrators.ts';
import { strings } from '../../../resource/items.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import { asides, deletedOrDisabledUserIds as leavingRows } from '../../people/users/import-store.ts';

/** @param leaving a query for the ids of users whom the plan deletes or disables */
export async function refuseWithoutAdministrator(
  sql: Sql,
  realm: string,
  { changes, leaving }: { changes: readonly PlannedChange[]; leaving?: Fragment | undefined },
): Promise<void> {
  if (realm !== MASTER) return;
  const of = (kind: string) => changes.filter((change) => change.kind === kind && change.action !== 'create');
  const roles = of('adminRole').map(({ key, action, save: { permissions, groups, clients } }) => {
    const isLimited = Array.isArray(groups) || Array.isArray(clients);
    return { name: key, permissions: action === 'delete' || isLimited ? [] : strings(permissions) };
  });
  const off = (kind: string) =>
    of(kind)
      .filter(({ action, save }) => action === 'delete' || save.enabled === false)
      .map(({ key, renamedFrom }) => renamedFrom ?? key);
  const [providers, directories] = [off('identityProvider'), off('directory')];
  if (leaving || roles.length + providers.length + directories.length > 0)
    await refuseLastAdministrator(sql, { leaving, roles, providers, directories });
}

/**
 * For rows that are checked one by one: sets aside the row that would disable the last administrator, and keeps the
 * others.
 */
export async function setLastAdministratorAside(sql: Sql, realm: string, importId: string): Promise<void> {
  if (realm !== MASTER) return;
  const those = leavingRows(realm, importId);
  const [any] = await sql`${those} limit 1`;
  const id = any && (await administratorToKeep(sql, those));
  if (id !== undefined)
    await asides.refuseUser(sql, realm, importId, { id, path: 'enabled', message: KEPT_ADMINISTRATOR });
}
