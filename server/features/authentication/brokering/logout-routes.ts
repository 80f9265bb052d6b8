// Redirects the browser through the identity provider at sign-out, and serves the endpoints where a provider reports
// that its session has ended.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Binding } from '../../../domain/saml-names.ts';
import type { Sent } from '../../../domain/saml-writing.ts';
import { siteOf } from '../../../domain/site.ts';
import { queryOf } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { anywhereFrom, sendForm, sendOnward } from '../../../http/self-posting.ts';
import type { UpstreamLogout } from './logout.ts';
import { sendOver } from './pages.ts';
import type { Providers } from './providers.ts';
import type { Applications, SamlLogout } from './saml-logout.ts';
import { UpstreamError } from './upstream.ts';

const Params = z.object({ realm: z.string(), alias: z.string().max(255) });
const Text = z.string().max(16_000).catch('');

const field = z.string().optional();
/** A repeated field is no text, so it is rejected. */
const Posted = z.object({ SAMLRequest: field, SAMLResponse: field, RelayState: field }).catch({});

/** The form as it was sent, without fields that don't belong to a logout. */
const formText = (fields: z.infer<typeof Posted>): string => {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) text.set(name, value);
  return text.toString();
};

export interface UpstreamLogoutRoutesDeps {
  logout: UpstreamLogout;
  samlLogout: Pick<SamlLogout, 'received' | 'done'>;
  /** The SAML applications of the sessions that the provider ends. */
  applications: Applications;
  providers: Pick<Providers, 'named'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  baseUrl: string;
}

export function upstreamLogoutRoutes(app: FastifyInstance, deps: UpstreamLogoutRoutesDeps): void {
  const { logout, samlLogout, applications, providers, settings, baseUrl } = deps;
  const onward = anywhereFrom(baseUrl);
  const path = '/realms/:realm/broker/:alias/endpoint';
  const homeOf = (realm: string): string => `/realms/${realm}/login?for=account`;
  async function realmOf(params: unknown) {
    const { realm, alias } = Params.parse(params);
    const brand = await settings.of(realm);
    if (!brand) throw new Problem('not-found', phrase('noRealm'));
    return { realm, alias, brand };
  }

  app.get(`${path}/logout`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, brand } = await realmOf(request.params);
    const found = logout.onward(realm, z.object({ to: Text }).parse(request.query).to);
    if (!found?.way) return reply.redirect(homeOf(realm), 303);
    return found.way.by === 'POST'
      ? sendForm(reply, { realm, brand }, { ...found.way, onward })
      : sendOnward(reply, { realm, brand }, found.way.url);
  });
  app.get(`${path}/logout_response`, { schema: { hide: true } }, async (request, reply) => {
    const { realm } = await realmOf(request.params);
    const found = logout.onward(realm, z.object({ state: Text }).parse(request.query).state);
    return reply.redirect(found?.next ?? homeOf(realm), 303);
  });

  async function samlProviderOf(params: unknown) {
    const { realm, alias, brand } = await realmOf(params);
    const provider = await providers.named(realm, alias);
    if (provider?.type !== 'saml') throw new Problem('not-found', phrase('noProvider'));
    return { realm, alias, brand, provider };
  }
  type Look = Pick<Awaited<ReturnType<typeof samlProviderOf>>, 'realm' | 'brand'>;

  function send(reply: FastifyReply, { realm, brand }: Look, sent: Sent | undefined) {
    if (!sent) return reply.redirect(homeOf(realm), 303);
    if (sent.by === 'Redirect') return reply.redirect(sent.url, 303);
    return sendForm(reply, { realm, brand }, { ...sent, onward });
  }
  async function orRefused(reply: FastifyReply, { realm, brand }: Look, work: () => Promise<FastifyReply>) {
    void reply.header('cache-control', 'no-store');
    try {
      return await work();
    } catch (error) {
      if (error instanceof OAuthError || error instanceof UpstreamError) return sendOver(reply, realm, brand);
      throw error;
    }
  }

  /** Handles the logout messages of a SAML provider: a request of its own, or the response to a request of this server. */
  async function said(request: FastifyRequest, reply: FastifyReply, binding: Binding, text: string) {
    const { realm, alias, brand, provider } = await samlProviderOf(request.params);
    const address = `${siteOf(request, brand, baseUrl).origin}/realms/${realm}/broker/${alias}/endpoint/slo`;
    return orRefused(reply, { realm, brand }, async () => {
      const at = { binding, text, address, ipAddress: request.ip, applications };
      const found = await samlLogout.received(realm, provider, at);
      if ('next' in found) return reply.redirect(found.next ?? homeOf(realm), 303);
      if ('onward' in found) return sendOnward(reply, { realm, brand }, found.onward, { frames: found.frames });
      return send(reply, { realm, brand }, found.sent);
    });
  }
  app.get(`${path}/slo/answer`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, brand, provider } = await samlProviderOf(request.params);
    const { to, partial } = z
      .object({ to: Text, partial: z.literal('1').optional().catch(undefined) })
      .parse(request.query);
    return orRefused(reply, { realm, brand }, async () =>
      send(reply, { realm, brand }, await samlLogout.done(realm, provider, to, { partial: partial !== undefined })),
    );
  });
  app.get(`${path}/slo`, { schema: { hide: true } }, (request, reply) =>
    said(request, reply, 'Redirect', queryOf(request.url)),
  );
  app.post(`${path}/slo`, { schema: { hide: true } }, (request, reply) =>
    said(request, reply, 'POST', formText(Posted.parse(request.body))),
  );
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
