// Binds the routes of contract/realms.ts; features/operations/transfer binds the two of adoption.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  createRealm,
  deleteRealm,
  getEndpoints,
  getFormerRealm,
  getRealm,
  getRealmHealth,
  listRealms,
} from '../../../contract/realms.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { etagOf, namesTag } from '../../../http/etag.ts';
import { containsPattern, decodeCursor, page } from '../../../http/paging.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { RealmHealthOf } from './health.ts';
import type { Realms } from './service.ts';

export interface RealmRoutesDeps {
  realms: Realms;
  health: RealmHealthOf;
  issuer(realm: string): Promise<string>;
  baseUrl: string;
}

export function realmRoutes(app: FastifyInstance, { realms, health, issuer, baseUrl }: RealmRoutesDeps): void {
  bind(app, listRealms, async ({ query, request, reply }) => {
    const principal = principalOf(request);
    const pattern = containsPattern(query.q);
    const known = request.headers['if-none-match'];
    const isKnown = (etag: string) => {
      void reply.header('etag', etag);
      return known !== undefined && namesTag(known, etag);
    };
    if (pattern === undefined) {
      const { tag, total } = await realms.digest(principal);
      void reply.header('x-total-count', String(total));
      if (isKnown(`"${tag}"`)) return [];
    }
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await realms.list(principal, { after, limit: query.limit, pattern });
    // To find all realms that match costs more than a page of them, so a search's tag is of its page.
    if (pattern !== undefined && isKnown(etagOf(rows))) return [];
    return page({ request, reply }, rows, query.limit, (row) => [row.realm]);
  });
  const asked = ({ ip, method, url: path }: FastifyRequest) => ({ ip, method, path });
  bind(app, createRealm, ({ body, request }) => realms.createAs(principalOf(request), body, asked(request)));
  bind(app, getFormerRealm, ({ params, request }) => realms.former(principalOf(request), params.name, asked(request)));
  bind(app, getRealm, ({ params }) => realms.get(params.realm));
  bind(app, deleteRealm, async ({ by, params, expect, reply }) => {
    if (!(await realms.remove(by, params.realm, expect))) void reply.code(202);
    return undefined;
  });
  bind(app, getEndpoints, async ({ params: { realm } }) => ({
    issuer: await issuer(realm),
    ...endpointsOf(baseUrl, realm),
  }));
  bind(app, getRealmHealth, ({ params }) => health(params.realm));
}
