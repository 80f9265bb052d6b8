// Owns: the authorization endpoint: checks the request, decides the next step and does it; at the end it issues a code.
// Does not own: the checks (checks.ts), the decision (decide.ts), codes (codes.ts), signing in (features/authentication/sign-in), a response's form (answer.ts).
// Implements: specification 4.11; RFC 6749 §4.1, OIDC Core §3.1.2, RFC 7636, RFC 8707; decisions "Protocol paths".
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { refersToNothing } from '../../../db/error-code.ts';
import type { Transact } from '../../../db/transact.ts';
import { needsConsent } from '../../../domain/agreement.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import type { Refusals } from '../../../events/refusals.ts';
import { withHost } from '../../../http/about-client.ts';
import { type Form, parseForm } from '../../../http/form.ts';
import { oauthErrorOf } from '../../../http/oauth.ts';
import { loggableText, OAuthError } from '../../../http/oauth-error.ts';
import { applicationSpeaks } from '../../../http/spoken.ts';
import type { Continuation } from '../../authentication/sign-in/continuation.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Consents } from '../../people/consent/service.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import { createAdmission } from './admission.ts';
import { type Answers, errorParameters, sendPlainAnswer } from './answer.ts';
import { type AuthorizationRequest, type Target, targetOf, withoutOffline } from './checks.ts';
import { createCodes } from './codes.ts';
import { authorizationDecision, countsFrom } from './decide.ts';
import { createExpected } from './expected.ts';
import type { Pushed } from './pushed.ts';
import type { RequestObjects } from './request-objects.ts';
import { asItCame, type RequestUris } from './request-uris.ts';
import type { Clients, Documents, RequestParameters, Requests } from './requests.ts';

const MOST_CLIENT_ID = 255;
const MOST_REDIRECT_URI = 500;

/** The path to which a sign-in returns: routes.ts serves it. */
export const resumePath = (realm: string): string => `/realms/${realm}/oauth2/authorize/resume`;
export const consentPath = (realm: string): string => `/realms/${realm}/oauth2/consent`;
/** The path on which a request that came by POST, or starts again, continues. */
export const requestPath = (realm: string, text: string): string =>
  `/realms/${realm}/oauth2/authorize?${new URLSearchParams(text)}`;

/** The state that a sign-in stores for this endpoint. */
export const Kept = z.object({ text: z.string() });

export interface AuthorizationDeps {
  transact: Transact;
  clients: Pick<Clients, 'view'>;
  requests: Requests;
  pushed: Pick<Pushed, 'resolve'>;
  requestObjects: RequestObjects;
  requestUris: RequestUris;
  documents: Documents;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  sessions: { current(request: FastifyRequest, realm: string): Promise<LiveSession | undefined> };
  signIns: Pick<SignIns, 'begin' | 'missing'>;
  factors: Factors;
  consents: Consents;
  tokens: Pick<Tokens, 'verify'>;
  answers: Answers;
  refusals: Pick<Refusals, 'record'>;
  subjects: Pick<Subjects, 'ofUser' | 'find'>;
  now: () => Date;
}

/** A running request. */
interface RequestContext {
  request: FastifyRequest;
  reply: FastifyReply;
  realm: string;
  brand: RealmSettingsDto;
  issuer: string;
  session: LiveSession | undefined;
}
/** A session that satisfies the request. Its proofs that count are not older than `since`, in milliseconds. */
interface SignedIn {
  sessionId: string;
  since: number;
}
/** The steps that were already done for this request. */
interface RequestProgress {
  /** Whether the application has just sent the browser. */
  first?: boolean;
  signedIn?: SignedIn | undefined;
  agreed?: boolean;
}

