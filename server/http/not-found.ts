// Answers requests without a route: 404, or 405 with Allow if the address has other methods (RFC 9110 §15.5.6). Both are problems like
// all others; a browser gets a page. Decisions "Errors".

import type { FastifyInstance } from 'fastify';
import { phrase } from '../contract/phrases.ts';
import { Problem } from '../contract/problem.ts';
import { sendProblemPage, wantsPage } from './pages.ts';
import { sendProblem } from './problems.ts';
import { sendScimError } from './scim-error.ts';
import { spokenTo } from './spoken.ts';

/** The path of a request's target as the router reads it: without scheme and authority (RFC 9112 §3.2.2), decoded. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Whether the path belongs to the SCIM server, where every failure has SCIM's form. */
export const isScimPath = (path: string): boolean => /^\/realms\/[^/]+\/scim\/v2(\/|$)/.test(path);

/** A route's pattern as Fastify writes it: `:name` is one segment, `*` the rest. */
const matcher = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/(:[A-Za-z0-9_]+|\*)/)
      .map((part) =>
        part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
      )
      .join('')}$`,
  );

/** The addresses of an application's routes. Call it before any route is mounted. */
export function addressesOf(app: FastifyInstance) {
  const routes = new Map<string, { matches: RegExp; allowed: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    let route = routes.get(url);
    if (!route) {
      route = { matches: matcher(url), allowed: new Set() };
      routes.set(url, route);
    }
    for (const one of [method].flat()) route.allowed.add(one);
  });
  return {
    know: (path: string): boolean => [...routes.values()].some(({ matches }) => matches.test(path)),
    methodsAt: (path: string): Set<string> =>
      new Set([...routes.values()].filter(({ matches }) => matches.test(path)).flatMap(({ allowed }) => [...allowed])),
  };
}

/** Call it before any route is mounted. */
export function answerNotFound(app: FastifyInstance): void {
  const addresses = addressesOf(app);
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const isScim = isScimPath(path);
    const send = isScim ? sendScimError : sendProblem;
    const allowed = addresses.methodsAt(path);
    if (allowed.size === 0 || allowed.has(request.method)) {
      const problem = new Problem('not-found', phrase('nothingHere'));
      void reply.header('vary', 'Accept');
      if (isScim || !wantsPage(request)) return send(problem, request, reply);
      return spokenTo(request, () => sendProblemPage(reply, problem));
    }
    const allow = [...allowed].sort().join(', ');
    const problem = new Problem('method-not-allowed', `This address knows ${allow}`);
    void reply.header('allow', allow).header('vary', 'Accept');
    if (isScim || !wantsPage(request)) return send(problem, request, reply);
    return spokenTo(request, () => sendProblemPage(reply, new Problem('method-not-allowed')));
  });
}
