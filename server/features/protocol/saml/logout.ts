// Single logout. A session ends once, whether a service provider or this server begins. The browser then notifies every
// service provider that the session signed in to by SAML, one after another. The session here ends first, so that
// nothing depends on their answers. SAML 2.0 Profiles §4.4; decisions "SAML".
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { isDone, issuerOf, logoutRequestOf } from '../../../domain/saml-checks.ts';
import type { Message } from '../../../domain/saml-message.ts';
import type { Binding } from '../../../domain/saml-names.ts';
import { logoutRequest, logoutResponse, messageForBinding, newXmlId } from '../../../domain/saml-writing.ts';
import type { Refusals } from '../../../events/refusals.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { anywhereFrom, sendForm, sendOnward } from '../../../http/self-posting.ts';
import type { XmlSigner } from '../../../xml/sign.ts';
import type { XmlNode } from '../../../xml/write.ts';
import type { UpstreamLogout } from '../../authentication/brokering/logout.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { KEPT_MS, type Keeping, type KeptLogout } from './kept.ts';
import {
  keepProgress,
  noteAnswered,
  participantsOf,
  type SamlLogoutProgress,
  sessionsNamed,
  type Then,
  takeProgress,
} from './logout-store.ts';
import { nameIdNode } from './response.ts';
import type { SamlClientView, SamlClientViews } from './view.ts';
import { UNPROVEN } from './vocabulary.ts';

/** The code that parses XML is loaded with the first message. */
const reading = () => import('../../../domain/saml-message.ts');

/** The time limit for all service providers together. */
const LIFE_MS = 15 * 60_000;

export interface SingleLogoutDeps {
  realmSql: RealmSql;
  transact: Transact;
  keeping: Keeping;
  clients: Pick<SamlClientViews, 'view'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  sessions: Pick<Sessions, 'current' | 'endAll' | 'frames' | 'clearCookie'>;
  signIns: Pick<SignIns, 'leave'>;
  /** Signs out at the identity provider that the user came from. */
  upstreamLogout: Pick<UpstreamLogout, 'over'>;
  refusals: Pick<Refusals, 'record'>;
  signerOf(realm: string): Promise<XmlSigner>;
  baseUrl: string;
  now: () => Date;
}

interface Context {
  request: FastifyRequest;
  reply: FastifyReply;
  realm: string;
}

const pathOf = (realm: string): string => `/realms/${realm}/saml/idp/slo`;
/** The path that continues after the interstitial page. */
const onwardOf = (realm: string, logout: string): string =>
  `${pathOf(realm)}?${new URLSearchParams({ logout, on: '1' })}`;
/** The page that confirms the sign-out. */
const signedOutPath = (realm: string): string => `/realms/${realm}/oauth2/logout`;

