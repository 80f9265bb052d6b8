// Owns: what administrators do with a configured directory: start a sync, follow its progress, test the connection.
// Does not own: the sync itself (sync.ts).
// Implements: specification 4.2; decisions "User federation".
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { DirectorySync, DirectoryTest, testUnsavedDirectory } from '../../../contract/directory-syncs.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { describeFaults } from '../../../domain/directories.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';
import { readProfile } from '../../../domain/user-profile.ts';
import type { Resource } from '../../../resource/resource.ts';
import { DirectoryFault, type DirectoryOutbound, ldapts, withDirectory } from './connection.ts';
import { personAttributes, personOf } from './entry.ts';
import * as store from './store.ts';
import type { Syncs } from './sync.ts';
import { triedEntry } from './tried-entry.ts';

/** A sync that ends within this time is answered with its result. */
const SHORT_MS = 2_000;
const LOOK_MS = 50;
const TEST_MS = 10_000;
const SOME = 10;
const TESTS_A_MINUTE = 30;
const NIL_ID = '00000000-0000-0000-0000-000000000000';

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
  /** Directories as a resource. */
  of: Pick<Resource, 'fresh' | 'fieldsOf' | 'check'>;
  now: () => Date;
}

export function createDirectories({ sql, transact, seal, outbound, syncs, of, now }: DirectoryServiceDeps) {
  const tests = createRateLimit({ limit: TESTS_A_MINUTE, now });
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

  const directories = {
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

    test: async (realm: string, alias: string): Promise<DirectoryTest> => tried(await find(realm, alias)),

    /** Tries out settings that are not saved, by the same rules as a save. It never uses a stored password. */
    async testUnsaved(realm: string, input: z.output<typeof testUnsavedDirectory.body>): Promise<DirectoryTest> {
      const { alias } = input;
      const fields = { ...of.fresh(realm, alias), ...of.fieldsOf(input) };
      const errors = of.check?.({ key: alias, fields, path: '', changed: Object.keys(fields) }, realm) ?? [];
      if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
      const { secret = null, ...settings } = fields;
      // canonical() has written all defaults out
      return tried({ groups: null, ...settings, realm, id: NIL_ID, alias, secret } as store.Directory);
    },
  };

  async function tried(directory: store.Directory): Promise<DirectoryTest> {
    const { realm } = directory;
    const retryAfterSeconds = tests.take(realm);
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'Too many tests within a minute', { retryAfterSeconds });
    const { base, scope, filter } = directory.users;
    try {
      const entries = await withDirectory(directory, { outbound, timeoutMs: TEST_MS }, async (session) => {
        const { FilterParser } = await ldapts();
        const attributes = personAttributes(directory);
        return session.some({ base, scope, filter: FilterParser.parseString(filter), attributes }, SOME);
      });
      const profile = await readProfile(sql, realm);
      const found = entries.map((entry) => ({ entry, ...personOf(directory, entry) }));
      const shown = found.flatMap(({ entry, person }) =>
        person ? triedEntry(directory, profile, { entry, person }) : [],
      );
      return {
        ok: true,
        error: null,
        people: shown.flatMap(({ username }) => username ?? []).sort(),
        entries: shown,
        faults: found.flatMap(({ entry: { dn: entry }, person, fault }) => {
          if (person === undefined) return [{ entry, message: fault }];
          const { faults, username } = person;
          return faults.length === 0 ? [] : [{ entry, message: describeFaults(faults, username !== null) }];
        }),
      };
    } catch (error) {
      if (!(error instanceof DirectoryFault)) throw error;
      return { ok: false, error: error.message, people: [], entries: [], faults: [] };
    }
  }

  return directories;
}
export type Directories = ReturnType<typeof createDirectories>;
