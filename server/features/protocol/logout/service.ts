// Owns: RP-initiated logout: whose session ends, whether the user is asked first, where the browser continues.
// Does not own: ending sessions (features/people/sessions), verifying the hint (features/configuration/issued-tokens).
// Implements: OIDC RP-Initiated Logout 1.0, Front-Channel Logout 1.0 (back-channel.ts has the other); specification 4.11.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { proofHolds, proofOf } from '../../../crypto/form-proof.ts';
import type { Transact } from '../../../db/transact.ts';
import { isRedirectOf, withQuery } from '../../../domain/redirect-uri.ts';
import { actorOf, personOf } from '../../../domain/session.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import type { Form } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { sendPage } from '../../../http/pages.ts';
import { applicationSpeaks } from '../../../http/spoken.ts';
import { text } from '../../../http/texts.ts';
import type { UpstreamLogout } from '../../authentication/brokering/logout.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Claims, Tokens } from '../../configuration/issued-tokens/service.ts';
import { type Sessions, type SsoSession, sessionCookieAt } from '../../people/sessions/service.ts';
import type { SingleLogout } from '../saml/logout.ts';
import { confirmPage, signedOutPage } from './pages.ts';

const GO_ON = "addEventListener('load', () => location.replace(document.getElementById('next').href));";

/** A logout request with valid parameters. */
interface Logout {
  client: ClientView | undefined;
  hint: Claims | undefined;
  /** Where the browser continues: exactly one of the client's registered addresses. */
  next: string | undefined;
}

/** The applications that the browser notifies. */
interface BrowserLogout {
  /** The browser's first address: the first application to notify by SAML. */
  first: string | undefined;
  frames: readonly string[];
}

