// The browser's way to an identity provider and back. The way there is an address below the sign-in; the way back is the
// address registered at the provider.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { siteOf } from '../../../domain/site.ts';
import { anywhereFrom, sendForm } from '../../../http/self-posting.ts';
import type { Form } from '../authenticators/authenticator.ts';
import type { Continuation } from '../sign-in/continuation.ts';
import type { SignIns, View } from '../sign-in/service.ts';
import type { Connections } from './connect.ts';
import { sendOver } from './pages.ts';
import type { Providers } from './providers.ts';
import type { SamlUpstream } from './saml.ts';

const Params = z.object({ realm: z.string(), alias: z.string().max(255) });
/** A repeated parameter is rejected. */
const Answer = z.record(z.string().max(100), z.string().max(8_000));
const Hint = z.object({ hint: z.string().max(255).optional().catch(undefined) });
const LONGEST_STATE = 200;
/** A form with a response of 128 KB (xml/document.ts): base64 and percent-encoding make it half as large again. */
const POST_LIMIT = 256 * 1024;
const Posted = z
  .object({ SAMLResponse: z.string().catch(''), RelayState: z.string().max(LONGEST_STATE).catch('') })
  .catch({ SAMLResponse: '', RelayState: '' });
/** The parameters of an answer by `form_post`. Apple also posts `user`, which is unsigned: the server ignores it. */
const parameter = z.string().max(4_000).optional().catch(undefined);
const PostedAnswer = z
  .object({
    code: parameter,
    state: z.string().max(LONGEST_STATE).optional().catch(undefined),
    iss: parameter,
    error: parameter,
  })
  .catch({});

export interface BrokeringRoutesDeps {
  signIns: Pick<SignIns, 'view' | 'submit' | 'linked'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  continuations: readonly Continuation[];
  providers: Pick<Providers, 'named'>;
  /** Connects a provider to the account of a signed-in user. */
  connections: Pick<Connections, 'back'>;
  saml: Pick<SamlUpstream, 'receive' | 'posting' | 'metadata'>;
  baseUrl: string;
}

/** The execution with this provider, if the sign-in offers it. */
function stepIn({ nextStep }: View, alias: string): string | undefined {
  if (nextStep.do !== 'ask') return undefined;
  const ways = [nextStep, ...nextStep.others].filter(({ authenticatorId }) => authenticatorId === BY_PROVIDER);
  const of = (provider: unknown) => ways.find(({ config }) => config.provider === provider)?.executionId;
  return of(alias) ?? of(undefined);
}

export function brokeringRoutes(app: FastifyInstance, deps: BrokeringRoutesDeps): void {
  const { signIns, settings, continuations, providers, connections, saml, baseUrl } = deps;
  async function visit(request: FastifyRequest) {
    const { realm, alias } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    return { realm, alias, policy };
  }

  app.get('/realms/:realm/login/provider/:alias', { schema: { hide: true } }, async (request, reply) => {
    const { realm, alias, policy } = await visit(request);
    const view = await signIns.view(reply, request, realm);
    const step = view && stepIn(view, alias);
    if (!view || step === undefined) return sendOver(reply, realm, policy);
    const { hint } = Hint.parse(request.query);
    const form = { csrf: view.csrf, step, do: 'next', provider: alias, ...(hint !== undefined && { hint }) };
    const answer = await signIns.submit(reply, request, realm, form, continuations);
    return answer ? answer(reply) : sendOver(reply, realm, policy);
  });

  async function back(request: FastifyRequest, reply: FastifyReply, parameters: unknown): Promise<FastifyReply> {
    const { realm, alias, policy } = await visit(request);
    const answer = Answer.safeParse(parameters).data ?? {};
    const { state = '' } = answer;
    const waiting = state.length > LONGEST_STATE ? undefined : await signIns.linked(request, realm, state);
    if (!waiting) {
      const to = await connections.back(request, reply, { realm, alias, answer });
      return to === undefined ? sendOver(reply, realm, policy) : reply.redirect(to, 303);
    }
    const form: Form = {
      csrf: waiting.csrf,
      step: waiting.step,
      do: 'next',
      link: state,
      provider: alias,
      answer: JSON.stringify(answer),
    };
    const done = await signIns.submit(reply, request, realm, form, continuations);
    return done ? done(reply) : sendOver(reply, realm, policy);
  }

  const path = '/realms/:realm/broker/:alias/endpoint';
  app.get(path, { schema: { hide: true } }, (request, reply) => back(request, reply, request.query));

  async function providerAt(request: FastifyRequest) {
    const { realm, alias, policy } = await visit(request);
    const provider = await providers.named(realm, alias);
    if (!provider) throw new Problem('not-found', phrase('noProvider'));
    const { origin } = siteOf(request, policy, baseUrl);
    return { realm, provider, callback: `${origin}/realms/${realm}/broker/${alias}/endpoint` };
  }
  // Redirects to GET: a browser sends the sign-in's cookie (SameSite=Lax) with a link from another site, but not with a
  // post.
  app.post(path, { schema: { hide: true }, bodyLimit: POST_LIMIT }, async (request, reply) => {
    const { realm, provider, callback } = await providerAt(request);
    if (provider.type !== 'saml') {
      const answer = Object.entries(PostedAnswer.parse(request.body)).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      return reply.redirect(`${callback}?${new URLSearchParams(Object.fromEntries(answer))}`, 303);
    }
    const { SAMLResponse: message, RelayState: state } = Posted.parse(request.body);
    const read = await saml.receive(realm, provider, message, callback);
    return reply.redirect(`${callback}?${new URLSearchParams({ state, saml: read })}`, 303);
  });
  app.get(`${path}/request`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await visit(request);
    const { form } = z.object({ form: z.string().max(16_000).catch('') }).parse(request.query);
    const posting = saml.posting(realm, form);
    if (!posting) return sendOver(reply, realm, policy);
    void reply.header('cache-control', 'no-store');
    return sendForm(reply, { realm, brand: policy }, { ...posting, onward: anywhereFrom(baseUrl) });
  });
  app.get(`${path}/descriptor`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, provider, callback } = await providerAt(request);
    if (provider.type !== 'saml') throw new Problem('not-found', phrase('noProvider'));
    return reply
      .type('application/samlmetadata+xml')
      .serializer((text: unknown) => String(text))
      .send(await saml.metadata(realm, provider, callback));
  });
}
