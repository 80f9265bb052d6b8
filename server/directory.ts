// The composition root's part for what administrators keep and resources.ts doesn't: users, roles, groups.
// It decides nothing; rules are the features'. Specification 4.10; design "Composition root".
import type { FastifyInstance } from 'fastify';
import type { Passwords } from './crypto/passwords.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Access } from './features/admin-access/service.ts';
import type { Credentials } from './features/credentials/service.ts';
import { groupRoutes } from './features/groups/routes.ts';
import { createGroups } from './features/groups/service.ts';
import { roleRoutes } from './features/roles/routes.ts';
import { createRoles } from './features/roles/service.ts';
import { userRoutes } from './features/users/routes.ts';
import { createUsers } from './features/users/service.ts';

export interface DirectoryDeps {
  sql: Sql;
  transact: Transact;
  access: Access;
  passwords: Passwords;
  credentials: Pick<Credentials, 'setPassword' | 'newPasswordFaults'>;
  now: () => Date;
  newId: () => string;
}

export function createDirectory(deps: DirectoryDeps) {
  const { sql, transact, access, passwords, credentials, now, newId } = deps;
  const roles = createRoles({ sql, transact, newId });
  const groups = createGroups({ sql, transact, newId });
  const users = createUsers({
    sql,
    transact,
    access,
    passwords,
    newPasswordFaults: credentials.newPasswordFaults,
    setPassword: credentials.setPassword,
    now,
    newId,
  });
  return {
    mount(admin: FastifyInstance): void {
      userRoutes(admin, { users, sql });
      roleRoutes(admin, { roles, sql });
      groupRoutes(admin, { groups });
    },
  };
}
