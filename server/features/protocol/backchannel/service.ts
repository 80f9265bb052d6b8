// Owns: backchannel authentication: a client's request, and the user who decides it on a device.
// Does not own: whom the request names (hints.ts), its checks (features/protocol/authorize), issuing tokens, telling the client.
// Implements: OpenID Connect CIBA Core 1.0, FAPI-CIBA; decisions "Backchannel authentication".
import { isDeepStrictEqual } from 'node:util';
import type { BackchannelQuestion } from '../../../contract/backchannel.ts';
import type { By } from '../../../contract/events.ts';
import { isAllSeen, isComposed, isOneLine } from '../../../contract/names.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, newToken, sameSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { needsConsent } from '../../../domain/agreement.ts';
import * as store from '../../../domain/backchannel-requests.ts';
import type { Factors } from '../../../domain/factors.ts';
import { userParty } from '../../../domain/party.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { type Form, parseForm } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { Consents } from '../../people/consent/service.ts';
import type { DeviceKeys } from '../../people/credentials/devices.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { UserCodes } from '../../people/credentials/user-codes.ts';
import type { SigningDevice } from '../../people/devices/surface.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { createAdmission } from '../authorize/admission.ts';
import { eventDataOf, grantDataOf } from '../authorize/grant-data.ts';
import type { RequestObjects } from '../authorize/request-objects.ts';
import type { Clients, Requests } from '../authorize/requests.ts';
import { storedParameters } from '../authorize/stored-parameters.ts';
import { createHints, type HintDeps } from './hints.ts';
import { NOTIFY_JOB, notificationContext } from './notify-terms.ts';

const LIFE_SECONDS = { least: 30, usual: 300, most: 600 };
const INTERVAL_SECONDS = 5;
const MOST_MESSAGE = 100;
const MOST_CODE = 64;
/** As for pushes of sign-ins: a user who is asked again and again must not approve in the end to be left alone. */
const MOST_UNANSWERED = { ofClient: 4, ofAll: 8 };
const WINDOW_MS = 600_000;
/** The level that a device proves. */
const LEVEL = 6;
const ONCE_ONLY = [
  'login_hint',
  'login_hint_token',
  'id_token_hint',
  'client_notification_token',
  'request',
  'user_code',
];
/** RFC 6750 §2.1 */
const BEARER = /^[A-Za-z0-9._~+/-]{1,1024}=*$/;

export interface BackchannelDeps extends HintDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  send: Send;
  enqueue: Enqueue;
  clients: Pick<Clients, 'view'>;
  requests: Pick<Requests, 'readBackchannel'>;
  requestObjects: Pick<RequestObjects, 'open'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined>; issuer(realm: string): Promise<string> };
  sessions: Pick<Sessions, 'plan' | 'begin' | 'makeRoom'>;
  factors: Factors;
  consents: Pick<Consents, 'grant' | 'lines'>;
  deviceKeys: Pick<DeviceKeys, 'used'>;
  credentials: Pick<Credentials, 'standing'>;
  userCodes: Pick<UserCodes, 'holds'>;
  /** The rate limit of each user's code. */
  codesTyped: Pick<RateLimit, 'take'>;
  subjects: Pick<Subjects, 'ofUser' | 'find'>;
  /** The rate limit of each client. */
  asked: Pick<RateLimit, 'take'>;
  newId: () => string;
}

const bad = (description: string) => new OAuthError('invalid_request', description);

