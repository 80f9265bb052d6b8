// Mounts a contract route: parses the request, and returns only data that the contract names. The surface decides who
// may call (features/operations/admin-access, features/authentication/account). Design "A route is data".
import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By, Party } from '../contract/events.ts';
import { OAuthErrorBody } from '../contract/oauth.ts';
import { Problem, ProblemDetails } from '../contract/problem.ts';
import type { Route } from '../contract/route.ts';
import { ScimError } from '../contract/scim-error.ts';
import { type ErrorForm, surfaces } from '../contract/surface.ts';
import { type Expect, etagOf, expectedTag, namesTag } from './etag.ts';
import { refuseMisplaced } from './surface.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    contract?: Route;
  }
  interface FastifyRequest {
    /** The caller as audit rows name it; the surface sets it after authentication. */
    party?: Party;
  }
}

/** A handler's argument: the parsed input, the caller, and the request's condition. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  by: By;
  /** Checks If-Match; services call it inside their transaction. */
  expect: Expect;
  request: FastifyRequest;
  reply: FastifyReply;
}

const byOf = ({ party, ip }: FastifyRequest): By => ({ actor: party ?? null, ipAddress: ip });

const failures: Record<ErrorForm, z.ZodType> = { problem: ProblemDetails, oauth: OAuthErrorBody, scim: ScimError };

/** A body that the handler reads as a stream isn't parsed here; the contract still documents it. */
export interface BindOptions {
  streams?: boolean;
  bodyLimit?: number;
}

export function bind<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  app: FastifyInstance,
  contract: Route<P, Q, B, R>,
  handler: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R> | FastifyReply>,
  options: BindOptions = {},
): void {
  refuseMisplaced(app, contract);
  const { method, path, tag, summary, description, status } = contract;
  const failure = failures[surfaces[contract.surface].errors];
  const hasBody = !(contract.body instanceof z.ZodUndefined);
  app.route({
    method,
    url: path.replace(/\*.*$/, '*'),
    config: { contract },
    ...(path.includes('*') && { preValidation: nameRest }),
    ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
    schema: {
      tags: [tag],
      summary,
      ...(description === undefined ? {} : { description }),
      params: contract.params,
      querystring: contract.query,
      // A streamed body is documented from the contract (http/openapi.ts) but not parsed here.
      ...(hasBody && !options.streams ? { body: contract.body } : {}),
      response: {
        [status]: status === 204 ? z.null() : contract.response,
        ...(contract.mayTakeLonger && { 202: status === 204 ? z.null() : contract.response }),
        ...(contract.mayBeEmpty && { 204: z.null() }),
        default: failure,
      },
    },
    handler: async (request, reply) => {
      if (method === 'PUT') refuseAnothers(request.params, request.body);
      refuseUnheld(request.headers['if-match'], contract);
      // The validators above use these schemas, so the parsed values have their output types.
      const result = await handler({
        params: request.params as z.output<P>,
        query: request.query as z.output<Q>,
        body: request.body as z.output<B>,
        by: byOf(request),
        expect: expectedTag(request.headers['if-match']),
        request,
        reply,
      });
      if (reply.sent || result === reply) return reply;
      const later = reply.statusCode === 202 && contract.mayTakeLonger;
      if (status === 204) return reply.code(later ? 202 : 204).send();
      tagWith(request, reply, result);
      if (reply.statusCode === 304) return reply.send();
      if (later) return reply.send(result);
      return reply.code(status).send(result);
    },
  });
}

/** Fastify calls the rest of a path `*`; the contract has a name for it. */
async function nameRest({ params, routeOptions }: FastifyRequest): Promise<void> {
  const { path = '' } = routeOptions.config.contract ?? {};
  const named = Object(params);
  named[path.slice(path.indexOf('*') + 1)] = named['*'];
  delete named['*'];
}

/** A PUT may send back the response of GET; read-only fields of another resource mean that the caller mixed them up. */
function refuseAnothers(params: unknown, body: unknown): void {
  const said = (of: unknown, field: string): unknown =>
    typeof of === 'object' && of !== null ? Reflect.get(of, field) : undefined;
  const errors = [
    { path: 'realmId', is: said(params, 'realm') },
    { path: 'id', is: said(params, 'id') ?? said(params, 'userId') },
  ].flatMap(({ path, is }) => {
    const claimed = said(body, path);
    const fits =
      is === undefined || claimed === undefined || String(claimed).toLowerCase() === String(is).toLowerCase();
    return fits ? [] : [{ path, message: `must be ${is}, as in the path` }];
  });
  if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
}

/**
 * An object without a tag matches no condition (RFC 9110 §13.1.1): a route that can't check If-Match refuses it and
 * never ignores it.
 */
function refuseUnheld(ifMatch: string | undefined, { method, problems }: Route): void {
  if (ifMatch === undefined || ifMatch.trim() === '*' || method === 'GET') return;
  if (!problems.includes('precondition-failed'))
    throw new Problem('precondition-failed', 'What is at this address has no ETag; send no If-Match');
}

/** Adds an ETag to single resources; a GET whose If-None-Match names it gets 304. */
function tagWith(request: FastifyRequest, reply: FastifyReply, result: unknown): void {
  if (!reply.hasHeader('etag') && typeof result === 'object' && result !== null && !Array.isArray(result)) {
    void reply.header('etag', etagOf(result));
  }
  const tag = reply.getHeader('etag');
  const wanted = request.headers['if-none-match'];
  // the tag is the object's own: what the request asks for besides may have changed without it
  const asksForMore = Object(request.query).with !== undefined;
  if (
    request.method === 'GET' &&
    !asksForMore &&
    typeof tag === 'string' &&
    wanted !== undefined &&
    namesTag(wanted, tag)
  )
    void reply.code(304);
}
