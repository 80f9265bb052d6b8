// Owns: waiting for syncs with a directory.
// Does not own: the directory (slapd.ts).
import { expect } from 'vitest';
import { type DirectorySync, getDirectorySync, syncDirectory } from '../../server/contract/directory-syncs.ts';
import { eventually } from './operator.ts';
import type { TestServer } from './server.ts';

type Server = Pick<TestServer, 'admin'>;

/** The sync, once it has ended. */
export const endedSync = (
  server: Server,
  realm: string,
  alias: string,
  syncId: string,
  patienceMs = 60_000,
): Promise<DirectorySync> =>
  eventually(async () => {
    const { body } = await server.admin.call(getDirectorySync, { params: { realm, alias, syncId } });
    expect(body?.state).toMatch(/^(done|failed)$/);
    if (!body) throw new Error('there is no such sync');
    return body;
  }, patienceMs);

export async function syncedWith(
  server: Server,
  realm: string,
  alias: string,
  kind: 'full' | 'changed' = 'full',
  patienceMs?: number,
): Promise<DirectorySync> {
  const { body } = await server.admin.call(syncDirectory, { params: { realm, alias }, query: { kind } });
  return endedSync(server, realm, alias, body?.id ?? '', patienceMs);
}
