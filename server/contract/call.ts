// What every program that calls contract routes needs: a call's input, its answer, its error, a route's address. It imports
// types alone, so that the console's first page, which calls routes without their schemas, loads no zod.
import type { z } from 'zod';
import type { ProblemCode, ProblemDetails } from './problem.ts';

/** The most rows in one page of any list. */
export const LARGEST_PAGE = 1000;

export const problemType = (code: ProblemCode): string => `urn:svc:problem:${code}`;

/** The server answered with a problem. `status` 0: it could not be reached. */
export class ServerProblem extends Error {
  readonly status: number;
  readonly problem: ProblemDetails | undefined;
  readonly retryAfterSeconds: number | undefined;
  constructor(status: number, message: string, problem?: ProblemDetails, retryAfterSeconds?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }
  /** Whether the server refused for this reason; its messages are for people. */
  is(code: ProblemCode): boolean {
    return this.problem?.type === problemType(code);
  }
}

/** The error for a missing or incomplete response; `cause` has the reason, one or two causes down. */
export const unreachable = (server: string, cause: unknown): ServerProblem =>
  new ServerProblem(0, `the server at ${server} cannot be reached`, undefined, undefined, cause);

export interface CallInput<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  params?: z.input<P>;
  query?: z.input<Q>;
  body?: z.input<B>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer<T> {
  status: number;
  /** Absent if the server answered 304 or 204, or 202 without a body. */
  body: T | undefined;
  etag: string | undefined;
  nextCursor: string | undefined;
}

/** Fills `:name` and `*name` of a route's path and appends the query. */
export function address(
  path: string,
  params: Record<string, unknown> = {},
  query: Record<string, unknown> = {},
): string {
  const filled = path.replace(/[:*]([A-Za-z]+)/g, (_, key: string) => encodeURIComponent(String(params[key] ?? '')));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** The cursor of a list's next page, from the header `Link`; undefined: there is none. */
export const nextCursorOf = (link: string | null): string | undefined =>
  /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(link ?? '')?.[1];
