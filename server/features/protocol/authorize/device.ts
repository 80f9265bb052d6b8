// Owns: devices that request access: their two codes, and the signed-in user who types the user code and decides.
// Does not own: checks of the request (checks.ts), issuing tokens (features/protocol/token), the look of pages
// (device-pages.ts).
// Implements: RFC 8628; decisions "Protocol paths". The page shows the asking device, its address and the time before the
// question.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { phrase } from '../../../contract/phrases.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { proofHolds, proofOf } from '../../../crypto/form-proof.ts';
import { newToken, sha256 } from '../../../crypto/tokens.ts';
import { newUserCode, readUserCode, shownUserCode } from '../../../crypto/user-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { agreementCovers, needsConsent } from '../../../domain/agreement.ts';
import * as devices from '../../../domain/device-codes.ts';
import type { Factors } from '../../../domain/factors.ts';
import { allowDevice } from '../../../domain/grants.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { actorOf, personOf } from '../../../domain/session.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { type Form, parseForm } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Consents } from '../../people/consent/service.ts';
import { type LiveSession, sessionCookieAt } from '../../people/sessions/service.ts';
import { createAdmission } from './admission.ts';
import type { AuthorizationRequest } from './checks.ts';
import { codePage, confirmPage, saidPage } from './device-pages.ts';
import { eventDataOf, grantDataOf } from './grant-data.ts';
import type { Clients, Requests } from './requests.ts';
import { storedParameters } from './stored-parameters.ts';

const LIFE_SECONDS = 600;
const INTERVAL_SECONDS = 5;

export const devicePath = (realm: string): string => `/realms/${realm}/device`;
/** The path to which a sign-in for a device returns: device-routes.ts serves it. */
export const deviceResumePath = (realm: string): string => `${devicePath(realm)}/resume`;

export interface DevicesDeps {
  sql: Sql;
  transact: Transact;
  clients: Pick<Clients, 'view'>;
  requests: Pick<Requests, 'readDevice'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  sessions: { current(request: FastifyRequest, realm: string): Promise<LiveSession | undefined> };
  signIns: Pick<SignIns, 'begin' | 'missing'>;
  factors: Factors;
  consents: Pick<Consents, 'of' | 'grant' | 'listed'>;
  subjects: Pick<Subjects, 'ofUser'>;
  /** The rate limits of typed codes, by address and by session. */
  typed: { address: Pick<RateLimit, 'take'>; session: Pick<RateLimit, 'take'> };
  baseUrl: string;
  now: () => Date;
}

/** The device whose user code the user entered. */
interface Found {
  waiting: devices.Waiting;
  client: ClientView;
  asked: AuthorizationRequest;
  userCode: string;
}
interface RequestContext {
  request: FastifyRequest;
  reply: FastifyReply;
  realm: string;
  brand: RealmSettingsDto;
}
type Signed = RequestContext & { session: LiveSession };

