// The way over a provider as somebody signs out, and where it says that a session of its has ended.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../contract/problem.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { sendOnward } from '../../http/self-posting.ts';
import type { UpstreamLogout } from './logout.ts';

const Params = z.object({ realm: z.string(), alias: z.string().max(255) });
const Text = z.string().max(16_000).catch('');

export function upstreamLogoutRoutes(
  app: FastifyInstance,
  {
    logout,
    settings,
  }: { logout: UpstreamLogout; settings: { of(realm: string): Promise<RealmSettingsDto | undefined> } },
): void {
  const path = '/realms/:realm/broker/:alias/endpoint';
  const homeOf = (realm: string): string => `/realms/${realm}/login?for=account`;
  async function realmOf(params: unknown) {
    const { realm, alias } = Params.parse(params);
    const brand = await settings.of(realm);
    if (!brand) throw new Problem('not-found', 'There is no such realm here.');
    return { realm, alias, brand };
  }

  app.get(`${path}/logout`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, brand } = await realmOf(request.params);
    const found = logout.onward(realm, z.object({ to: Text }).parse(request.query).to);
    return found?.url ? sendOnward(reply, { realm, brand }, found.url) : reply.redirect(homeOf(realm), 303);
  });
  app.get(`${path}/logout_response`, { schema: { hide: true } }, async (request, reply) => {
    const { realm } = await realmOf(request.params);
    const found = logout.onward(realm, z.object({ state: Text }).parse(request.query).state);
    return reply.redirect(found?.next ?? homeOf(realm), 303);
  });
  app.post(`${path}/backchannel-logout`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, alias } = await realmOf(request.params);
    const { logout_token: token } = z.object({ logout_token: Text }).catch({ logout_token: '' }).parse(request.body);
    const done = await logout.ended(realm, alias, token, request.ip);
    void reply.header('cache-control', 'no-store');
    if (done) return reply.code(200).send();
    return reply
      .code(400)
      .type('application/json')
      .serializer((body: unknown) => JSON.stringify(body))
      .send({ error: 'invalid_request' });
  });
}
