// Owns: administrators of a test's own making, with just the permissions that the test is about.
// Does not own: other ways to create users (features/people/users), the first administrator (bootstrap).
// Implements: tests of permissions.
import type { Client } from '../../server/contract/client.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';

/** Makes a user of `home` who holds `permissions` over `target`, and signs in; the password is the administrator's. */
export async function administrator(
  server: TestServer,
  { home = 'master', target, permissions }: { home?: string; target: string; permissions: readonly Permission[] },
): Promise<Client> {
  const sql = sqlOver(server.pool);
  const [user, role] = [newId(), newId()];
  const username = `admin-${user.slice(-12)}`;
  await sql`insert into realm_user (realm_id, id, username, created_at) values (${home}, ${user}, ${username}, now())`;
  await sql`
    insert into credential (realm_id, id, user_id, type, secret, created_at)
    select ${home}, ${newId()}, ${user}, c.type, c.secret, now()
    from credential c join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
    where c.realm_id = 'master' and u.username = 'admin' and c.type = 'password'`;
  await sql`
    insert into admin_role (realm_id, id, name, permissions) values (${home}, ${role}, ${username}, ${permissions}::text[])`;
  await sql`insert into admin_grant (realm_id, role_id, user_id, target_realm) values (${home}, ${role}, ${user}, ${target})`;
  return server.signIn({ realm: home, username, password: ADMIN_PASSWORD });
}
