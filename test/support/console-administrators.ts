// Owns: administrators of a realm who sign in to the console with a password.
// Does not own: administrators for calls of the API (administrators.ts).
// Implements: tests of the console's permissions.
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createAdminRole } from '../../server/contract/admin-roles.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import { createUser, setPassword } from '../../server/contract/users.ts';
import type { Credentials } from './console.ts';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';

/** A user of the realm with an admin role over it. @param groups the only groups that the role is for */
export async function consoleAdministrator(
  { admin }: Pick<TestServer, 'admin'>,
  realm: string,
  username: string,
  permissions: Permission[],
  groups?: string[],
): Promise<Credentials> {
  const params = { realm };
  const user = (await admin.call(createUser, { params, body: { username } })).body;
  if (!user) throw new Error('no user was made');
  const at = { realm, userId: user.id };
  await admin.call(setPassword, { params: at, body: { password: ADMIN_PASSWORD, temporary: false } });
  await admin.call(createAdminRole, { params, body: { name: username, permissions, ...(groups && { groups }) } });
  await admin.call(putUserAdminRoles, { params: at, body: { grants: [{ role: username, realm }] } });
  return { username, password: ADMIN_PASSWORD, realm };
}
