// The HTTP server below all surfaces: limits on a request's size and time, the parsing of bodies, the responses to
// errors. Each surface authenticates its own callers (surface.ts, oauth.ts, pages.ts). Specification 7 and 8.
import type { RequestListener } from 'node:http';
import { parse } from 'node:querystring';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { Problem } from '../contract/problem.ts';
import { isTraced, traceRequest } from '../telemetry/spans.ts';
import { type BodyTime, createBodyTime } from './body-time.ts';
import type { ClientCertificateSource } from './client-certificate.ts';
import { answerBroken } from './client-error.ts';
import { acceptEmptyJson } from './json-body.ts';
import { plainForwardedFor } from './network.ts';
import { answerNotFound, isScimPath, pathOf } from './not-found.ts';
import { sendProblem } from './problems.ts';
import type { Ready } from './ready.ts';
import { requestLog } from './request-log.ts';
import { sendScimError } from './scim-error.ts';

/** `import` would read all names of node:http, one of which loads Node's own fetch: a tenth of the start. */
const { createServer } = process.getBuiltinModule('node:http');

declare module 'fastify' {
  interface FastifyInstance {
    /** Further origins at which the server is reached, as its operator configured them. */
    otherAddresses?: readonly string[];
  }
}

/**
 * The most bytes of an unauthenticated client's body: they are parsed within a few milliseconds. A surface that
 * authenticates first accepts more (surface.ts).
 */
const BODY_BYTES = 64 * 1024;
/**
 * The time limit for a request's body, so that none holds its connection for ever. The longest, an import, has the same
 * limit in the database.
 */
const REQUEST_MS = 600_000;
/** The most fields of a form. The longest form, a user profile's, has some hundreds. */
const MOST_FIELDS = 1_000;
/** All headers of a request together: an access token with hundreds of roles, in `Authorization`, and what proxies add. */
const HEADER_BYTES = 32 * 1024;
const HEADERS_MS = 15_000;
/** The interval at which connections are checked for these limits. */
const CHECK_MS = 5_000;
/**
 * Longer than load balancers keep an idle connection, so that the server never closes one just as a request arrives on
 * it.
 */
const KEEP_ALIVE_MS = 72_000;
/** The limits of every listener. */
export const requestLimits = {
  requestTimeout: REQUEST_MS,
  headersTimeout: HEADERS_MS,
  maxHeaderSize: HEADER_BYTES,
  connectionsCheckingInterval: CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
};
/** Names in paths are percent-encoded, so they are longer than the names themselves. */
const PARAM_LENGTH = 2048;

/** Counts the fields before parsing: a form of 256 KB, in which SAML responses arrive, could have a hundred thousand. */
function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    const text = String(body);
    let fields = 1;
    for (let at = text.indexOf('&'); at >= 0 && fields <= MOST_FIELDS; at = text.indexOf('&', at + 1)) fields += 1;
    if (fields > MOST_FIELDS) done(new Problem('invalid-request', `The form has more than ${MOST_FIELDS} fields`));
    else done(null, parse(text, '&', '=', { maxKeys: 0 }));
  });
}

/** All schemas are zod's: without this, Fastify would load its compilers of JSON Schema in vain. */
const none = (): never => {
  throw new Error('there is no compiler of JSON Schema');
};
export const zodAlone = { compilersFactory: { buildValidator: none, buildSerializer: none } };

export interface HttpOptions {
  log: FastifyBaseLogger;
  /** Proxies whose forwarding headers count; false: none. */
  trustProxy: string[] | false;
  /** Further origins at which the server is reached. */
  otherAddresses?: readonly string[];
  /** Absent: the server takes no certificates of clients. */
  clientCertificates?: ClientCertificateSource | undefined;
  /** The prefix of request ids in the log: `req-1`, `req-2` … */
  requests: string;
  /** Requests that are answered before routing. */
  ready?: Ready;
  /** If another application passes requests on, the watch of that application. */
  bodyTime?: BodyTime;
}

/**
 * Runs before Fastify derives the client's address from the header: otherwise another spelling of an address would have
 * limits of its own.
 */
const withPlainAddresses =
  (behindProxy: boolean, routes: RequestListener): RequestListener =>
  (request, response) => {
    const header = request.headers['x-forwarded-for'];
    if (behindProxy && typeof header === 'string') {
      const plain = plainForwardedFor(header);
      if (plain === '') delete request.headers['x-forwarded-for'];
      else request.headers['x-forwarded-for'] = plain;
    }
    routes(request, response);
  };

/** No browser guesses another type than the answer's own, such as markup in the text of a JSON answer. */
const withoutGuessing =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    listener(request, response);
  };

const withTraces = (listener: RequestListener): RequestListener =>
  isTraced() ? (request, response) => traceRequest(request, response, () => listener(request, response)) : listener;

export async function openHttp({
  log,
  trustProxy,
  otherAddresses = [],
  clientCertificates,
  requests,
  ready,
  bodyTime = createBodyTime(),
}: HttpOptions): Promise<FastifyInstance> {
  let seen = 0;
  const http: FastifyInstance = Fastify({
    loggerInstance: log,
    childLoggerFactory: requestLog,
    genReqId: () => `${requests}-${(++seen).toString(36)}`,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy,
    bodyLimit: BODY_BYTES,
    routerOptions: { maxParamLength: PARAM_LENGTH },
    // Faults found before routing, such as a malformed path, are problems like all others.
    frameworkErrors: (error, request, reply) =>
      void (isScimPath(pathOf(request.url)) ? sendScimError : sendProblem)(error, request, reply),
    clientErrorHandler: (error, socket) => answerBroken(error, socket, log),
    // When the server closes, requests on open connections are answered, and then the connections are closed.
    return503OnClosing: false,
    serverFactory: (routes) =>
      createServer(
        requestLimits,
        withTraces(
          withoutGuessing(withPlainAddresses(trustProxy !== false, bodyTime.before(ready?.before(routes) ?? routes))),
        ),
      ),
    schemaController: zodAlone,
  });
  http.decorate('otherAddresses', otherAddresses);
  if (clientCertificates) http.decorate('clientCertificates', clientCertificates);
  http.setValidatorCompiler(validatorCompiler);
  http.setSerializerCompiler(serializerCompiler);
  http.setErrorHandler(sendProblem);
  // After the admin surface has authenticated the caller, and before the body is read.
  http.addHook('preParsing', (request, _, payload, done) => {
    if ('principal' in request && request.principal) bodyTime.allow(request.raw);
    done(null, payload);
  });
  if (ready) http.addHook('preClose', async () => ready.close());
  await http.register(cookie);
  acceptForms(http);
  acceptEmptyJson(http);
  answerNotFound(http);
  return http;
}