export function createDevices(deps: DevicesDeps) {
  const { sql, transact, clients, requests, settings, sessions, signIns, factors, consents, typed, now } = deps;
  const admit = createAdmission(deps);

  async function contextOf(request: FastifyRequest, reply: FastifyReply, realm: string): Promise<RequestContext> {
    const brand = await settings.of(realm);
    if (!brand) throw new OAuthError('not_found', 'There is no such realm');
    return { request, reply, realm, brand };
  }

  /** @throws OAuthError for a page */
  async function find({ realm, brand }: RequestContext, userCode: string): Promise<Found | undefined> {
    const waiting = await devices.waitingDevice(sql, realm, { userCodeHash: sha256(userCode), now: now() });
    const client = waiting && (await clients.view(realm, waiting.client_id));
    if (!waiting || !client?.enabled) return undefined;
    const asked = await requests.readDevice(realm, brand, parseForm(waiting.parameters), client);
    return { waiting, client, asked, userCode };
  }

  const askForCode = ({ request, reply, realm, brand, session }: Signed, given: string, complaint?: string) => {
    const proof = proofOf(cookieOf(request, realm), ['device', realm, session.id], now());
    const body = codePage({ realm, username: session.username, given, complaint, proof });
    return sendPage(
      reply,
      { realm, brand, title: text('device.title'), body, plain: true },
      { status: complaint ? 400 : 200 },
    );
  };
  const cookie = sessionCookieAt(deps.baseUrl);
  const cookieOf = (request: FastifyRequest, realm: string) => request.cookies[cookie.nameIn(realm)] ?? '';

  const begin = ({ request, reply, realm }: RequestContext, more: Partial<Parameters<SignIns['begin']>[2]>) =>
    signIns.begin(reply, request, {
      realm,
      requiredLevel: 0,
      forced: false,
      request: null,
      continueAt: devicePath(realm),
      ...more,
    });

  const signInFor = (realm: string, { client, asked, userCode }: Found) => ({
    realm,
    clientId: client.clientId,
    clientName: client.title,
    // the page describes an unregistered client, since no redirect URI in the device flow identifies it
    about: client.registered ? undefined : client.about,
    flow: client.flowOverride ?? undefined,
    requiredLevel: asked.requiredLevel,
    forced: false,
    request: { userCode },
    continueAt: deviceResumePath(realm),
  });

  const about = (realm: string, session: LiveSession, userCode: string, since: number) => [
    'device decision',
    realm,
    session.id,
    userCode,
    String(since),
  ];

  /** Whether the user has consented to all that the device requests; the device itself is confirmed separately. */
  async function isAgreed(realm: string, session: LiveSession, { client, asked }: Found): Promise<boolean> {
    if (asked.details.length > 0) return false;
    return (
      !needsConsent(client, asked.toAgree) ||
      agreementCovers(await consents.of(realm, session.userId, client), asked.toAgree)
    );
  }

  async function confirm(context: Signed, found: Found, since: number): Promise<FastifyReply> {
    const { request, reply, realm, brand, session } = context;
    const { client, asked, userCode, waiting } = found;
    await admit({ realm, ipAddress: request.ip }, client, session);
    const body = confirmPage({
      realm,
      application: client.title,
      username: session.username,
      userCode: shownUserCode(userCode),
      ipAddress: waiting.ip_address,
      createdAt: waiting.created_at,
      now: now(),
      agreement: (await isAgreed(realm, session, found)) ? undefined : consents.listed(asked),
      since,
      proof: proofOf(cookieOf(request, realm), about(realm, session, userCode, since), now()),
    });
    return sendPage(reply, { realm, brand, title: text('device.confirm'), body, plain: true });
  }

  async function allow(context: Signed, found: Found, since: number): Promise<boolean> {
    const { request, realm, session } = context;
    const { client, asked, waiting } = found;
    const sub = await admit({ realm, ipAddress: request.ip }, client, session);
    const by: By = { actor: actorOf(session), ipAddress: request.ip };
    const data = grantDataOf(factors, asked, { session, since, sub });
    const agreed = await isAgreed(realm, session, found);
    return transact(
      realm,
      async (tx) => {
        const kept = { hash: waiting.code_hash, sessionId: session.id, data, now: now() };
        if (!(await allowDevice(tx.sql, realm, kept))) return false;
        if (!agreed) await consents.grant(tx, by, realm, { userId: session.userId, client, agreed: asked.toAgree });
        tx.record({
          type: 'DEVICE_APPROVED',
          realm,
          by,
          clientId: client.clientId,
          subject: personOf(session),
          data: { ...eventDataOf(asked), sessionId: session.id, deviceAddress: waiting.ip_address },
        });
        return true;
      },
      { bookkeeping: true },
    );
  }

  const deny = ({ request, realm, session }: Signed, { client, waiting }: Found): Promise<void> =>
    transact(
      realm,
      async (tx) => {
        if (!(await devices.denyDevice(tx.sql, realm, waiting.code_hash, now()))) return;
        tx.record({
          type: 'DEVICE_DENIED',
          realm,
          by: { actor: actorOf(session), ipAddress: request.ip },
          clientId: client.clientId,
          subject: personOf(session),
          outcome: 'denied',
          data: { deviceAddress: waiting.ip_address },
        });
      },
      { bookkeeping: true },
    );

  /** @throws OAuthError for a page: an impersonated session connects no devices */
  async function signedIn(context: RequestContext): Promise<Signed | undefined> {
    const session = await sessions.current(context.request, context.realm);
    if (session?.impersonator)
      throw new OAuthError('access_denied', 'An impersonated session connects no devices', {
        page: { told: text('device.acting') },
      });
    return session && { ...context, session };
  }

  const tooOld = () =>
    new OAuthError('invalid_request', 'The page is too old', { page: { told: text('device.tooOld') } });

  return {
    /** Handles a device's request. @throws OAuthError the fault, as the authorization endpoint would report it */
    async start(by: By, realm: string, client: ClientView, form: Form): Promise<Record<string, unknown>> {
      const ofRealm = await settings.of(realm);
      if (!ofRealm) throw new OAuthError('not_found', 'There is no such realm');
      const parameters = storedParameters(form, client);
      const asked = await requests.readDevice(realm, ofRealm, parseForm(parameters), client);
      const [deviceCode, userCode, createdAt] = [newToken('svc_dc_'), newUserCode(), now()];
      await transact(realm, async (tx) => {
        const kept = await devices.insertDeviceCode(tx.sql, realm, {
          hash: sha256(deviceCode),
          userCodeHash: sha256(userCode),
          client: client.id,
          parameters,
          ipAddress: by.ipAddress ?? '',
          createdAt,
          expiresAt: new Date(createdAt.getTime() + LIFE_SECONDS * 1000),
          intervalSeconds: INTERVAL_SECONDS,
        });
        if (!kept) throw new OAuthError('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
        tx.record({
          type: 'DEVICE_AUTHORIZATION_REQUESTED',
          realm,
          by,
          clientId: client.clientId,
          data: eventDataOf(asked),
        });
      });
      const uri = `${deps.baseUrl}${devicePath(realm)}`;
      return {
        device_code: deviceCode,
        user_code: shownUserCode(userCode),
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${shownUserCode(userCode)}`,
        expires_in: LIFE_SECONDS,
        interval: INTERVAL_SECONDS,
      };
    },

    /**
     * Opens the page. It shows a code from its address, so that the user compares it with the device's, and reveals
     * nothing about it.
     */
    async open(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      const context = await contextOf(request, reply, realm);
      const code = readUserCode(form.get('user_code'));
      const given = code === undefined ? '' : shownUserCode(code);
      const signed = await signedIn(context);
      if (signed) return askForCode(signed, given);
      return begin(context, { continueAt: deviceResumePath(realm), request: { given } });
    },

    /** Continues after a sign-in, to the page or to a further demand of the client. */
    async resume(
      request: FastifyRequest,
      reply: FastifyReply,
      realm: string,
      kept: { given?: string | undefined; userCode?: string | undefined },
      done: { sessionId: string; since: number },
    ): Promise<FastifyReply> {
      const signed = await signedIn(await contextOf(request, reply, realm));
      if (!signed || signed.session.id !== done.sessionId) return reply.redirect(devicePath(realm), 303);
      if (kept.userCode === undefined) return askForCode(signed, kept.given ?? '');
      const found = await find(signed, kept.userCode);
      if (!found) return askForCode(signed, '', text('device.wrong'));
      return confirm(signed, found, done.since);
    },

    /** Handles the code that the user entered. */
    async enter(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      const context = await contextOf(request, reply, realm);
      const signed = await signedIn(context);
      if (!signed) return begin(context, { continueAt: deviceResumePath(realm), request: {} });
      const { session } = signed;
      if (!proofHolds(form.get('proof'), cookieOf(request, realm), ['device', realm, session.id], now()))
        throw tooOld();
      const retryAfterSeconds = typed.address.take(inRealm(realm, request.ip)) ?? typed.session.take(session.id);
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', phrase('tooManyCodes'), { retryAfterSeconds });
      const userCode = readUserCode(form.get('user_code'));
      const found = userCode === undefined ? undefined : await find(signed, userCode);
      if (!found) return askForCode(signed, '', text('device.wrong'));
      const asked = signInFor(realm, found);
      return (await signIns.missing(request, { ...asked, session }))
        ? begin(signed, { ...asked, session })
        : confirm(signed, found, 0);
    },

    /** Handles the user's decision. The page is shown only to a sufficient session, so the session isn't judged again. */
    async decide(request: FastifyRequest, reply: FastifyReply, realm: string, form: Form): Promise<FastifyReply> {
      const context = await contextOf(request, reply, realm);
      const signed = await signedIn(context);
      const userCode = readUserCode(form.get('user_code'));
      const since = Number(form.get('since'));
      if (!signed || userCode === undefined) throw tooOld();
      const subject = about(realm, signed.session, userCode, since);
      if (!proofHolds(form.get('proof'), cookieOf(request, realm), subject, now())) throw tooOld();
      const found = await find(signed, userCode);
      if (!found) throw tooOld();
      const allowed = form.get('decision') === 'allow';
      if (!allowed) await deny(signed, found);
      else if (!(await allow(signed, found, since))) throw tooOld();
      const title = text(allowed ? 'device.allowed' : 'device.denied');
      const body = text(allowed ? 'device.goOnThere' : 'device.nothingAllowed');
      return sendPage(reply, { realm, brand: context.brand, title, body: saidPage(body) });
    },
  };
}
export type Devices = ReturnType<typeof createDevices>;
