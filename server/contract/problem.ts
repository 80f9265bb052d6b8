// The problems of the admin, account and monitoring APIs (RFC 9457), as one table: code → status and title.
// http/oauth-error.ts has OAuth's errors, whose vocabulary is RFC 6749's. Specification section 7; decisions "Errors".
import { z } from 'zod';
import { inEnglish, type Words } from './phrases.ts';

export const problems = {
  'invalid-request': { status: 400, title: 'The request is malformed or invalid' },
  'missing-environment': {
    status: 400,
    title: 'The document needs environment variables that the server does not have',
  },
  unauthenticated: { status: 401, title: 'No session, or it has expired' },
  'invalid-credentials': { status: 401, title: 'The credentials were not accepted' },
  'step-up-required': { status: 401, title: 'The session has more to prove, by the rules as they are now' },
  'reauthentication-required': { status: 401, title: 'A sign-in of a moment ago is needed' },
  'otp-required': { status: 401, title: 'A one-time code is needed' },
  'insufficient-scope': { status: 403, title: 'The access token has too small a scope' },
  forbidden: { status: 403, title: 'Not permitted' },
  'csrf-mismatch': { status: 403, title: 'The X-XSRF-TOKEN header does not match the XSRF-TOKEN cookie' },
  'privilege-escalation': { status: 403, title: 'Nobody can give what they do not hold' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'name-taken': { status: 409, title: 'The name is taken' },
  'being-deleted': { status: 409, title: 'What had this name is still being deleted' },
  'flow-built-in': { status: 409, title: 'A built-in flow cannot be renamed or deleted' },
  'flow-in-use': { status: 409, title: 'The flow is bound and cannot be deleted' },
  'key-active': { status: 409, title: 'The active key cannot be deleted' },
  'last-administrator': { status: 409, title: 'The last administrator of master cannot go' },
  'realm-protected': { status: 409, title: 'This realm cannot be deleted' },
  'built-in': { status: 409, title: 'A built-in object cannot be changed this way' },
  'wrong-state': { status: 409, title: 'Its state does not allow this' },
  'in-use': { status: 409, title: 'Something else refers to this object' },
  'changed-since': { status: 409, title: 'Something of it was changed since' },
  held: { status: 409, title: 'A hold keeps it as it is' },
  'declared-only': { status: 409, title: 'Only a document may change this' },
  'managed-by-another': { status: 409, title: 'Another manager owns what the document declares' },
  'precondition-failed': { status: 412, title: 'The resource has changed since it was read' },
  'timed-out': { status: 408, title: 'The request did not come to its end in time' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The request’s address or headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'The database is away or too busy; try again shortly' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

export const FieldError = z.object({
  path: z.string().describe('Where in the request: `settings.accessTokenTtlSeconds`, `executions[2].config`'),
  message: z.string(),
  missing: z
    .object({ kind: z.string(), key: z.string() })
    .optional()
    .describe('What this field names and the realm doesn’t have, so that a program can wait for it'),
});
export type FieldError = z.infer<typeof FieldError>;

/** A field error of the API: always in English. */
export const fieldErrorOf = ({ path, fault }: { path: string; fault: Words }): FieldError => ({
  path,
  message: inEnglish(fault),
});

/** The error of a field that names a missing object. */
export const unknownName = (path: string, kind: string, key: string): FieldError => ({
  path,
  message: `there is no ${kind} ${key}`,
  missing: { kind, key },
});

/** RFC 9457 problem details; `type` is `urn:svc:problem:<code>`. */
export const ProblemDetails = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().optional(),
    errors: z.array(FieldError).optional(),
  })
  .loose()
  .meta({ id: 'ProblemDetails' });
export type ProblemDetails = z.infer<typeof ProblemDetails>;

export { problemType } from './call.ts';

/**
 * A refusal. The caller gets `detail`, `errors` and `extra`; `reason` and `cause` go only to the log. `words` are the detail's key and
 * values: a page translates them.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly words: Words | undefined;
  readonly errors: FieldError[] | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    code: ProblemCode,
    words?: Words,
    more: {
      errors?: FieldError[];
      extra?: Record<string, unknown>;
      reason?: string;
      cause?: unknown;
      retryAfterSeconds?: number;
    } = {},
  ) {
    const detail = words === undefined ? undefined : inEnglish(words);
    super(detail ?? problems[code].title, { cause: more.cause });
    this.code = code;
    this.detail = detail;
    this.words = words;
    this.errors = more.errors;
    this.extra = more.extra;
    this.reason = more.reason;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
  get status(): number {
    return problems[this.code].status;
  }
}

/** The refusal of a request with one faulty field. */
export const faultAt = (path: string, fault: Words): Problem =>
  new Problem('invalid-request', undefined, { errors: [fieldErrorOf({ path, fault })] });
