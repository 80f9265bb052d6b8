// The browser's way to an identity provider and back: below the sign-in it leaves, at the address that the provider knows it comes back.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../contract/problem.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Form } from '../authenticators/authenticator.ts';
import type { Continuation } from '../sign-in/continuation.ts';
import type { SignIns, View } from '../sign-in/service.ts';
import { sendOver } from './pages.ts';

const BY_PROVIDER = 'idp-redirect';
const Params = z.object({ realm: z.string(), alias: z.string().max(255) });
/** What is sent twice says nothing. */
const Answer = z.record(z.string().max(100), z.string().max(8_000));
const Hint = z.object({ hint: z.string().max(255).optional().catch(undefined) });
const LONGEST_STATE = 200;

export interface BrokeringRoutesDeps {
  signIns: Pick<SignIns, 'view' | 'submit' | 'linked'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  continuations: readonly Continuation[];
}

/** The execution by which they come by this provider, where the sign-in offers it. */
function stepIn({ nextStep }: View, alias: string): string | undefined {
  if (nextStep.do !== 'ask') return undefined;
  const ways = [nextStep, ...nextStep.others].filter(({ authenticatorId }) => authenticatorId === BY_PROVIDER);
  const of = (provider: unknown) => ways.find(({ config }) => config.provider === provider)?.executionId;
  return of(alias) ?? of(undefined);
}

export function brokeringRoutes(app: FastifyInstance, { signIns, settings, continuations }: BrokeringRoutesDeps): void {
  async function visit(request: FastifyRequest) {
    const { realm, alias } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', 'There is no such realm here.');
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
    if (!waiting) return sendOver(reply, realm, policy);
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

  app.get('/realms/:realm/broker/:alias/endpoint', { schema: { hide: true } }, (request, reply) =>
    back(request, reply, request.query),
  );
}
