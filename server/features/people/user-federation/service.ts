// Owns: what administrators do with a configured directory: start a sync, follow its progress, test the connection.
// Does not own: the sync itself (sync.ts).
// Implements: specification 4.2; decisions "User federation".
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectorySync, DirectoryTest } from '../../../contract/directory-syncs.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { describeFaults } from '../../../domain/directories.ts';
import { DirectoryFault, type DirectoryOutbound, ldapts, withDirectory } from './connection.ts';
import { personAttributes, personOf } from './entry.ts';
import * as store from './store.ts';
import type { Syncs } from './sync.ts';

/** A sync that ends within this time is answered with its result. */
const SHORT_MS = 2_000;
const LOOK_MS = 50;
const TEST_MS = 10_000;
const SOME = 10;

const missing = () => new Problem('not-found', 'There is no such directory or sync');
const wireOf = ({ created_at, started_at, finished_at, ...row }: store.SyncRow): DirectorySync => ({
  ...row,
  created: created_at.getTime(),
  started: started_at?.getTime() ?? null,
  finished: finished_at?.getTime() ?? null,
});
const hasEnded = ({ state }: Pick<DirectorySync, 'state'>): boolean => state === 'done' || state === 'failed';

export interface DirectoryServiceDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  outbound: DirectoryOutbound;
  syncs: Pick<Syncs, 'begin'>;
}

export function createDirectories({ sql, transact, seal, outbound, syncs }: DirectoryServiceDeps) {
  async function find(realm: string, alias: string): Promise<store.Directory> {
    const [directory] = await store.directories(sql, seal, realm, fragment`alias = ${alias}`);
    if (!directory) throw missing();
    return directory;
  }
  async function read(realm: string, directoryId: string, id: string): Promise<DirectorySync> {
    const row = await store.sync(sql, realm, directoryId, id);
    if (!row) throw missing();
    return wireOf(row);
  }

  return {
    async sync(by: By, realm: string, alias: string, kind: store.SyncKind = 'full'): Promise<DirectorySync> {
      const directory = await find(realm, alias);
      if (!directory.enabled) throw new Problem('wrong-state', 'The directory is disabled');
      const begun = await transact(realm, (tx) => syncs.begin(tx, by, directory, kind));
      if (!begun) throw missing();
      let sync = wireOf(begun);
      for (let waited = 0; !hasEnded(sync) && waited < SHORT_MS; waited += LOOK_MS) {
        await sleep(LOOK_MS);
        sync = await read(realm, directory.id, begun.id);
      }
      return sync;
    },
    hasEnded,
    async list(realm: string, alias: string, before: string | undefined, limit: number): Promise<DirectorySync[]> {
      const { id } = await find(realm, alias);
      return (await store.syncs(sql, realm, id, { before, limit })).map(wireOf);
    },
    async get(realm: string, alias: string, id: string): Promise<DirectorySync> {
      return read(realm, (await find(realm, alias)).id, id);
    },

    async test(realm: string, alias: string): Promise<DirectoryTest> {
      const directory = await find(realm, alias);
      const { base, scope, filter } = directory.users;
      try {
        const entries = await withDirectory(directory, { outbound, timeoutMs: TEST_MS }, async (session) => {
          const { FilterParser } = await ldapts();
          const attributes = personAttributes(directory);
          return session.some({ base, scope, filter: FilterParser.parseString(filter), attributes }, SOME);
        });
        const found = entries.map((entry) => ({ entry: entry.dn, ...personOf(directory, entry) }));
        return {
          ok: true,
          error: null,
          people: found.flatMap(({ person }) => person?.username ?? []).sort(),
          faults: found.flatMap(({ entry, person, fault }) => {
            if (person === undefined) return [{ entry, message: fault }];
            const { faults, username } = person;
            return faults.length === 0 ? [] : [{ entry, message: describeFaults(faults, username !== null) }];
          }),
        };
      } catch (error) {
        if (!(error instanceof DirectoryFault)) throw error;
        return { ok: false, error: error.message, people: [], faults: [] };
      }
    },
  };
}
export type Directories = ReturnType<typeof createDirectories>;
