// The protocol surface under /realms/{realm}: form bodies, no-store, the realm must exist, CORS, OAuth's error form.
// features/protocol/authorize and features/protocol/logout show browser errors as pages. Decisions "Errors", "Protocol
// paths".

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../contract/problem.ts';
import type { Served, SurfaceName } from '../contract/surface.ts';
import { whileAway } from '../db/stale.ts';
import { challenge, quotableText, realmChallenge } from './challenge.ts';
import { type Form, parseForm, queryOf } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import { pathRealm } from './path-realm.ts';
import { detailOf, problemOf } from './problems.ts';
import { refuseMisplaced } from './surface.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For routes on OAuth's surfaces: the kind of caller. */
    served?: Served;
  }
}

const REALM = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const BODY_LIMIT = 64 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

/** The realm of the path. */
export const realmOf = (request: FastifyRequest): string => pathRealm(request) ?? '';

/** The parameters of a form body; other bodies are refused (RFC 6749 §3.2). */
export function formOf(request: FastifyRequest): Form {
  if (typeof request.body !== 'string') {
    throw new OAuthError('invalid_request', 'Send the parameters as application/x-www-form-urlencoded');
  }
  return parseForm(request.body);
}

/** The parameters of a request that may come by GET or POST. */
export const paramsOf = (request: FastifyRequest): Form =>
  request.method === 'POST' ? formOf(request) : parseForm(queryOf(request.url));

/** The token of an Authorization header (RFC 6750 §2.1). */
export const bearerOf = (request: FastifyRequest): string | undefined =>
  /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];

/** Sends a string that is JSON already. */
export const sendJson = (reply: FastifyReply, json: string): FastifyReply =>
  reply.header('content-type', JSON_TYPE).send(json);

/** Renders an error: as JSON, or as a page. */
export type FailureHandler = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>;

/** Hooks and parsers of the protocol endpoints of `app` (an encapsulated plugin). */
export function guardProtocol(
  app: FastifyInstance,
  {
    surface = 'protocol',
    realmExists,
    baseUrl,
    goesOn,
    failed = sendsOAuthErrors(baseUrl),
  }: {
    surface?: SurfaceName;
    realmExists(realm: string): Promise<boolean>;
    /**
     * The base of the metadata address for the realm's APIs; absent: the surface accepts no access tokens of the realm.
     */
    baseUrl?: string;
    /** The routes that know a realm for so long while the database is away. */
    goesOn?: { ms: number; urls: ReadonlySet<string> };
    failed?: FailureHandler;
  },
): void {
  app.decorate('surface', surface);
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    // Hidden routes have no contract: steps within a page, and CORS preflights.
    if (schema?.hide || ['OPTIONS', 'HEAD'].includes(String(method))) return;
    if (!config?.served) throw new Error(`${method} ${url} must say whom it serves`);
    refuseMisplaced(app, { method: String(method), path: url, ...config.served });
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    (_request, body, done) => done(null, body),
  );
  // The schemas of these routes only document; the endpoints parse by the rules of their RFCs.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setErrorHandler(failed);
  // With `done` instead of a promise, which would delay every token request by a turn of the queue.
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('cache-control', 'no-store');
    const realm = realmOf(request);
    const next = (exists: boolean) => (exists ? done() : done(new OAuthError('not_found', 'There is no such realm')));
    const ms = goesOn && goesOn.ms > 0 && goesOn.urls.has(request.routeOptions.url ?? '') ? goesOn.ms : 0;
    if (REALM.test(realm)) whileAway(ms, () => realmExists(realm)).then(next, done);
    else next(false);
  });
}

/** Converts any error to an OAuth error: faults that are the sender's at the admin API are the sender's here, too. */
export function oauthErrorOf(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const problem = problemOf(error);
  const { code, status, retryAfterSeconds } = problem;
  const later = { cause: error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (code === 'unavailable') return new OAuthError('temporarily_unavailable', undefined, later);
  if (code === 'too-many-requests') return new OAuthError('slow_down', problem.words, later);
  if (status >= 500) return new OAuthError('server_error', undefined, { cause: error });
  const description = error instanceof Problem ? detailOf(problem) : undefined;
  return new OAuthError('invalid_request', description ?? 'The request is malformed', { cause: error });
}

/** Logs the client, the refusal and its reason in one line, without the request's secrets. */
export function logRefusal(request: FastifyRequest, error: OAuthError): void {
  const { reason, clientId: client } = error;
  const who = { realm: realmOf(request), ...(client !== undefined && { client }), address: request.ip };
  if (error.status >= 500) request.log.error({ ...who, err: error.cause ?? error }, error.error);
  else if (reason !== undefined || client !== undefined)
    request.log.info({ ...who, ...(reason !== undefined && { reason }) }, error.error);
}

/** RFC 6749 §5.2 and RFC 6750 §3. */
const sendsOAuthErrors = (baseUrl?: string) => (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const error = oauthErrorOf(thrown);
  logRefusal(request, error);
  if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', String(error.retryAfterSeconds));
  const said = challengeOf(error, request, baseUrl);
  if (said !== undefined && !reply.hasHeader('www-authenticate')) {
    void reply.header('www-authenticate', said);
  }
  const { error: code, description, more } = error;
  const body = { error: code, ...(description !== undefined && { error_description: description }), ...more };
  return sendJson(reply.code(error.status), JSON.stringify(body));
};

function challengeOf(
  { error, description }: OAuthError,
  request: FastifyRequest,
  baseUrl?: string,
): string | undefined {
  const realm = realmOf(request);
  if (error === 'invalid_client') return `Basic realm="${quotableText(realm)}"`;
  if (error !== 'invalid_token' && error !== 'insufficient_scope') return undefined;
  const said = { error, ...(description !== undefined && { error_description: description }) };
  return baseUrl === undefined ? challenge(realm, { said }) : realmChallenge(baseUrl, realm, said);
}
