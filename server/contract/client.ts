// The typed client: operator and CLI call contract routes with it. It knows no feature, only the shape of a route.
// Specification 4; errors are RFC 9457 problems, thrown as ServerProblem.
import type { z } from 'zod';
import {
  type Answer,
  address,
  type CallInput,
  LARGEST_PAGE,
  nextCursorOf,
  ServerProblem,
  unreachable,
} from './call.ts';
import { ProblemDetails } from './problem.ts';
import type { Route } from './route.ts';

export { type Answer, address, type CallInput, LARGEST_PAGE, ServerProblem, unreachable } from './call.ts';

/**
 * @param baseUrl the server's address, without a trailing slash
 * @param authorize returns the Authorization header of each request. After a 401 it is called once more, and a request
 * that only reads is then repeated. No other request is: a sign-in would count a second failure, and the outcome of a
 * write is unknown.
 */
export function createClient({
  baseUrl,
  fetch,
  authorize,
  timeoutMs = 30_000,
}: {
  baseUrl: string;
  fetch: typeof globalThis.fetch;
  authorize: (options: { renew: boolean }) => Promise<string>;
  timeoutMs?: number;
}) {
  async function once(route: Route, input: CallInput<z.ZodType, z.ZodType, z.ZodType>, renew: boolean) {
    const authorization = await authorize({ renew });
    const body = input.body === undefined ? {} : { body: JSON.stringify(input.body) };
    const timeout = AbortSignal.timeout(timeoutMs);
    return fetch(baseUrl + address(route.path, Object(input.params), Object(input.query)), {
      method: route.method,
      // The token is for this server only: never send it to a redirect's target.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        authorization,
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...input.headers,
      },
      signal: input.signal ? AbortSignal.any([input.signal, timeout]) : timeout,
      ...body,
    });
  }

  async function call<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
    route: Route<P, Q, B, R>,
    input: CallInput<P, Q, B> = {},
  ): Promise<Answer<z.output<R>>> {
    let response: Response;
    let text: string;
    try {
      response = await once(route, input, false);
      if (response.status === 401 && reads(route, input.query)) {
        await response.body?.cancel();
        response = await once(route, input, true);
      } else if (response.status === 401) await authorize({ renew: true });
      if (response.status >= 300 && response.status !== 304) throw await refusal(response);
      text = await response.text();
    } catch (cause) {
      if (cause instanceof ServerProblem) throw cause;
      throw unreachable(baseUrl, cause);
    }
    const empty = response.status === 204 || response.status === 304 || (response.status === 202 && text === '');
    return {
      status: response.status,
      body: empty ? undefined : understood(route, text),
      etag: response.headers.get('etag') ?? undefined,
      nextCursor: nextCursorOf(response.headers.get('link')),
    };
  }
  return { call };
}
export type Client = ReturnType<typeof createClient>;

const reads = ({ method }: Route, query: unknown): boolean => {
  const { dryRun } = Object(query);
  return method === 'GET' || String(dryRun) === 'true';
};

/** Parses a response, which may be a proxy's page or come from a server of another release. */
function understood<R extends z.ZodType>(
  { method, path, response }: Route<z.ZodType, z.ZodType, z.ZodType, R>,
  text: string,
) {
  try {
    return response.parse(JSON.parse(text));
  } catch (cause) {
    const what = `${method} ${path} was answered with something unknown: by a proxy, or by a server of another release`;
    throw new ServerProblem(502, what, undefined, undefined, cause);
  }
}

/** All rows of a list, page after page. */
export async function* allRows<P extends z.ZodType, Q extends z.ZodType, T>(
  client: Client,
  route: Route<P, Q, z.ZodType, z.ZodType<T[]>>,
  { query, ...input }: Omit<CallInput<P, Q, z.ZodType>, 'body'> = {},
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    // every list has both parameters
    const paged = { limit: LARGEST_PAGE, ...Object(query), ...(cursor !== undefined && { cursor }) };
    const answer = await client.call(route, { ...input, query: paged });
    yield* answer.body ?? [];
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
}

/** The error for a refusal; for callers that use fetch themselves. */
export async function refusal(response: Response): Promise<ServerProblem> {
  const text = await response.text();
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  try {
    const problem = ProblemDetails.parse(JSON.parse(text));
    return new ServerProblem(response.status, problem.detail ?? problem.title, problem, retryAfter);
  } catch {
    return new ServerProblem(response.status, `the server answered ${response.status}`, undefined, retryAfter);
  }
}
