// The admin surface, in order: authentication, CSRF, permission in the path's realm, existence of that realm, the handler.
// Deny by default: a route without a contract is refused. Specification 5; decisions "Admin authentication".

import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { InClient } from '../../../contract/names.ts';
import { type Permission, PermissionName } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Route } from '../../../contract/route.ts';
import { isCsrfTokenOf, newCsrfToken } from '../../../crypto/form-proof.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import { sameSecret } from '../../../crypto/tokens.ts';
import { SECOND_FACTOR } from '../../../domain/factors.ts';
import {
  byPrincipal,
  hasPermission,
  type Principal,
  partyOf,
  principalOf,
  reachOf,
} from '../../../domain/principal.ts';
import type { Named, Reach } from '../../../domain/reach.ts';
import { isAudited } from '../../../events/denials.ts';
import { challenge } from '../../../http/challenge.ts';
import { adminMetadata } from '../../../http/own-addresses.ts';
import { pathRealm } from '../../../http/path-realm.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import { problemOf, sendProblem } from '../../../http/problems.ts';
import { mountSurface } from '../../../http/surface.ts';
import type { Caller } from './service.ts';

export const ADMIN_SESSION_COOKIE = 'SVC_ADMIN_SESSION';
export const CSRF_COOKIE = 'XSRF-TOKEN';

export interface AdminSurface {
  baseUrl: string;
  /** Finds the caller by bearer token or session cookie; undefined: neither is valid. */
  authenticate(credential: { token: PresentedToken } | { cookie: string }): Promise<Caller | undefined>;
  realmExists(realm: string): Promise<boolean>;
  /** The id of the client that a path names by its id or its client id. */
  idOfClient(realm: string, named: string): Promise<string | undefined>;
  /** Whether an administrator of single groups or clients may reach the object that the path names. */
  reaches(realm: string, reach: Reach, named: Named, how: { writes: boolean }): Promise<boolean>;
  /** Audits a denied request (ACCESS_DENIED). */
  denied(attempt: {
    realm: string;
    /** The caller's home realm. */
    home?: string;
    by: By;
    permission: Permission | 'csrf' | 'privilege-escalation' | 'declared-only';
    method: string;
    path: string;
  }): Promise<void>;
  /** svc_admin_write_total. */
  countWrite(labels: { realm: string; method: string; outcome: 'success' | 'denied' | 'failure' }): void;
}

