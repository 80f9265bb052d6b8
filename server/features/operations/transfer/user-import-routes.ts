// Binds the route of contract/user-import.ts, which reads its body as a stream.
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import { importUsers } from '../../../contract/user-import.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { untilClosed } from './routes.ts';
import type { UserImport } from './user-import.ts';
import { elements, lineRows } from './user-rows.ts';

const NDJSON = 'application/x-ndjson';

export function userImportRoutes(app: FastifyInstance, importRows: UserImport): void {
  // This scope has its own parser: the service gets the body as a stream.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(['application/json', NDJSON], (_request, payload, done) => done(null, payload));
    bind(
      scope,
      importUsers,
      async ({ params, query, by, request, reply }) => {
        const { body } = request;
        if (!(body instanceof Readable))
          throw new Problem('unsupported-media-type', `Send the users as application/json or ${NDJSON}`);
        const rows = request.headers['content-type']?.startsWith(NDJSON) ? lineRows : elements;
        try {
          const signal = untilClosed(reply);
          return await importRows({
            principal: principalOf(request),
            by,
            realm: params.realm,
            body: body.iterator({ destroyOnReturn: false }),
            rows: (chunks) => rows(chunks),
            signal,
            ...query,
          });
        } catch (error) {
          // The rest of the body is read and dropped, so that the answer reaches the client.
          body.resume();
          throw error;
        }
      },
      { streams: true },
    );
  });
}
