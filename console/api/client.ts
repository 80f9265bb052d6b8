// Calls the admin API from the browser: the session's cookie goes along, writes carry the CSRF token, a refusal is a
// ServerProblem. Two refusals concern the whole console: a session that has ended, and one that has more to prove.
import type { z } from 'zod';
import {
  type Answer,
  address,
  type CallInput,
  LARGEST_PAGE,
  nextCursorOf,
  ServerProblem,
} from '../../server/contract/call.ts';
import type { ProblemDetails } from '../../server/contract/problem.ts';
import type { Route } from '../../server/contract/route.ts';
import type { Callable, LightRoute } from './light.ts';

export { ServerProblem } from '../../server/contract/call.ts';

/** A route of the contract or of generated/routes.ts, as the compiler sees it. */
export type AnyRoute = Route | LightRoute;
export type RouteOf<R extends AnyRoute> = R extends Route ? R : R extends LightRoute<infer Of> ? Of : never;
export type InputOf<R extends AnyRoute> =
  RouteOf<R> extends Route<infer P, infer Q, infer B> ? CallInput<P, Q, B> : never;
export type OutputOf<R extends AnyRoute> = z.output<RouteOf<R>['response']>;

export interface ConsoleAnswer<T> extends Answer<T> {
  /** How many rows the whole list has, where the server counts them. */
  total: number | undefined;
}

/** An answer that concerns the whole console, on every page. */
export type Interruption = 'session-ended' | 'step-up-required' | 'other-administrator';
const listeners = new Set<(what: Interruption) => void>();
/** @returns stops listening */
export function onInterruption(listener: (what: Interruption) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
const interrupt = (what: Interruption) => {
  for (const listener of listeners) listener(what);
};

const csrfToken = (): string | undefined =>
  /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(document.cookie)?.[1]?.replace(/%[0-9a-f]{2}/gi, decodeURIComponent);

const SESSION = '/admin/session';
/** The administrator whose pages this tab shows; undefined: the session was not read yet. */
let shownTo: string | undefined;
/** The token with which the session was compared last. */
let comparedWith: string | undefined;

/** @throws ServerProblem if another administrator has signed in, in another tab: what is on this page is not theirs */
function noteSession(session: unknown): void {
  const { realm, type, id } = Object(session);
  const now = `${realm} ${type} ${id}`;
  shownTo ??= now;
  comparedWith = shownTo === now ? csrfToken() : undefined;
  if (shownTo === now) return;
  interrupt('other-administrator');
  throw new ServerProblem(409, 'Another administrator has signed in in this browser. Nothing was sent');
}

/** Reads whose session it is, which gives the browser a fresh token: the cookies belong to all tabs, a page to one administrator. */
async function compareSession(): Promise<void> {
  const answer = await fetch(SESSION, { cache: 'no-store', headers: { accept: 'application/json' } });
  // without a session, the request that follows says so
  if (answer.ok) noteSession(await answer.json());
  else await answer.body?.cancel();
}

/**
 * Leaves the console for the administrator's own account, which the server opens without another sign-in: a form, because what
 * follows is a page.
 */
export async function openOwnAccount(view?: 'security'): Promise<void> {
  if (csrfToken() === undefined) await compareSession();
  const form = Object.assign(document.createElement('form'), { method: 'post', action: '/admin/account/form' });
  const fields = { csrf: csrfToken() ?? '', ...(view && { view }) };
  for (const [name, value] of Object.entries(fields))
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  document.body.append(form);
  form.submit();
}

async function send({ method, path }: Callable, input: CallInput<z.ZodType, z.ZodType, z.ZodType>): Promise<Response> {
  const token = method === 'GET' ? undefined : csrfToken();
  return fetch(address(path, Object(input.params), Object(input.query)), {
    method,
    // an answer is asked for anew; its ETag is kept by the caller
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { 'x-xsrf-token': token }),
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
      ...input.headers,
    },
    ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
    ...(input.signal && { signal: input.signal }),
  });
}

async function problemOf(response: Response): Promise<ServerProblem> {
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  try {
    const problem: ProblemDetails = await response.json();
    const said = problem.detail ?? problem.title;
    return new ServerProblem(response.status, said ?? `The server answered ${response.status}`, problem, retryAfter);
  } catch {
    return new ServerProblem(response.status, `The server answered ${response.status}`, undefined, retryAfter);
  }
}

/** @throws ServerProblem; its status is 0 if the server can't be reached */
export async function call<R extends AnyRoute>(
  route: R,
  input: InputOf<R> = {} as InputOf<R>,
): Promise<ConsoleAnswer<OutputOf<R>>> {
  const target: Callable = route;
  const given: CallInput<z.ZodType, z.ZodType, z.ZodType> = input;
  try {
    if (target.method !== 'GET' && (csrfToken() === undefined || csrfToken() !== comparedWith)) await compareSession();
    let response = await send(target, given);
    if (response.status >= 400) {
      let problem = await problemOf(response);
      if (problem.is('csrf-mismatch')) {
        // another tab has signed in anew, or has got a fresh token
        await compareSession();
        response = await send(target, given);
        if (response.status >= 400) problem = await problemOf(response);
      }
      if (response.status >= 400) {
        if (problem.is('step-up-required')) interrupt('step-up-required');
        else if (problem.is('unauthenticated')) interrupt('session-ended');
        throw problem;
      }
    }
    const empty = response.status === 204 || response.status === 304;
    const total = response.headers.get('x-total-count');
    const body = empty ? undefined : await response.json();
    if (target.path === SESSION && target.method === 'GET') noteSession(body);
    return {
      status: response.status,
      body,
      etag: response.headers.get('etag') ?? undefined,
      nextCursor: nextCursorOf(response.headers.get('link')),
      total: total === null ? undefined : Number(total),
    };
  } catch (cause) {
    if (cause instanceof ServerProblem || (cause instanceof DOMException && cause.name === 'AbortError')) throw cause;
    throw new ServerProblem(0, 'The server cannot be reached', undefined, undefined, cause);
  }
}

/** How often the server is asked for one page; a search takes it a second or so. */
const MOST_SEARCHES = 5;

/** A page of a list, filled by those that follow where the server ended a long search before it had a page. */
export async function callFilled<R extends AnyRoute>(route: R, input: InputOf<R>): Promise<ConsoleAnswer<OutputOf<R>>> {
  const { query } = Object(input);
  const first = await call(route, input);
  const rows: unknown[] = Array.isArray(first.body) ? [...first.body] : [];
  let { nextCursor: cursor } = first;
  for (let asked = 1; asked < MOST_SEARCHES && cursor !== undefined && rows.length < query.limit; asked += 1) {
    const answer = await call(route, { ...input, query: { ...query, limit: query.limit - rows.length, cursor } });
    rows.push(...(Array.isArray(answer.body) ? answer.body : []));
    cursor = answer.nextCursor;
  }
  return { ...first, body: rows as OutputOf<R>, nextCursor: cursor };
}

/** All rows of a list, page after page; for lists that are small by their nature. */
export async function callAll<R extends AnyRoute>(
  route: R,
  input: InputOf<R>,
): Promise<OutputOf<R> extends readonly (infer T)[] ? T[] : never> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: LARGEST_PAGE, ...Object(Object(input).query), ...(cursor !== undefined && { cursor }) };
    const answer = await call(route, { ...input, query });
    rows.push(...(Array.isArray(answer.body) ? answer.body : []));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  return rows as never;
}