export function createLogout({
  transact,
  clients,
  sessions,
  signIns,
  singleLogout,
  upstreamLogout,
  settings,
  tokens,
  subjects,
  baseUrl,
  now,
}: {
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  sessions: Pick<Sessions, 'current' | 'end' | 'frames' | 'clearCookie'>;
  signIns: Pick<SignIns, 'leave'>;
  singleLogout: Pick<SingleLogout, 'begin'>;
  /** Signs out at the identity provider that the user came from. */
  upstreamLogout: Pick<UpstreamLogout, 'over'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find'>;
  baseUrl: string;
  now: () => Date;
}) {
  const sessionCookie = sessionCookieAt(baseUrl).nameIn;

  const bad = (description: string, client?: ClientView) =>
    new OAuthError('invalid_request', description, { page: { back: client } });

  async function hintOf(realm: string, form: Form): Promise<Claims | undefined> {
    const token = form.get('id_token_hint');
    if (token === undefined) return undefined;
    const hint = await tokens.verify(realm, token, { typ: 'JWT', expired: 'accepted' });
    if (!hint || typeof hint.aud !== 'string') throw bad('id_token_hint is not an ID token of this realm');
    const clientId = form.get('client_id');
    if (clientId !== undefined && clientId !== hint.aud) throw bad('client_id is not that of the id_token_hint');
    return hint;
  }

  async function parse(realm: string, form: Form): Promise<Logout> {
    const hint = await hintOf(realm, form);
    const clientId = form.get('client_id') ?? (typeof hint?.aud === 'string' ? hint.aud : undefined);
    const client = clientId === undefined ? undefined : await clients.view(realm, clientId);
    const uri = form.get('post_logout_redirect_uri');
    if (uri === undefined) return { client, hint, next: undefined };
    // RP-Initiated Logout §3: the server must know whose address it is.
    if (clientId === undefined) throw bad('post_logout_redirect_uri needs an id_token_hint or a client_id');
    if (!client?.enabled || !isRedirectOf(client.postLogoutRedirectUris, uri)) {
      throw bad('The post_logout_redirect_uri is not one that the application has registered', client);
    }
    return { client, hint, next: withQuery(uri, { state: form.get('state') }) };
  }

  /** @returns the browser's first address, and the frames that it loads to notify applications */
  async function end(
    request: FastifyRequest,
    reply: FastifyReply,
    realm: string,
    session: SsoSession,
    logout: Logout,
  ): Promise<BrowserLogout> {
    const by: By = { actor: actorOf(session), ipAddress: request.ip };
    const { next, client } = logout;
    const here = `/realms/${realm}/oauth2/logout${client ? `?${new URLSearchParams({ client_id: client.clientId })}` : ''}`;
    const iss = await settings.issuer(realm);
    const over = await upstreamLogout.over(realm, session.id, next ?? here);
    const told = await transact(realm, async (tx) => {
      const found = {
        first:
          (await singleLogout.begin(tx, realm, [session.id], { to: 'address', url: over ?? next ?? here })) ?? over,
        frames: await sessions.frames(tx, realm, [session.id], iss),
      };
      if (!(await sessions.end(tx, realm, by, session.id, { because: 'logout' }))) return found;
      tx.record({
        type: 'LOGOUT',
        realm,
        by,
        subject: personOf(session),
        clientId: logout.client?.clientId ?? null,
        data: { sessionId: session.id },
      });
      return found;
    });
    sessions.clearCookie(reply, realm);
    await signIns.leave(request, reply, realm);
    return told;
  }

  async function settingsOf(realm: string): Promise<RealmSettingsDto> {
    const brand = await settings.of(realm);
    if (!brand) throw new OAuthError('not_found', 'There is no such realm');
    return brand;
  }

  async function signedOut(
    reply: FastifyReply,
    realm: string,
    { next: last, client }: Logout,
    { first, frames }: BrowserLogout = { first: undefined, frames: [] },
  ): Promise<FastifyReply> {
    const next = first ?? last;
    if (next !== undefined && frames.length === 0) return reply.redirect(next, 303);
    const brand = await settingsOf(realm);
    const body = signedOutPage({ realm, client, frames, next });
    // Continues when the frames have loaded or failed.
    const script = next === undefined ? undefined : GO_ON;
    return sendPage(reply, { realm, brand, title: text('logout.done'), body, script, plain: true }, { frames });
  }

  const about = (realm: string, session: SsoSession, text: string) => ['logout', realm, session.id, text];

  return {
    /**
     * Signs out without an application's request. @returns undefined if no application must be notified through the
     * browser: then no page was sent
     */
    async signOut(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      session: SsoSession,
    ): Promise<FastifyReply | undefined> {
      const logout: Logout = { client: undefined, hint: undefined, next: undefined };
      const told = await end(request, reply, realm, session, logout);
      return told.first === undefined && told.frames.length === 0 ? undefined : signedOut(reply, realm, logout, told);
    },

    /** Handles an application's logout request. */
    async begin(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      await applicationSpeaks(form.get('ui_locales'));
      const logout = await parse(realm, form);
      const session = await sessions.current(request, realm);
      if (!session) return signedOut(reply, realm, logout);
      // The hint names this session (or, from an offline grant, its user), so the application may end it without a
      // confirmation.
      const { hint, client, next } = logout;
      const named =
        hint && subjects.find(realm, hint) === session.userId && (hint.sid === undefined || hint.sid === session.id);
      if (named) {
        return signedOut(reply, realm, logout, await end(request, reply, realm, session, logout));
      }
      const body = confirmPage({
        realm,
        client,
        username: session.username,
        request: form.text,
        proof: proofOf(request.cookies[sessionCookie(realm)] ?? '', about(realm, session, form.text), now()),
      });
      const page = { realm, brand: await settingsOf(realm), title: text('logout.title'), body };
      return sendPage(reply, page, { formAction: next === undefined ? [] : [next] });
    },

    /** Handles the confirmation page's form. */
    async confirm(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      answer: { proof: string | undefined; original: Form },
    ): Promise<FastifyReply> {
      const logout = await parse(realm, answer.original);
      const session = await sessions.current(request, realm);
      if (!session) return signedOut(reply, realm, logout);
      const subject = about(realm, session, answer.original.text);
      if (!proofHolds(answer.proof, request.cookies[sessionCookie(realm)], subject, now())) {
        throw new OAuthError('invalid_request', 'The page is too old', {
          page: { told: text('said.stillSignedIn'), back: logout.client },
        });
      }
      return signedOut(reply, realm, logout, await end(request, reply, realm, session, logout));
    },
  };
}
export type Logouts = ReturnType<typeof createLogout>;