export function createAuthorization(deps: AuthorizationDeps) {
  const { clients, settings, sessions, signIns, consents, subjects, now } = deps;
  const { refusals, requests, pushed, requestObjects, requestUris, documents, answers } = deps;

  const expectedUser = createExpected(deps);
  const admit = createAdmission(deps);
  const codes = createCodes(deps);

  async function contextOf(request: FastifyRequest, reply: FastifyReply, realm: string): Promise<RequestContext> {
    const brand = await settings.of(realm);
    if (!brand) throw new OAuthError('not_found', 'There is no such realm');
    const session = await sessions.current(request, realm);
    return { request, reply, realm, brand, issuer: await settings.issuer(realm), session };
  }

  /** Reads the request, with its request object if it has one. A sign-in stores the parameters as they arrived. */
  async function read(
    { realm, brand }: Pick<RequestContext, 'realm' | 'brand'>,
    given: RequestParameters,
    { client, first }: { client: ClientView; first: boolean },
  ): Promise<AuthorizationRequest> {
    const opened = await requestObjects.open(realm, client, given, { first });
    return requests.read(realm, brand, { ...opened, text: given.text }, targetOf(opened, client));
  }

  const aboutOf = ({ client, redirectUri }: AuthorizationRequest) =>
    client.registered ? withHost(client.about, redirectUri) : client.about;
  const signInFor = (realm: string, asked: AuthorizationRequest, { forced }: { forced: boolean }) => ({
    realm,
    clientId: asked.client.clientId,
    clientName: asked.client.title,
    about: aboutOf(asked),
    flow: asked.client.flowOverride ?? undefined,
    requiredLevel: asked.requiredLevel,
    maxAgeSeconds: asked.maxAgeSeconds,
    forced,
    loginHint: asked.loginHint,
    provider: asked.providerHint,
    request: { text: asked.text },
    continueAt: resumePath(realm),
    redirectTo: asked.redirectUri,
  });

  async function proceed(
    context: RequestContext,
    requested: AuthorizationRequest,
    progress: RequestProgress,
  ): Promise<FastifyReply> {
    const asked = context.session?.impersonator ? withoutOffline(requested) : requested;
    const { realm, session, reply, request, brand, issuer } = context;
    const signedIn = progress.signedIn?.sessionId === session?.id ? progress.signedIn : undefined;
    const since = countsFrom(asked, { signedIn: signedIn?.since, now: now() });
    const agreed = progress.agreed ?? false;
    const step = authorizationDecision(asked, {
      session,
      missing:
        session && !signedIn && !session.impersonator
          ? await signIns.missing(request, { ...signInFor(realm, asked, { forced: false }), session })
          : undefined,
      fresh: signedIn !== undefined,
      agreed,
      expectedUser: await expectedUser(realm, asked, session),
      consented:
        session && needsConsent(asked.client, asked.toAgree)
          ? await consents.of(realm, session.userId, asked.client)
          : undefined,
    });
    if (step.do === 'refuse') throw step.error;
    if (step.do === 'sign-in' || !session) {
      return signIns.begin(reply, request, {
        ...signInFor(realm, asked, { forced: step.do === 'sign-in' && step.forced }),
        // To choose or create an account, the sign-in starts without the present session: another person may sign in.
        session: asked.prompt.has('select_account') || asked.prompt.has('create') ? undefined : session,
        register: asked.prompt.has('create'),
      });
    }
    const at = { realm, ipAddress: request.ip };
    const sub = await admit(at, asked.client, session);
    if (step.do === 'consent') {
      const { client, text, redirectUri } = asked;
      return consents.ask(reply, request, {
        realm,
        brand,
        session,
        answerAt: consentPath(realm),
        application: client.title,
        client: aboutOf(asked),
        origin: client.documentHost === null ? undefined : { host: client.documentHost, redirectUri },
        agreement: consents.listed(asked),
        text,
        since,
        onward: [redirectUri],
        again: requestPath(realm, asItCame(text)),
      });
    }
    const code = await codes.give(at, asked, { session, since, sub, agreed });
    return answers(reply, { realm, brand, issuer, target: asked, parameters: { code } });
  }

  /**
   * Issues the code in the transaction that begins the session. A request that needs more steps, or is refused, goes
   * through {@link resumePath}, which handles all cases.
   */
  const continuation: Continuation = {
    name: 'authorize',
    continueAt: resumePath,
    again: (kept, realm) => requestPath(realm, asItCame(Kept.parse(kept).text)),
    asked: { write: (kept) => asItCame(Kept.parse(kept).text), read: (text) => ({ text }) },
    async cancel(reply, request, realm, kept) {
      const { text } = Kept.parse(kept);
      const cancelled = new OAuthError('access_denied', 'The person cancelled the sign-in');
      try {
        return await handle(await contextOf(request, reply, realm), parseForm(text), {}, cancelled);
      } catch (thrown) {
        if (!(thrown instanceof OAuthError)) throw thrown;
        // The application has changed meanwhile. Its request begins anew, and its page says what is wrong.
        return reply.redirect(requestPath(realm, asItCame(text)), 303);
      }
    },
    async prepare(kept, request, realm, session) {
      const reference = parseForm(Kept.parse(kept).text);
      const brand = await settings.of(realm);
      const client = await clients.view(realm, reference.get('client_id') ?? '');
      if (!brand || !client || client.consentRequired || client.application?.roles.length) return undefined;
      try {
        const given = await pushed.resolve(realm, client, reference, { first: false });
        const asked = await read({ realm, brand }, given, { client, first: false });
        // A page in response to the password form would send the password again when it is reloaded. A JWT is signed after
        // the commit.
        if (asked.responseMode !== 'query') return undefined;
        const expected = await expectedUser(realm, asked, session);
        const enough = { fresh: true, missing: undefined, agreed: false };
        if (
          authorizationDecision(asked, { session, ...enough, expectedUser: expected, consented: undefined }).do !==
          'code'
        )
          return undefined;
        const subject = await subjects.ofUser(realm, client, session.userId);
        if (!subject) return undefined;
        const issuer = await settings.issuer(realm);
        // The session is new: all its proofs were made for this request.
        const approval = { session, since: 0, sub: subject.sub };
        const { code, write } = codes.first({ realm, ipAddress: request.ip }, asked, approval);
        return {
          write,
          send: (reply) => sendPlainAnswer(reply, { realm, brand, issuer, target: asked, parameters: { code } }),
        };
      } catch (thrown) {
        if (thrown instanceof OAuthError) return undefined;
        throw thrown;
      }
    },
  };

  /** An error that only a page shows is recorded as an event, so that administrators can find it. */
  async function knownTarget(
    { realm, request }: RequestContext,
    form: Form,
    { first, gone = false }: { first: boolean; gone?: boolean },
  ): Promise<{ given: RequestParameters; target: Target }> {
    const clientId = form.get('client_id') ?? '';
    try {
      if (first) await documents.ensure(realm, clientId, request.ip);
      const client = gone ? undefined : await clients.view(realm, clientId);
      const opened = await pushed.resolve(realm, client, form, { first });
      const fetched = first ? await requestUris.resolve(realm, client, opened, request.ip) : opened;
      const given = await requestObjects.readable(realm, client, fetched);
      return { given, target: targetOf(given, client) };
    } catch (thrown) {
      const error = oauthErrorOf(thrown);
      error.clientId = loggableText(form.get('client_id'), MOST_CLIENT_ID);
      const redirectUri = loggableText(form.get('redirect_uri'), MOST_REDIRECT_URI) ?? null;
      refusals.record({
        type: 'AUTHORIZATION_REFUSED',
        realm,
        by: { actor: null, ipAddress: request.ip },
        clientId: error.clientId ?? null,
        outcome: 'failure',
        data: { error: error.error, reason: error.description ?? null, redirectUri },
      });
      throw error;
    }
  }

  /** Errors before the target is known are thrown, and shown on a page; later ones go to the application. */
  async function handle(
    context: RequestContext,
    form: Form,
    progress: RequestProgress,
    refused?: OAuthError,
  ): Promise<FastifyReply> {
    const { realm, brand, issuer } = context;
    await applicationSpeaks(form.get('ui_locales'));
    const { first = false } = progress;
    const { given, target } = await knownTarget(context, form, { first });
    await applicationSpeaks(given.get('ui_locales'));
    try {
      if (refused) throw refused;
      return await proceed(context, await read(context, given, { client: target.client, first }), progress);
    } catch (thrown) {
      // The application was deleted in the meantime: no redirect URI is known any more.
      if (refersToNothing(thrown)) await knownTarget(context, form, { first: false, gone: true });
      const error = oauthErrorOf(thrown);
      if (error.status >= 500) throw thrown;
      return await answers(context.reply, { realm, brand, issuer, target, parameters: errorParameters(error) });
    }
  }

  return {
    continuation,

    async begin(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      return handle(await contextOf(request, reply, realm), form, { first: true });
    },

    /** Continues after a sign-in: handles the same request again, now with a session. */
    async resume(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      { text, signedIn }: { text: string; signedIn: SignedIn },
    ): Promise<FastifyReply> {
      return handle(await contextOf(request, reply, realm), parseForm(text), { signedIn });
    },

    /**
     * Handles the consent page's form. The page is shown only to a sufficient session, so the session isn't judged
     * again.
     */
    async consent(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      const context = await contextOf(request, reply, realm);
      const answered = consents.answered(request, form, {
        realm,
        session: context.session,
        answerAt: consentPath(realm),
      });
      const denied = answered.allowed ? undefined : new OAuthError('access_denied', 'The person did not agree');
      const { signedIn } = answered;
      return handle(context, parseForm(answered.text), { signedIn, agreed: true }, denied);
    },
  };
}

export type Authorization = ReturnType<typeof createAuthorization>;
