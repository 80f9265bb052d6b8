// Binds the routes of contract/sharing.ts, on the account surface.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/sharing.ts';
import { holderOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Sharing } from './sharing.ts';

export function sharingRoutes(app: FastifyInstance, sharing: Sharing): void {
  bind(app, api.listOwnResources, ({ params, request }) => sharing.mine(params.realm, holderOf(request)));
  bind(app, api.listReceivedShares, ({ params, request }) => sharing.received(params.realm, holderOf(request)));
  bind(app, api.createShare, ({ by, params, body, request }) =>
    sharing.share(by, params.realm, holderOf(request), body),
  );
  bind(app, api.putShare, ({ by, params, body, request }) =>
    sharing.answer(by, params.realm, holderOf(request), params.id, body.scopes),
  );
  bind(app, api.deleteShare, async ({ by, params, request }) => {
    await sharing.end(by, params.realm, holderOf(request), params.id);
    return undefined;
  });
}
