// Mounts the routes of client scopes beyond every resource's: adding and removing one claim.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/client-scopes.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Caller, ResourceApi } from '../../../resource/api.ts';
import { strings } from '../../../resource/items.ts';
import type { Resource } from '../../../resource/resource.ts';

export function clientScopeRoutes(
  app: FastifyInstance,
  { api: resources, scopes, claims }: { api: ResourceApi; scopes: Resource; claims: Resource },
): void {
  const change = async (
    caller: Caller,
    { realm, scopeId: id, claimId }: { realm: string; scopeId: string; claimId: string },
    to: (names: readonly string[], name: string) => string[],
  ) => {
    const { key } = await resources.get(claims, realm, { id: claimId });
    await resources.edit({ of: scopes, part: scopes }, caller, realm, { id }, ({ claims: names }) => ({
      claims: to(strings(names), key),
    }));
    return api.ClientScope.parse(scopes.toWire(realm, await resources.get(scopes, realm, { id })));
  };
  bind(app, api.addClaimToScope, ({ params, by, expect, request }) =>
    change({ principal: principalOf(request), by, expect }, params, (names, name) => [...names, name]),
  );
  bind(app, api.removeClaimFromScope, async ({ params, by, expect, request }) => {
    const without = (names: readonly string[], name: string) => names.filter((other) => other !== name);
    await change({ principal: principalOf(request), by, expect }, params, without);
    return undefined;
  });
}
