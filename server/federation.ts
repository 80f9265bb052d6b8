// The composition root's part for directories of people: signing in by them, syncs, what administrators do with them.
// It decides nothing. Specification 4.2.
import type { FastifyInstance } from 'fastify';
import type { Passwords } from './crypto/passwords.ts';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Credentials } from './features/people/credentials/service.ts';
import { createGroupResource } from './features/people/groups/resource.ts';
import { createDirectoryGroups } from './features/people/user-federation/groups.ts';
import { directoryRoutes } from './features/people/user-federation/routes.ts';
import { createDirectories } from './features/people/user-federation/service.ts';
import { createDirectorySource } from './features/people/user-federation/sign-in.ts';
import { createSyncs } from './features/people/user-federation/sync.ts';
import { createFromDirectory } from './features/people/users/from-directory.ts';
import type { Outbound } from './http/outbound.ts';
import type { Queue } from './jobs/queue.ts';

export interface FederationDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  passwords: () => Passwords;
  outbound: Pick<Outbound, 'connect' | 'secureContext'>;
  enqueue: Queue['enqueue'];
  passwordsChanged: Credentials['passwordsChanged'];
  log(message: string): void;
  now: () => Date;
  newId: () => string;
}

export function createFederation(deps: FederationDeps) {
  const people = createFromDirectory(deps);
  const groups = createDirectoryGroups({ groups: createGroupResource(deps), people, newId: deps.newId });
  const syncs = createSyncs({ ...deps, people, groups });
  const source = createDirectorySource({ ...deps, people, groups });
  return {
    source,
    jobs: syncs.jobs,
    drop: source.drop,
    mount: (admin: FastifyInstance): void => directoryRoutes(admin, createDirectories({ ...deps, syncs })),
  };
}
export type Federation = ReturnType<typeof createFederation>;
