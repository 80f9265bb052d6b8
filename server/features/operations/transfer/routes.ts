// Binds the routes of contract/transfer.ts and adoption. Import reads its body as a stream and streams users' changes.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import { getAdoption, MASTER, putAdoption } from '../../../contract/realms.ts';
import {
  exportRealm,
  importRealm,
  listManagers,
  moveManagers,
  type Plan,
  releaseManager,
} from '../../../contract/transfer.ts';
import { principalOf, requirePermission } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { namesTag } from '../../../http/etag.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { RealmPart } from '../../../resource/part.ts';
import type { createExport } from './export.ts';
import type { Managers } from './managers.ts';
import type { MoveManagers } from './move.ts';
import { requireSections } from './rights.ts';
import type { Transfer, UserChanges } from './service.ts';

export function transferRoutes(
  app: FastifyInstance,
  {
    transfer,
    managers,
    move,
    exporter,
    parts,
  }: {
    transfer: Transfer;
    managers: Managers;
    move: MoveManagers;
    exporter: ReturnType<typeof createExport>;
    parts: readonly RealmPart[];
  },
): void {
  bind(app, exportRealm, async ({ params, query, by, request, reply }) => {
    const { realm } = params;
    const principal = principalOf(request);
    await transfer.auditing(
      { principal, by, realm },
      { method: 'GET', path: `/admin/realms/${realm}/export` },
      async () => {
        requireSections({ principal, realm, query: { dryRun: false } }, { planned: parts, written: [] });
        if (query.users) requirePermission(principal, realm, 'users:read');
      },
    );
    const wanted = request.headers['if-none-match'];
    // Changes of users don't raise the revision, so with users the tag proves nothing.
    const known = (revision: number) => !query.users && wanted !== undefined && namesTag(wanted, tagOf(revision));
    const { revision, body } = await exporter.export(realm, {
      withUsers: query.users,
      withDefaults: query.defaults,
      known,
    });
    void reply.header('etag', tagOf(revision));
    if (!body) return reply.code(304).send();
    void reply.type('application/json; charset=utf-8');
    return reply.serializer((payload: unknown) => String(payload)).send(body);
  });

  bind(app, listManagers, async ({ params, query, request, reply }) => {
    const [manager = '', kind = '', key = ''] = decodeCursor(query.cursor, 3) ?? [];
    const { rows, next } = await managers.list(principalOf(request), params.realm, { manager, kind, key }, query.limit);
    const { length } = rows;
    // `page` looks at whether there is a row more than the page takes.
    return page({ request, reply }, next ? [...rows, ...rows.slice(-1)] : rows, length, () =>
      next ? [next.manager, next.kind, next.key] : [],
    );
  });
  bind(app, releaseManager, async ({ params, query, by, request }) => {
    const { realm, manager } = params;
    await transfer.release({ principal: principalOf(request), by, realm, manager }, query.objects);
    return undefined;
  });
  bind(app, moveManagers, ({ body, query, by, request }) => {
    const principal = principalOf(request);
    const asked = { method: 'POST', path: moveManagers.path };
    return transfer.auditing({ principal, by, realm: MASTER }, asked, () =>
      move({ principal, by, ...body, dryRun: query.dryRun }),
    );
  });
  bind(app, getAdoption, ({ params }) => managers.adoption(params.realm));
  bind(app, putAdoption, ({ params, body, by, expect, request }) =>
    managers.allowAdoption({ principal: principalOf(request), by, expect }, params.realm, body.managers),
  );

  // This scope has its own parser: the service gets the body as a stream.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
    bind(
      scope,
      importRealm,
      async ({ params, query, by, request, reply }) => {
        const body = bodyOf(request);
        try {
          const imported = await transfer.import({
            principal: principalOf(request),
            by,
            realm: params.realm,
            body: body.iterator({ destroyOnReturn: false }),
            query,
            ifMatch: request.headers['if-match'],
            signal: untilClosed(reply),
          });
          void reply.header('etag', tagOf(imported.plan.revision));
          return imported.users ? sendPlan(reply, imported.plan, imported.users) : imported.plan;
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

/** Aborted when the response has been sent, or the client has disconnected before. */
export function untilClosed({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort(new Problem('unavailable', 'The client no longer waits for the answer')));
  return gone.signal;
}

export const tagOf = (revision: number): string => `"${revision}"`;

export function bodyOf({ body }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  throw new Problem('unsupported-media-type', 'Send the document as application/json');
}

/** Sends the plan with the users' changes after the others; then their rows are discarded. */
export async function sendPlan(reply: FastifyReply, plan: Plan, users: UserChanges): Promise<FastifyReply> {
  const lines = await users.lines();
  const body = Readable.from(json(plan, lines), { objectMode: false });
  body.once('close', () => {
    lines.destroy();
    users.discard().catch(() => {}); // the next import's janitor takes them
  });
  return reply
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => String(payload))
    .send(body);
}

async function* json({ changes, ...rest }: Plan, lines: AsyncIterable<Buffer>): AsyncGenerator<string | Buffer> {
  const head = JSON.stringify(rest);
  yield `${head.slice(0, -1)},"changes":[${changes.map((change) => JSON.stringify(change)).join(',')}`;
  // Each line begins with a comma, which is removed from the first change of all.
  let first = changes.length === 0;
  for await (const piece of lines) {
    yield first ? piece.subarray(1) : piece;
    first = false;
  }
  yield ']}';
}
