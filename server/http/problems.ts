// Renders every failure of the admin, account and monitoring APIs as RFC 9457 problem+json. http/oauth.ts renders
// OAuth's. No internal detail gets out: an unknown error is a 500 without details, and its cause goes to the log.
// Decisions "Errors".

import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { unknownFieldWords } from '../contract/field-words.ts';
import { type FieldError, Problem, type ProblemCode, problems, problemType } from '../contract/problem.ts';
import { codeOf, LOCKED, neededBy, refersToNothing } from '../db/error-code.ts';
import { unreachable } from '../db/unreachable.ts';
import { OVERLOADED } from '../schedule/bulkhead.ts';
import { isTraced, traceIds } from '../telemetry/spans.ts';
import { pathRealm } from './path-realm.ts';

const TEXT_NOT_STORABLE = new Set(['22021', '22P05']);
/** A name whose bytes exceed an index row: its characters were counted, and may have four bytes each. */
const TOO_LONG = '54000';
const SHORT_OF = new Set([
  '53300',
  '53100',
  '53200',
  // The disk fails, or a file of the database is missing.
  '58000',
  '58030',
  // Other transactions, or the recovery of a standby, conflicted with every try (db/transact.ts).
  '40001',
  '40P01',
  // A row is locked for long, or the statement took too long.
  LOCKED,
  '57014',
  OVERLOADED,
  // The custodian of the keys is away (crypto/keyring.ts).
  'KEYS_UNAVAILABLE',
]);
const SEND_JSON =
  'Send the body with the header Content-Type: application/json, unless the API documentation names another type';
const RETRY_AFTER_SECONDS = 2;

/** Whether the database or the keys are away (or disk, memory, connections used up), so that the request can be retried. */
function databaseAway(error: unknown): boolean {
  return unreachable(error) || SHORT_OF.has(codeOf(error));
}

const byStatus: Record<number, ProblemCode> = {
  400: 'invalid-request',
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'too-large',
  // no name is so long
  414: 'not-found',
  415: 'unsupported-media-type',
  429: 'too-many-requests',
};

/** `a.b[2].c` from zod's path; JSON pointers of Fastify stay unchanged. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (out, part) =>
      typeof part === 'number' ? `${out}[${part}]` : out === '' ? String(part) : `${out}.${String(part)}`,
    '',
  );

/** The part of a zod issue that a field error needs. */
interface Issue {
  code: string;
  path: readonly PropertyKey[];
  message: string;
  keys?: readonly string[] | undefined;
}

/** The field error for one zod issue; an unknown key gets a path of its own. */
export function fieldErrors(issue: Issue): FieldError[] {
  const base = pathOf(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path: base, message: issue.message }];
  return (issue.keys ?? []).map((key, index) => ({
    path: base === '' ? key : `${base}.${key}`,
    message: unknownFieldWords(issue, index),
  }));
}

const UnknownKeys = z.object({ keys: z.array(z.string()) });
/** The validator compiler gives an issue's path as `/a/0/b`. */
const pathIn = (instancePath: string) =>
  instancePath
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** The most field errors of one response: a body may have thousands. */
const MOST_FAULTS = 50;
/** The longest path of an unknown field, which is the sender's own text. */
const LONGEST_PATH = 200;

/** The field errors of zod's issues, at most {@link MOST_FAULTS}, and the number of further ones. */
export function boundedFieldErrors(issues: readonly Issue[]): { errors: FieldError[]; more: number } {
  const errors: FieldError[] = [];
  let more = 0;
  for (const issue of issues) {
    const { keys } = issue;
    const room = MOST_FAULTS - errors.length;
    errors.push(...fieldErrors(keys === undefined ? issue : { ...issue, keys: keys.slice(0, room) }).slice(0, room));
    more += Math.max((keys === undefined ? 1 : keys.length) - room, 0);
  }
  const brief = (path: string) => (path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path);
  return { errors: errors.map((error) => ({ ...error, path: brief(error.path) })), more };
}

/** The problem for a request that does not match its schema. */
function schemaFault(error: Error): Problem {
  const issues = hasZodFastifySchemaValidationErrors(error) ? error.validation : [];
  const { errors, more } = boundedFieldErrors(
    issues.map(({ keyword, instancePath, message = '', params }) => ({
      code: keyword,
      path: pathIn(instancePath),
      message,
      keys: UnknownKeys.safeParse(params).data?.keys,
    })),
  );
  return new Problem('invalid-request', more > 0 ? `${inOneSentence(errors)}; and ${more} more` : undefined, {
    errors,
  });
}

/** Fastify's errors of reading a request's body have these codes, and no other errors do. */
const bodyBroke = (error: unknown): boolean =>
  unreachable(error) && error instanceof Error && 'statusCode' in error && error.statusCode === 400;

/** Turns any error into a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // A broken connection of the client has the same error codes as one of the database, so it is checked first.
  if (bodyBroke(error))
    return new Problem('invalid-request', 'The request ended before all of its body had come', { cause: error });
  if (databaseAway(error))
    return new Problem('unavailable', undefined, { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS });
  if (codeOf(error) === TOO_LONG)
    return new Problem('invalid-request', 'The request holds a name that is too long to be found again', {
      cause: error,
      reason: 'index row',
    });
  if (TEXT_NOT_STORABLE.has(codeOf(error)))
    return new Problem('invalid-request', 'The request holds text that cannot be stored', { cause: error });
  const needed = neededBy(error);
  if (needed !== undefined)
    return new Problem('in-use', `This is named by ${needed}: change that first`, { cause: error });
  // Services check references before they write, so this happens only if another request deletes the object meanwhile.
  if (refersToNothing(error))
    return new Problem('not-found', 'What this refers to was deleted meanwhile', {
      cause: error,
      reason: 'foreign key',
    });
  if (error instanceof Error && 'validation' in error && error.validation) return schemaFault(error);
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  const code = byStatus[status];
  // Fastify's own sentence repeats the title.
  if (code === 'unsupported-media-type') return new Problem(code, SEND_JSON, { cause: error });
  if (code && error instanceof Error) return new Problem(code, error.message, { cause: error });
  return new Problem('internal', undefined, { cause: error });
}

const inOneSentence = (errors: readonly FieldError[]): string =>
  errors.map((e) => (e.path === '' ? e.message : `${e.path}: ${e.message}`)).join('; ');

/** All field errors in one sentence, for readers that show only the detail (a log, a resource's condition). */
export const detailOf = ({ detail, errors = [] }: Problem): string | undefined =>
  detail ?? (inOneSentence(errors) || undefined);

export const problemBody = (problem: Problem, instance: string | undefined) => ({
  type: problemType(problem.code),
  title: problems[problem.code].title,
  status: problem.status,
  detail: detailOf(problem),
  instance,
  ...(problem.errors === undefined ? {} : { errors: problem.errors }),
  ...problem.extra,
  ...(isTraced() && { traceId: traceIds()?.trace_id }),
});

/** Logs the details that the response leaves out. */
export function logProblem(request: FastifyRequest, problem: Problem): void {
  const who = { realm: pathRealm(request), address: request.ip };
  if (problem.status >= 500) request.log.error({ ...who, err: problem.cause ?? problem }, problems[problem.code].title);
  else if (problem.reason) request.log.info({ ...who, reason: problem.reason }, problem.code);
}

/** Fastify's error handler of the surfaces with problem responses. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error);
  logProblem(request, problem);
  if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
  const [path = ''] = request.url.split('?');
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .header('cache-control', 'no-store')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem, path));
}
