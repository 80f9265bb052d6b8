// Parses JSON bodies like Fastify (no prototype poisoning), but an empty one counts as no body: many clients always
// send the type. Refuses, for every route, text that no column can store, and nesting so deep that a recursive function
// would overflow the stack. Specification 4.3: POST /keys/rotate has no body; decisions "Errors".
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { OAuthError } from './oauth-error.ts';

/** Far deeper than flows and key sets, the deepest bodies. */
const DEEPEST = 64;

/**
 * Why parsed JSON is refused; undefined: it is accepted.
 *
 * @param what the subject of the sentence
 */
export function jsonFault(json: unknown, what = 'The body'): string | undefined {
  const open: [value: unknown, depth: number][] = [[json, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === 'string' && !value.isWellFormed()) return `${what} holds half a surrogate pair`;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === DEEPEST) return `${what} is nested more than ${DEEPEST} levels deep`;
    if (Array.isArray(value)) for (const item of value) open.push([item, depth + 1]);
    else for (const [key, item] of Object.entries(value)) open.push([key, 0], [item, depth + 1]);
  }
  return undefined;
}

export function acceptEmptyJson(app: FastifyInstance, type = 'application/json'): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(type);
  app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    // RFC 8259 §8.1. Otherwise the server would store each letter of another encoding as U+FFFD.
    if (typeof body !== 'string' && !isUtf8(body)) return done(new Problem('invalid-request', 'The body is not UTF-8'));
    // A page's route isn't in the contract, and accepts only its form.
    if (request.routeOptions.schema?.hide) return done(new Problem('unsupported-media-type', 'Send a form'));
    void parse(request, String(body), (error, parsed) => {
      const fault = error ? undefined : jsonFault(parsed);
      done(fault === undefined ? error : new Problem('invalid-request', fault), parsed);
    });
  });
}

/** A JSON body of the protocol endpoints. @throws OAuthError `invalid_request` naming the field */
export function jsonBodyOf<S extends z.ZodType>({ body }: FastifyRequest, schema: S): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw new OAuthError('invalid_request', `${field === '' ? 'The body' : field}: ${issue?.message ?? 'is invalid'}`);
}
