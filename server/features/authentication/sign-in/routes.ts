// The sign-in's address: GET shows the next step, POST takes its form. Decisions "Protocol paths".

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { adminArrivalPath } from '../../../http/own-addresses.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import type { AuthenticatorRecord, Form } from '../authenticators/authenticator.ts';
import { sendClosed } from '../self-registration/pages.ts';
import { askedAgain, askedOf, type Continuation, continuationOf } from './continuation.ts';
import { inTab, tabOf } from './cookie.ts';
import { idOf, isPage } from './judge.ts';
import { linksOn, type PageLink } from './links.ts';
import { sendExpired, sendLink, sendStep } from './pages.ts';
import type { SignIns, View } from './service.ts';
import { REGISTER } from './state.ts';

/** The longest field is a passkey's answer. */
const FIELD_MAX = 12_000;
const ASKED_MAX = 2000;
const FORM_LIMIT = 32 * 1024;
const Params = z.object({ realm: z.string() });
/** `for=admin`: for a session of the admin API, which asks for a new proof; `for=account`: for the account page. */
const Query = z.object({
  begun: z.unknown().optional(),
  for: z.enum(['admin', 'account']).optional().catch(undefined),
});
/** A field of the profile has its attribute's name. */
const Fields = z.record(z.string().max(300), z.string().max(FIELD_MAX));

export interface SignInRoutesDeps {
  signIns: SignIns;
  sessions: Pick<Sessions, 'current'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  registry: readonly AuthenticatorRecord[];
  /** The continuations of sign-ins, by `continueAt`. */
  continuations: readonly Continuation[];
  links: readonly PageLink[];
  /** Limits how often waiting pages of one address may check. */
  looks: Pick<RateLimit, 'take'>;
  /** Whether visitors can create accounts. */
  isOpen(settings: RealmSettingsDto): boolean;
}

/** Rejects a form with repeated fields, or with values that no form of this server has. */
function formOf(body: unknown): Form {
  const parsed = Fields.safeParse(body ?? {});
  if (!parsed.success || Object.values(parsed.data).some((value) => value.includes('\0')))
    throw new Problem('invalid-request', phrase('unreadable'));
  return parsed.data;
}