export function createSingleLogout(deps: SingleLogoutDeps) {
  const { realmSql, transact, keeping, clients, settings, sessions, signIns, upstreamLogout, refusals } = deps;
  const { signerOf, baseUrl, now } = deps;
  const expiresAt = () => new Date(now().getTime() + LIFE_MS);

  async function send(
    { reply, realm }: Context,
    node: XmlNode,
    to: { url: string; binding: Binding },
    relayState?: string,
  ) {
    const sent = await messageForBinding(node, { to, relayState, signer: await signerOf(realm) });
    void reply.header('cache-control', 'no-store');
    if (sent.by === 'Redirect') return reply.redirect(sent.url, 303);
    // The service provider sends the browser back here, from where it is redirected to others.
    const onward = anywhereFrom(baseUrl);
    return sendForm(reply, { realm, brand: await settings.of(realm) }, { ...sent, onward });
  }

  /** Sends the browser to the next service provider, or back to where the logout began. */
  async function proceed(context: Context, progress: SamlLogoutProgress): Promise<FastifyReply> {
    const { realm, reply } = context;
    const [next, ...rest] = progress.rest;
    if (!next) return progress.over ? over(context, progress, progress.over) : finish(context, progress);
    const [to] = (await clients.view(realm, next.entityId))?.logouts ?? [];
    // The service provider was deleted meanwhile: continue with the next.
    if (!to) return proceed(context, { ...progress, rest });
    const id = newXmlId();
    const kept = { ...progress, rest, asked: next.entityId };
    await keepProgress(realmSql(realm), realm, { hash: sha256(id), progress: kept, expiresAt: expiresAt() });
    const from = { issuer: await settings.issuer(realm), destination: to.url, now: now() };
    const name = nameIdNode(next.nameId, { issuer: from.issuer, client: next });
    return send({ ...context, reply }, logoutRequest(from, id, name, next.sessionIndex), to);
  }

  async function over(
    { realm, reply }: Context,
    progress: SamlLogoutProgress,
    { url, token }: NonNullable<SamlLogoutProgress['over']>,
  ) {
    const kept = { ...progress, over: undefined, asked: null };
    await keepProgress(realmSql(realm), realm, { hash: sha256(token), progress: kept, expiresAt: expiresAt() });
    return reply.redirect(url, 303);
  }

  async function finish(context: Context, { after, partial }: SamlLogoutProgress): Promise<FastifyReply> {
    const { realm, reply } = context;
    if (after.to === 'address') return reply.redirect(after.url, 303);
    if (after.to === 'provider') return reply.redirect(`${after.url}${partial ? '&partial=1' : ''}`, 303);
    const logouts = (await clients.view(realm, after.entityId))?.logouts ?? [];
    const to = logouts.find(({ binding }) => binding === after.binding) ?? logouts[0];
    if (!to) return reply.redirect(signedOutPath(realm), 303);
    // Metadata §2.2.2: answers go to the ResponseLocation.
    const { binding, url, responseUrl = url } = to;
    const from = { issuer: await settings.issuer(realm), destination: responseUrl, now: now() };
    const response = logoutResponse(from, after.requestId, { partial });
    return send(context, response, { url: responseUrl, binding }, after.relayState);
  }

  /** The path on which the browser continues the logout, valid once. */
  async function onwardPath(realm: string, progress: SamlLogoutProgress): Promise<string> {
    const token = newSecret();
    await keepProgress(realmSql(realm), realm, { hash: sha256(token), progress, expiresAt: expiresAt() });
    return onwardOf(realm, token);
  }

  /** The same error for an unknown service provider and for one whose identity isn't proven. */
  function unknown({ request, realm }: Context, entityId: string, reason: string): OAuthError {
    const error = new OAuthError('invalid_request', 'The application is not known here', { reason });
    refusals.record({
      type: 'AUTHORIZATION_REFUSED',
      realm,
      by: { actor: null, ipAddress: request.ip },
      clientId: entityId.slice(0, 255) || null,
      outcome: 'failure',
      data: { protocol: 'saml', error: error.error, reason },
    });
    return error;
  }

  /** Reads a service provider's request, once its signature proves the sender. @throws OAuthError */
  async function asked(context: Context, message: Message): Promise<KeptLogout> {
    const { realm } = context;
    const { unverifiedMessage, verifiedMessage } = await reading();
    const first = unverifiedMessage(message);
    const entityId = issuerOf(first);
    const client = await clients.view(realm, entityId);
    if (!client) throw unknown(context, entityId, 'There is no such SAML client, or it is switched off');
    const xml = verifiedMessage(message, first, { certificates: client.signingCertificates, needed: true });
    if (!xml || issuerOf(xml) !== entityId) throw unknown(context, entityId, UNPROVEN);
    const { id, ...named } = logoutRequestOf(xml, { now: now(), addresses: [endpointsOf(baseUrl, realm).samlLogout] });
    const { binding, relayState } = message;
    return {
      realm,
      entityId,
      requestId: id,
      ...named,
      indexes: [...named.indexes],
      binding,
      relayState,
      at: now().getTime(),
    };
  }

  /**
   * Ends the sessions that the request names.
   * @returns the other service providers of the ended sessions, the frames that this browser loads, and the provider to
   * sign out at
   */
  async function end(context: Context, client: SamlClientView, kept: KeptLogout) {
    const { request, reply, realm } = context;
    const current = await sessions.current(request, realm);
    const by: By = { actor: { type: 'client', id: client.id, name: client.entityId }, ipAddress: request.ip };
    const iss = await settings.issuer(realm);
    const token = newSecret();
    const url = current && (await upstreamLogout.over(realm, current.id, onwardOf(realm, token)));
    const { ids, others, frames } = await transact(realm, async (tx) => {
      const answered = {
        client: client.id,
        requestId: kept.requestId,
        expiresAt: new Date(now().getTime() + 2 * KEPT_MS),
      };
      if (!(await noteAnswered(tx.sql, realm, answered)))
        throw new OAuthError('invalid_request', 'The request was answered before');
      const named = { client: client.id, name: kept.name, indexes: kept.indexes };
      const found = await sessionsNamed(tx.sql, realm, named);
      const all = await participantsOf(tx.sql, realm, found);
      // The frames need this browser's cookies: they could end nothing for a session of another browser.
      const here = current && found.includes(current.id) ? await sessions.frames(tx, realm, [current.id], iss) : [];
      const ended = await sessions.endAll(tx, realm, by, found, { because: 'logout' });
      for (const { id, user } of ended)
        tx.record({ type: 'LOGOUT', realm, by, subject: user, clientId: client.entityId, data: { sessionId: id } });
      if (ended.length === 0)
        tx.record({
          type: 'LOGOUT',
          realm,
          by,
          clientId: client.entityId,
          outcome: 'failure',
          data: { sessionId: null },
        });
      return {
        ids: ended.map(({ id }) => id),
        others: all.filter(({ entityId }) => entityId !== client.entityId),
        frames: here,
      };
    });
    // The session belongs to another browser: signing out at its provider would sign out this browser's user instead.
    if (!current || !ids.includes(current.id)) return { rest: others, frames, over: undefined };
    sessions.clearCookie(reply, realm);
    await signIns.leave(request, reply, realm);
    return { rest: others, frames, over: url === undefined ? undefined : { url, token } };
  }

  async function endAndTell(context: Context, kept: KeptLogout): Promise<FastifyReply> {
    const { entityId, requestId, binding, relayState } = kept;
    const client = await clients.view(context.realm, entityId);
    if (!client) throw unknown(context, entityId, 'There is no such SAML client, or it is switched off');
    const { rest, frames, over } = await end(context, client, kept);
    const after = { to: 'client', entityId, requestId, binding, relayState } as const;
    const progress: SamlLogoutProgress = { rest, asked: null, partial: false, over, after };
    if (frames.length === 0) return proceed(context, progress);
    const { reply, realm } = context;
    return sendOnward(reply, { realm, brand: await settings.of(realm) }, await onwardPath(realm, progress), { frames });
  }

  /** Handles a service provider's answer: `InResponseTo`, an unguessable id, names the logout that it belongs to. */
  async function answered(context: Context, message: Message): Promise<FastifyReply> {
    const { realm, reply } = context;
    const { unverifiedMessage, verifiedMessage } = await reading();
    const read = unverifiedMessage(message);
    const hash = sha256(read.attributes.InResponseTo ?? '');
    const progress = await takeProgress(realmSql(realm), realm, hash, now());
    // The logout has expired. The sessions here ended before.
    if (!progress) return reply.redirect(signedOutPath(realm), 303);
    const certificates = (await clients.view(realm, progress.asked ?? ''))?.signingCertificates ?? [];
    const xml = verifiedMessage(message, read, { certificates, needed: certificates.length > 0 });
    const believed = xml && issuerOf(xml) === progress.asked && xml.name === 'LogoutResponse' && isDone(xml);
    return proceed(context, { ...progress, partial: progress.partial || !believed });
  }

  return {
    /**
     * Prepares to notify the service providers. Call it in the transaction that ends the sessions, before it ends them.
     * @returns the browser's first address on its way to `then`; undefined: there is no service provider to notify
     */
    async begin(tx: Tx, realm: string, sessionIds: readonly string[], then: Then): Promise<string | undefined> {
      const rest = await participantsOf(tx.sql, realm, sessionIds);
      if (rest.length === 0) return undefined;
      const token = newSecret();
      const progress: SamlLogoutProgress = { rest, asked: null, partial: false, after: then };
      await keepProgress(tx.sql, realm, { hash: sha256(token), progress, expiresAt: expiresAt() });
      return `${pathOf(realm)}?logout=${token}`;
    },

    /** Handles a message by the Redirect binding, or a browser that continues a logout. */
    async byRedirect(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      query: string,
    ): Promise<FastifyReply> {
      const context = { request, reply, realm };
      const parameters = new URLSearchParams(query);
      const [begun, sealed] = [parameters.get('logout'), parameters.get('request')];
      if (begun !== null && parameters.get('on') === null) {
        // An interstitial page: a form led here, and its content security policy doesn't name the following sites.
        return sendOnward(reply, { realm, brand: await settings.of(realm) }, onwardOf(realm, begun));
      }
      if (begun !== null) {
        const progress = await takeProgress(realmSql(realm), realm, sha256(begun), now());
        return progress ? proceed(context, progress) : reply.redirect(signedOutPath(realm), 303);
      }
      if (sealed !== null) {
        const kept = keeping.readLogout(realm, sealed);
        if (!kept) throw new OAuthError('invalid_request', 'The request is too old');
        return endAndTell(context, kept);
      }
      const { messageOf } = await reading();
      const message = messageOf('Redirect', query);
      return message.kind === 'SAMLResponse'
        ? answered(context, message)
        : endAndTell(context, await asked(context, message));
    },

    /** The POST binding. A request is redirected to GET, which carries the session's cookie (SameSite=Lax). */
    async byPost(request: FastifyRequest, reply: FastifyReply, realm: string, body: string): Promise<FastifyReply> {
      const context = { request, reply, realm };
      const { messageOf } = await reading();
      const message = messageOf('POST', body);
      if (message.kind === 'SAMLResponse') return answered(context, message);
      return reply.redirect(`${pathOf(realm)}?request=${keeping.write(await asked(context, message))}`, 303);
    },
  };
}
export type SingleLogout = ReturnType<typeof createSingleLogout>;