/** RFC 9470 §3. */
const STEP_UP = { error: 'insufficient_user_authentication', acr_values: String(SECOND_FACTOR) };

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Hooks for every admin route of `app` (an encapsulated plugin). */
export function guardAdmin(app: FastifyInstance, surface: AdminSurface): void {
  const deny = (
    request: FastifyRequest,
    principal: Principal,
    permission: Permission | 'csrf' | 'privilege-escalation' | 'declared-only',
  ): Promise<void> =>
    surface.denied({
      realm: pathRealm(request) ?? principal.realm,
      home: principal.realm,
      by: byPrincipal(principal, request.ip),
      permission,
      method: request.method,
      path: request.url.split('?')[0] ?? '',
    });

  const refuse = async (
    request: FastifyRequest,
    principal: Principal,
    permission: Permission | 'csrf',
    problem: Problem,
  ): Promise<never> => {
    await deny(request, principal, permission);
    throw problem;
  };

  const protect = async (request: FastifyRequest, reply: FastifyReply, principal: Principal): Promise<void> => {
    if (!WRITES.has(request.method)) return issueCsrf(request, reply, surface.baseUrl);
    if (csrfHolds(request, request.headers['x-xsrf-token'])) return;
    const how = `Send the value of the cookie ${CSRF_COOKIE} in the header X-XSRF-TOKEN`;
    await refuse(request, principal, 'csrf', new Problem('csrf-mismatch', how));
  };

  /**
   * Lets in an administrator who holds the permission for single groups or clients; the handler checks the request's
   * reach.
   */
  const reaches = async (
    request: FastifyRequest,
    { reach: asked, params }: Route,
    principal: Principal,
    realm: string,
    permission: Permission,
  ): Promise<boolean> => {
    const reach = asked && reachOf(principal, realm, permission);
    const path = z.record(z.string(), z.string()).safeParse(params.safeParse(request.params).data).data;
    if (!reach || !path) return false;
    if (asked !== 'rows') {
      const named = Object.fromEntries(Object.entries(asked).map(([what, param]) => [what, path[param]]));
      if (!(await surface.reaches(realm, reach, named, { writes: WRITES.has(request.method) }))) return false;
    }
    request.reach = reach;
    return true;
  };

  /** Handlers below a client get its id, however the path names it; for an unknown client an id that no client has. */
  const nameClient = async (request: FastifyRequest, { path }: Route, realm: string): Promise<void> => {
    const { data } = InClient.safeParse({ realm, clientId: Object(request.params).clientId });
    if (!data || !path.includes('/clients/:clientId/')) return;
    const clientId = (await surface.idOfClient(realm, data.clientId)) ?? NIL_ID;
    Object.assign(Object(request.params), { clientId });
  };

  mountSurface(app, {
    name: 'admin',
    async failed(error, request, reply) {
      const { status, code } = problemOf(error);
      // RFC 9110 §15.5.2: a 401 names the accepted scheme. It names no scheme that browsers implement (Basic), since
      // this server doesn't accept it.
      if (status === 401) {
        const said = code === 'step-up-required' ? STEP_UP : {};
        const metadata = adminMetadata(surface.baseUrl);
        void reply.header('www-authenticate', challenge('admin', { said, metadata }));
      }
      // The caller may use the route, but asked for more than they hold, or for what only documents change. The feature has
      // rolled its transaction back.
      const denied = code === 'privilege-escalation' || code === 'declared-only' ? code : lackedFor(error);
      if (denied && request.principal)
        await deny(request, request.principal, denied).catch((failure: unknown) =>
          request.log.error({ err: failure }, 'a denied request could not be audited'),
        );
      return sendProblem(error, request, reply);
    },
    async identify(request, reply) {
      const { principal, moreToProve, cookie } = await identify(request, surface);
      request.principal = principal;
      request.party = partyOf(principal);
      if (cookie) await protect(request, reply, principal);
      if (moreToProve && request.routeOptions.config.contract?.principal !== 'admin-session') throw stepUp(cookie);
    },
    async permit(request, route) {
      const { permission } = route;
      if (permission === null) return;
      const principal = principalOf(request);
      const realm = pathRealm(request) ?? '-';
      await nameClient(request, route, realm);
      if (
        !hasPermission(principal, realm, permission) &&
        !(await reaches(request, route, principal, realm, permission))
      ) {
        const needed = `This needs the permission ${permission} in the realm ${realm}`;
        await refuse(request, principal, permission, new Problem('forbidden', needed));
      }
      if (!(await surface.realmExists(realm))) throw new Problem('not-found', `There is no realm ${realm}`);
    },
  });

  app.addHook('onResponse', async (request, reply) => {
    if (!WRITES.has(request.method) || request.routeOptions.config.contract?.principal === 'anonymous') return;
    const status = reply.statusCode;
    const outcome = status < 400 ? 'success' : status === 401 || status === 403 ? 'denied' : 'failure';
    surface.countWrite({
      realm: pathRealm(request) ?? request.principal?.realm ?? 'master',
      method: request.method,
      outcome,
    });
  });
}

/** The further permission that a handler found missing; undefined: the error is another one, or is audited already. */
const lackedFor = (error: unknown): Permission | undefined =>
  error instanceof Problem && error.code === 'forbidden' && !isAudited(error)
    ? PermissionName.safeParse(error.extra?.permission).data
    : undefined;

const stepUp = (cookie: boolean): Problem =>
  new Problem(
    'step-up-required',
    cookie
      ? 'A second factor is asked for now, which this session has not proven. Send a one-time code to POST /admin/session/step-up, or sign in anew at /admin/login, where one can be set up'
      : 'A second factor is asked for now, which was not proven for this token. Sign in anew; one can be set up there',
  );

async function identify(request: FastifyRequest, surface: AdminSurface): Promise<Caller & { cookie: boolean }> {
  const token = presentedBy(request);
  const session = request.cookies[ADMIN_SESSION_COOKIE];
  const caller = token
    ? await surface.authenticate({ token })
    : session
      ? await surface.authenticate({ cookie: session })
      : undefined;
  if (!caller)
    throw new Problem('unauthenticated', 'Sign in at /admin/login, or send a bearer token for the admin API');
  return { ...caller, cookie: !token };
}

/** Whether the token that was sent equals the cookie and belongs to this session. */
export function csrfHolds({ cookies }: FastifyRequest, sent: unknown): boolean {
  const cookie = cookies[CSRF_COOKIE];
  if (typeof sent !== 'string' || !cookie || !sameSecret(sent, cookie)) return false;
  return isCsrfTokenOf(cookies[ADMIN_SESSION_COOKIE] ?? '', cookie);
}

/** Any GET refreshes the cookie (specification 5, rule 1). */
function issueCsrf(request: FastifyRequest, reply: FastifyReply, baseUrl: string): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') return;
  setCsrf(reply, baseUrl);
}

/** Sets a fresh CSRF cookie and returns its value. At a sign-in, `session` is the cookie of the new session. */
export function setCsrf(reply: FastifyReply, baseUrl: string, session?: string): string {
  const token = newCsrfToken(session ?? reply.request.cookies[ADMIN_SESSION_COOKIE] ?? '');
  void reply.setCookie(CSRF_COOKIE, token, {
    path: '/',
    sameSite: 'lax',
    secure: baseUrl.startsWith('https:'),
    httpOnly: false,
  });
  return token;
}
