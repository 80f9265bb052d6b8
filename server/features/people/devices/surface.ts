// Authenticates the callers of the device surface: a device by its signature, an app by its enrolment token, an application
// by an access token. Specification 5.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import {
  type AuthorizationDetail,
  detailsIn,
  TRANSACTION_TYPE,
  TRANSACTIONS_SCOPE,
} from '../../../domain/authorization-details.ts';
import { userParty } from '../../../domain/party.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import { problemChallenge } from '../../../http/challenge.ts';
import { bearerOf, realmOf } from '../../../http/oauth.ts';
import { wantsPage } from '../../../http/pages.ts';
import { presentedBy } from '../../../http/presented-token.ts';
import { problemOf, sendProblem } from '../../../http/problems.ts';
import { spokenTo } from '../../../http/spoken.ts';
import { mountSurface } from '../../../http/surface.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { DeviceKeys, EnrolledDevice } from '../credentials/devices.ts';
import { sendForApp } from './app-page.ts';
import type { Enrolments, OpenEnrolment } from './enrolment.ts';
import { type ProofClaims, signerOf, verifiedDeviceProof } from './proof.ts';

/** A device that signed the request, with the claims of its proof. */
export interface SigningDevice extends EnrolledDevice {
  claims: ProofClaims;
  /** The proof as it was sent. */
  jws: string;
}
/** An application that calls with a user's access token. */
export interface SigningApplication {
  userId: string;
  username: string;
  clientId: string;
  /** The transactions that the token is limited to (RFC 9396); none: it is not limited. */
  transactions: readonly AuthorizationDetail[];
}
declare module 'fastify' {
  interface FastifyRequest {
    device?: SigningDevice;
    enrolment?: OpenEnrolment;
    application?: SigningApplication;
  }
}

export interface DeviceSurface {
  sql: Sql;
  enrolments: Pick<Enrolments, 'find'>;
  deviceKeys: Pick<DeviceKeys, 'find'>;
  attempts: Pick<RateLimit, 'blocked' | 'fail'>;
  tokens: Pick<Tokens, 'present'>;
  subjects: Pick<Subjects, 'find'>;
  issuer(realm: string): Promise<string>;
  realmExists(realm: string): Promise<boolean>;
  baseUrl: string;
  now: () => Date;
}

/** Adds the hooks to every route of `app` (an encapsulated plugin). */
export function guardDevices(
  app: FastifyInstance,
  { sql, enrolments, deviceKeys, attempts, tokens, subjects, issuer, realmExists, baseUrl, now }: DeviceSurface,
): void {
  /** The address that the device must have signed for. */
  const audienceOf = ({ url }: FastifyRequest): string => `${baseUrl}${url.split('?')[0]}`;

  async function deviceOf(request: FastifyRequest): Promise<SigningDevice | undefined> {
    const realm = realmOf(request);
    const jws = /^Device +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const id = jws && signerOf(jws);
    const device = id ? await deviceKeys.find(sql, realm, id) : undefined;
    const at = { audience: audienceOf(request), now: now() };
    const claims = jws && device && (await verifiedDeviceProof(jws, { key: device.publicKey, ...at }));
    return device && claims ? { ...device, claims, jws } : undefined;
  }

  async function applicationOf(request: FastifyRequest): Promise<SigningApplication | undefined> {
    const realm = realmOf(request);
    const presented = presentedBy(request);
    const claims = presented && (await tokens.present(realm, presented, { audience: await issuer(realm) }));
    // Tokens of an impersonated session (`act`) are refused: an impersonator creates no transactions for the user.
    if (!claims || !isPersons(claims) || claims.act !== undefined || claims.client_id === undefined) return undefined;
    if (!(claims.scope ?? '').split(' ').includes(TRANSACTIONS_SCOPE))
      throw new Problem('insufficient-scope', `This needs an access token with the scope ${TRANSACTIONS_SCOPE}`);
    const [person] = await sql<{ id: string; username: string }>`
      select id, username from realm_user
      where realm_id = ${realm} and id = ${subjects.find(realm, claims) ?? null} and enabled`;
    const transactions = detailsIn(claims).filter(({ type }) => type === TRANSACTION_TYPE);
    return person && { userId: person.id, username: person.username, clientId: claims.client_id, transactions };
  }

  mountSurface(app, {
    name: 'devices',
    failed(error, request, reply) {
      void reply.header('vary', 'Accept');
      if (wantsPage(request) && request.headers.authorization === undefined)
        return spokenTo(request, () => sendForApp(reply, { status: problemOf(error).status }));
      // Only endpoints for applications name a challenge: a device signs each request anew, and an app reads its enrolment
      // token from a QR code.
      const byToken = request.routeOptions.config.contract?.principal === 'application';
      const challenge = byToken && problemChallenge(error, request, { baseUrl, scope: TRANSACTIONS_SCOPE });
      if (challenge) void reply.header('www-authenticate', challenge);
      return sendProblem(error, request, reply);
    },
    async arrive(request) {
      if (!(await realmExists(realmOf(request)))) throw new Problem('not-found', 'There is no such realm');
    },
    async identify(request) {
      const realm = realmOf(request);
      const principal = request.routeOptions.config.contract?.principal;
      if (principal === 'application') {
        const application = await applicationOf(request);
        if (application) request.application = application;
      } else if (principal === 'own-token') {
        const token = bearerOf(request);
        const enrolment = token === undefined ? undefined : await enrolments.find(realm, token);
        if (enrolment) request.enrolment = enrolment;
      } else {
        const device = await deviceOf(request);
        if (device) request.device = device;
      }
      const who = request.device ?? request.enrolment ?? request.application;
      if (!who) {
        // Only unauthenticated requests count, and only here: users behind one shared address don't block each other's
        // authenticated requests.
        const address = `${inRealm(realm, request.ip)} ${principal ?? 'device'}`;
        const retryAfterSeconds = attempts.blocked(address);
        if (retryAfterSeconds !== undefined)
          throw new Problem('too-many-requests', 'Too many requests from this address were refused. Try again later', {
            retryAfterSeconds,
          });
        attempts.fail(address);
        throw new Problem('unauthenticated', 'Send a token, or a proof that the device signed: see docs/devices.md');
      }
      request.party = userParty(who.userId, who.username);
    },
  });
}

/** The device that called; the surface has authenticated it. */
export function deviceOf({ device, routeOptions }: FastifyRequest): SigningDevice {
  if (!device) throw new Error(`${routeOptions.url} is not a device's`);
  return device;
}
export function applicationOf({ application, routeOptions }: FastifyRequest): SigningApplication {
  if (!application) throw new Error(`${routeOptions.url} is not an application's`);
  return application;
}
export function enrolmentOf({ enrolment, routeOptions }: FastifyRequest): OpenEnrolment {
  if (!enrolment) throw new Error(`${routeOptions.url} is not for an enrolment token`);
  return enrolment;
}
