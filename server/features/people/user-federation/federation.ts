// Composes sign-in by user directories, their syncs, and the writing of their users and groups. Specification 4.2.
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Queue } from '../../../jobs/queue.ts';
import { groupsResource } from '../groups/resource.ts';
import { createFromDirectory } from '../users/from-directory.ts';
import { createDirectoryGroups } from './groups.ts';
import { createDirectorySource } from './sign-in.ts';
import { createSyncs } from './sync.ts';

export interface FederationDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  passwords: Passwords;
  outbound: Pick<Outbound, 'connect' | 'secureContext'>;
  enqueue: Queue['enqueue'];
  log(message: string): void;
  now: () => Date;
  newId: () => string;
}

export function createFederation(deps: FederationDeps) {
  const people = createFromDirectory(deps);
  const groups = createDirectoryGroups({ groups: groupsResource(deps), people, newId: deps.newId });
  const syncs = createSyncs({ ...deps, people, groups });
  const source = createDirectorySource({ ...deps, people, groups });
  return {
    source,
    jobs: syncs.jobs,
    drop: source.drop,
    syncs,
  };
}