export function createBackchannel(deps: BackchannelDeps) {
  const { sql, transact, seal, send, enqueue, clients, requests, requestObjects, settings, sessions } = deps;
  const { factors, consents, deviceKeys, credentials, now, newId } = deps;
  const hinted = createHints(deps);
  const admit = createAdmission(deps);

  async function ofRealm(realm: string): Promise<RealmSettingsDto> {
    const found = await settings.of(realm);
    if (!found) throw new OAuthError('not_found', 'There is no such realm');
    return found;
  }

  /** CIBA Core §7.1.1. FAPI-CIBA §5.2.2: under a profile requests are signed. */
  async function opened(realm: string, client: ClientView, sent: Form): Promise<Form> {
    if (sent.get('request') !== undefined)
      return requestObjects.open(realm, client, sent, { first: true, backchannel: true });
    if (client.requireSignedRequestObject || client.profile !== null)
      throw bad('Requests of this client have to be signed');
    return sent;
  }

  function messageOf(client: ClientView, form: Form): string | null {
    const message = form.get('binding_message');
    if (message === undefined && client.profile !== null) throw bad('binding_message is needed');
    if (message === undefined) return null;
    if (message.length > MOST_MESSAGE || !isAllSeen(message) || !isOneLine(message) || !isComposed(message))
      throw new OAuthError(
        'invalid_binding_message',
        `binding_message is one line of ${MOST_MESSAGE} characters at most, all of them visible`,
      );
    return message;
  }

  function notificationOf(client: ClientView, form: Form): string | undefined {
    if (client.backchannelNotificationEndpoint === null) return undefined;
    const token = form.get('client_notification_token');
    if (token === undefined || !BEARER.test(token)) throw bad('client_notification_token is needed, a bearer token');
    return token;
  }

  /** undefined: the client needs none. CIBA Core §7.1. */
  function userCodeOf(client: ClientView, form: Form): string | undefined {
    const code = form.get('user_code');
    if (!client.sendsUserCode) return undefined;
    if (code === undefined || code === '') throw new OAuthError('missing_user_code', 'user_code is needed');
    return code.slice(0, MOST_CODE);
  }

  function secondsOf(form: Form): number {
    const asked = form.get('requested_expiry');
    if (asked === undefined) return LIFE_SECONDS.usual;
    if (!/^[1-9]\d{0,8}$/.test(asked)) throw bad('requested_expiry is a number of seconds');
    return Math.min(Math.max(Number(asked), LIFE_SECONDS.least), LIFE_SECONDS.most);
  }

  const notify = (tx: Tx, realm: string, { id, notified }: store.WaitingRequest) =>
    notified ? enqueue(tx.sql, NOTIFY_JOB, [{ realm, id }]) : undefined;

  async function askedBy(realm: string, { client_id, parameters }: store.WaitingRequest) {
    const client = await clients.view(realm, client_id);
    if (!client?.enabled) return undefined;
    try {
      return await requests.readBackchannel(realm, await ofRealm(realm), parseForm(parameters), client);
    } catch (error) {
      // The client, or what it may ask for, has changed meanwhile.
      if (error instanceof OAuthError) return undefined;
      throw error;
    }
  }
  type Readable = NonNullable<Awaited<ReturnType<typeof askedBy>>>;

  const toWire = (row: store.WaitingRequest, asked: Readable): BackchannelQuestion => ({
    id: row.id,
    challenge: row.challenge,
    username: row.username,
    application: asked.client.title,
    bindingMessage: row.binding_message,
    asks: consents.lines(asked),
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
  });

  const notThere = () => new Problem('not-found', 'There is no such question');
  const over = () => new Problem('wrong-state', 'The question was answered already or has expired');
  const differs = (path: string) =>
    new Problem('invalid-request', undefined, { errors: [{ path, message: 'differs from the question' }] });

  async function deny(realm: string, by: By, device: SigningDevice, id: string): Promise<void> {
    await transact(realm, async (tx) => {
      const row = await store.lockWaiting(tx.sql, realm, { id, userId: device.userId, now: now() });
      if (!row) throw over();
      await store.denyRequest(tx.sql, realm, row.code_hash, now());
      deviceKeys.used(tx, realm, device.id);
      await notify(tx, realm, row);
      tx.record({
        type: 'BACKCHANNEL_DENIED',
        realm,
        by,
        clientId: row.client_id,
        subject: userParty(row.user_id, row.username),
        outcome: 'denied',
        data: { device: device.id, bindingMessage: row.binding_message },
      });
    });
  }

  async function approve(realm: string, by: By, device: SigningDevice, asked: Readable, id: string): Promise<void> {
    const { client } = asked;
    const planned = await sessions.plan(realm, {
      user: { id: device.userId, username: device.username },
      factors: [{ authenticator: 'push', at: now().getTime() }],
      findings: null,
      proven: { userId: device.userId, credentials: [device.id] },
      rememberMe: false,
      ipAddress: by.ipAddress,
      userAgent: null,
    });
    const { session } = planned;
    const sub = await admit({ realm, ipAddress: by.ipAddress ?? '' }, client, session);
    const data = { ...grantDataOf(factors, asked, { session, since: 0, sub }), backchannel: true as const };
    await transact(realm, async (tx) => {
      const row = await store.lockWaiting(tx.sql, realm, { id, userId: device.userId, now: now() });
      if (!row) throw over();
      await sessions.makeRoom(tx, realm, by, { id: device.userId, username: device.username });
      sessions.begin(tx, realm, planned);
      store.approveRequest(tx.atLast, realm, { hash: row.code_hash, sessionId: session.id, data });
      deviceKeys.used(tx, realm, device.id);
      if (needsConsent(client, asked.toAgree))
        await consents.grant(tx, by, realm, { userId: device.userId, client, agreed: asked.toAgree });
      await notify(tx, realm, row);
      tx.record({
        type: 'BACKCHANNEL_APPROVED',
        realm,
        by,
        clientId: row.client_id,
        subject: userParty(row.user_id, row.username),
        data: {
          ...eventDataOf(asked),
          device: device.id,
          sessionId: session.id,
          bindingMessage: row.binding_message,
        },
      });
    });
  }

  return {
    /** Handles a client's request: the same way whether the user exists or not. @throws OAuthError */
    async start(by: By, realm: string, client: ClientView, sent: Form): Promise<Record<string, unknown>> {
      if (client.authMethod === 'none') throw new OAuthError('unauthorized_client', 'A public client may not ask');
      const retryAfterSeconds = deps.asked.take(`${realm} ${client.id}`);
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many requests of this client', { retryAfterSeconds });
      const policy = await ofRealm(realm);
      const form = await opened(realm, client, sent);
      const parameters = storedParameters(form, client, { without: ONCE_ONLY });
      const asked = await requests.readBackchannel(realm, policy, parseForm(parameters), client);
      if (!asked.openid) throw bad('scope must contain openid');
      if (asked.requiredLevel > LEVEL)
        throw new OAuthError('unmet_authentication_requirements', 'No such acr can be reached');
      const [bindingMessage, token, seconds] = [messageOf(client, form), notificationOf(client, form), secondsOf(form)];
      const code = userCodeOf(client, form);
      const { userId, hint } = await hinted(realm, client, form);
      const [authReqId, id, createdAt] = [newToken('svc_ba_'), newId(), now()];
      const expiresAt = new Date(createdAt.getTime() + seconds * 1000);
      const hintHash = sha256(hint);
      const named = { userId, hint: hintHash.toString('base64url') };
      if (code !== undefined && !(await deps.userCodes.holds(realm, named, code, deps.codesTyped)))
        throw new OAuthError('invalid_user_code', 'user_code is not right');
      await transact(realm, async (tx) => {
        const since = new Date(createdAt.getTime() - WINDOW_MS);
        const of = { userId, client: client.id, hintHash, bindingMessage, now: createdAt, since };
        const lately = await store.readLately(tx.sql, realm, of);
        if (lately.repeated)
          throw new OAuthError('invalid_binding_message', 'A request with this binding_message is waiting already');
        const isQuiet =
          lately.denied === 0 && lately.unanswered < MOST_UNANSWERED.ofClient && lately.of_all < MOST_UNANSWERED.ofAll;
        const shown = isQuiet && !lately.like;
        await store.insertRequest(tx.sql, realm, {
          id,
          hash: sha256(authReqId),
          client: client.id,
          userId,
          hintHash,
          parameters,
          bindingMessage,
          challenge: newSecret(),
          shown,
          notification:
            token === undefined
              ? null
              : seal.seal(JSON.stringify({ authReqId, token }), notificationContext(realm, id)),
          createdAt,
          expiresAt,
          intervalSeconds: INTERVAL_SECONDS,
        });
        const message = { realm, by, templateKey: 'push-transaction', values: { client: client.title } } as const;
        const data = { backchannel: id, realm };
        await send(tx, { ...message, userId: shown ? userId : null, goodForSeconds: seconds, data });
        tx.record({
          type: 'BACKCHANNEL_REQUESTED',
          realm,
          by,
          clientId: client.clientId,
          subject: userId === null ? null : userParty(userId, null),
          ...(!shown && { outcome: 'denied' as const }),
          data: {
            ...eventDataOf(asked),
            bindingMessage,
          },
        });
      });
      // A client that gets its tokens pushed does not poll.
      const polls = client.tokensArePushed ? {} : { interval: INTERVAL_SECONDS };
      return { auth_req_id: authReqId, expires_in: seconds, ...polls };
    },

    async list(realm: string, device: SigningDevice): Promise<BackchannelQuestion[]> {
      const rows = await store.waitingRequests(sql, realm, device.userId, now());
      const all = await Promise.all(
        rows.map(async (row) => {
          const asked = await askedBy(realm, row);
          return asked ? [toWire(row, asked)] : [];
        }),
      );
      return all.flat();
    },

    async decide(by: By, realm: string, device: SigningDevice, id: string): Promise<void> {
      const { claims } = device;
      const rows = await store.waitingRequests(sql, realm, device.userId, now());
      const row = rows.find((one) => one.id === id);
      if (!row) throw notThere();
      if (!sameSecret(row.challenge, String(claims.challenge ?? ''))) throw differs('challenge');
      if (claims.decision === 'deny') return deny(realm, by, device, id);
      if (claims.decision !== 'approve') throw differs('decision');
      const asked = await askedBy(realm, row);
      if (!asked) throw over();
      const question = toWire(row, asked);
      if ((claims.bindingMessage ?? null) !== question.bindingMessage) throw differs('bindingMessage');
      if (!isDeepStrictEqual(claims.asks, question.asks)) throw differs('asks');
      const standing = await credentials.standing(realm, device.userId);
      // No flow runs here that could ask for it. The request waits meanwhile.
      if (standing && standing.actions.length > 0)
        throw new Problem('wrong-state', 'Sign in once in a browser: something is asked of you there first');
      try {
        return await approve(realm, by, device, asked, id);
      } catch (error) {
        // The user may not use the application: the client is told, as at the authorization endpoint.
        if (!(error instanceof OAuthError)) throw error;
        await deny(realm, by, device, id);
        throw new Problem('wrong-state', error.description);
      }
    },
  };
}
export type Backchannel = ReturnType<typeof createBackchannel>;