export function signInRoutes(
  app: FastifyInstance,
  { signIns, sessions, settings, registry, continuations, links, looks, isOpen }: SignInRoutesDeps,
): void {
  async function realmSettings(params: unknown) {
    const { realm } = Params.parse(params);
    const found = await settings.of(realm);
    if (!found) throw new Problem('not-found', phrase('noRealm'));
    return { realm, policy: found };
  }
  async function show(request: FastifyRequest, reply: FastifyReply, realm: string, view: View): Promise<FastifyReply> {
    const continuation = continuationOf(continuations, realm, view.state.purpose);
    const whole = continuation && askedOf(continuation, view.state.purpose.request);
    const asked = whole !== undefined && whole.length <= ASKED_MAX ? whole : undefined;
    const tab = tabOf(request);
    const ways = await linksOn(realm, view, { links, asked, tab });
    return sendStep(reply, realm, view, { registry, asked, tab, links: ways, cancels: continuation !== undefined });
  }
  const path = '/realms/:realm/login';

  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await realmSettings(request.params);
    const session = await sessions.current(request, realm);
    const home = `/realms/${realm}/account`;
    const purpose = Query.parse(request.query).for;
    if (purpose === 'account') {
      // It ignores unfinished sign-ins of this browser for other purposes.
      if (session) return reply.redirect(home, 303);
      const begun = await signIns.begunFor(request, realm, home);
      const asked = { realm, requiredLevel: 0, forced: false, session, request: null, continueAt: home };
      return begun === undefined ? signIns.begin(reply, request, asked) : reply.redirect(begun, 303);
    }
    if (purpose === 'admin') {
      const asked = { realm, requiredLevel: 0, session, forced: true, request: { fresh: !session } };
      return signIns.begin(reply, request, { ...asked, continueAt: adminArrivalPath(realm) });
    }
    const view = await signIns.view(reply, request, realm);
    // A finished sign-in only continues while its session lives; afterwards it counts as none.
    const over = view?.state.is === 'done' ? view.state : undefined;
    const continuation = view && continuationOf(continuations, realm, view.state.purpose);
    if (!view || (over && !over.spent && over.done.sessionId !== session?.id)) {
      // The session is in another browser, or this browser missed the response: the same request starts again.
      if (view && continuation) return reply.redirect(continuation.again(view.state.purpose.request, realm), 303);
      if (session) return reply.redirect(home, 303);
      // The sign-in began just now, but the browser sent no cookie.
      if (!view && Query.parse(request.query).begun !== undefined) return sendExpired(reply, realm, policy);
      return signIns.begin(reply, request, {
        realm,
        requiredLevel: 0,
        session,
        forced: false,
        request: null,
        continueAt: home,
        again: true,
      });
    }
    if (view.page?.ready && isPage(view.nextStep)) {
      const form = { csrf: view.csrf, step: idOf(view.nextStep), do: 'next' };
      const answer = await signIns.submit(reply, request, realm, form, continuations);
      if (answer) return answer(reply);
    }
    if (view.nextStep.do === 'finish') {
      const answer = await signIns.complete(reply, request, realm, continuations);
      if (answer) return answer(reply);
    }
    return show(request, reply, realm, view);
  });

  app.get(`${path}/waiting`, { schema: { hide: true } }, async (request, reply) => {
    const { realm } = await realmSettings(request.params);
    const retryAfterSeconds = looks.take(inRealm(realm, request.ip));
    // The page keeps checking, and continues when it gets an answer again.
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'Too many requests from your network. Try again shortly.', {
        retryAfterSeconds,
      });
    // This request changes nothing; the page reloads if the mark differs.
    const view = await signIns.view(reply, request, realm);
    return reply.type('text/plain').send(view?.page?.ready ? '' : (view?.mark ?? ''));
  });

  app.get(`${path}/link`, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await realmSettings(request.params);
    const { token } = z.object({ token: z.string().max(200).catch('') }).parse(request.query);
    // GET changes nothing, because mail scanners open links, too.
    return sendLink(reply, realm, policy, { token, linked: await signIns.linked(request, realm, token) });
  });

  const registerPath = '/realms/:realm/register';
  app.get(registerPath, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await realmSettings(request.params);
    if (!isOpen(policy)) return sendClosed(reply, realm, policy, 200);
    const view = await signIns.view(reply, request, realm);
    if (view?.state.is === 'unknown' && view.state.chosen === REGISTER) return show(request, reply, realm, view);
    if (await signIns.toRegister(reply, request, realm))
      return reply.redirect(inTab(`/realms/${realm}/register`, tabOf(request)), 303);
    const home = `/realms/${realm}/account`;
    if (await sessions.current(request, realm)) return reply.redirect(home, 303);
    // The sign-in began just now, but the browser sent no cookie.
    if (Query.parse(request.query).begun !== undefined) return sendExpired(reply, realm, policy);
    const asked = { realm, requiredLevel: 0, session: undefined, forced: false, request: null, continueAt: home };
    return signIns.begin(reply, request, { ...asked, register: true, again: true });
  });

  const post = { schema: { hide: true }, bodyLimit: FORM_LIMIT };
  app.post(registerPath, post, async (request, reply) => {
    const { realm, policy } = await realmSettings(request.params);
    if (!isOpen(policy)) return sendClosed(reply, realm, policy, 403);
    return take(request, reply);
  });
  app.post(path, post, (request, reply) => take(request, reply));

  async function take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { realm, policy } = await realmSettings(request.params);
    const form = formOf(request.body);
    const answer = await signIns.submit(reply, request, realm, form, continuations);
    if (answer) return answer(reply);
    const again = form.asked === undefined ? undefined : askedAgain(continuations, realm, form.asked);
    // The browser got a session in the meantime, by another tab or an earlier click, which may be enough.
    if (await sessions.current(request, realm)) return reply.redirect(again ?? `/realms/${realm}/account`, 303);
    return sendExpired(reply, realm, policy, again);
  }
}
