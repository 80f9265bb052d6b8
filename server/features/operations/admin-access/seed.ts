// The built-in admin roles that each realm has.
import { builtInAdminRoles } from '../../../contract/permissions.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { haveBuiltInRoles, putBuiltInRoles } from './store.ts';

const roles = Object.entries(builtInAdminRoles).map(([name, permissions]) => ({
  name,
  permissions: permissions.join(','),
}));

/** Creates missing roles, and sets this release's permissions in existing ones. */
export const refreshAdminRoles = (sql: Sql, realms: readonly string[]): Promise<void> =>
  putBuiltInRoles(sql, realms, roles);

/** Whether {@link refreshAdminRoles} would change nothing in any realm. */
export const areRolesCurrent = (sql: Sql): Promise<boolean> => haveBuiltInRoles(sql, roles);

export const seedAdminRoles = async ({ sql }: Tx, realm: string): Promise<void> => refreshAdminRoles(sql, [realm]);
