// Binds the routes of contract/directory-syncs.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/directory-syncs.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, page } from '../../../http/paging.ts';
import type { Directories } from './service.ts';

export function directoryRoutes(app: FastifyInstance, directories: Directories): void {
  bind(app, api.syncDirectory, async ({ by, params: { realm, alias }, query, reply }) => {
    const sync = await directories.sync(by, realm, alias, query.kind);
    if (!directories.hasEnded(sync)) {
      const path = `/admin/realms/${realm}/user-federation/${encodeURIComponent(alias)}/syncs/${sync.id}`;
      void reply.code(202).header('location', path);
    }
    return sync;
  });
  bind(app, api.listDirectorySyncs, async ({ params: { realm, alias }, query, request, reply }) => {
    const rows = await directories.list(realm, alias, cursorId(query.cursor), query.limit + 1);
    return page({ request, reply }, rows, query.limit, (sync) => [sync.id]);
  });
  bind(app, api.getDirectorySync, ({ params: { realm, alias, syncId } }) => directories.get(realm, alias, syncId));
  bind(app, api.testUnsavedDirectory, ({ params, body }) => directories.testUnsaved(params.realm, body));
  bind(app, api.testDirectory, ({ params: { realm, alias } }) => directories.test(realm, alias));
}
