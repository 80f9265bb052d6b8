// Owns: the connection of a command: its server and its session.
// Does not own: storing and renewing sessions (contexts.ts, sessions.ts), signing in (commands/login.ts).
// Implements: decisions "Admin authentication"; docs/cli.md: usable in CI without a login step.
import { createClient, refusal, ServerProblem, unreachable } from '../server/contract/client.ts';
import { MASTER } from '../server/contract/realms.ts';
import type { Connection, Environment } from './command.ts';
import type { Context, ContextFile, Contexts } from './contexts.ts';
import { Refused } from './faults.ts';
import { clientCredentials } from './oauth.ts';
import { type Access, accessOf } from './sessions.ts';

/** The time limit of requests: a plan of a large realm takes longer than Node's fetch would wait by itself. */
const TIMEOUT_MS = 300_000;

export type Fetch = typeof globalThis.fetch;
export type Authorize = Parameters<typeof createClient>[0]['authorize'];

/** `https://iam.example.com/` → without the slash; anything but http and https is refused. */
export function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash)
    throw new Refused(`${text} is not the address of a server`, 'Give it as https://iam.example.com.');
  const [, server, realm] = /^(.*?)\/(?:realms\/([^/]+)|admin)(?:\/.*)?$/.exec(url.href) ?? [];
  if (server !== undefined)
    throw new Refused(
      `${text} is an address within a server`,
      `Give the server’s own: ${server}${realm === undefined ? '' : `; a realm by --realm ${realm}`}.`,
    );
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** REALMCTL_SERVER with REALMCTL_CLIENT_ID and REALMCTL_CLIENT_SECRET: no login, nothing stored. */
function fromEnvironment(env: Environment, fetch: Fetch): Connection | undefined {
  const { REALMCTL_SERVER: server, REALMCTL_CLIENT_ID: clientId, REALMCTL_CLIENT_SECRET: secret } = env;
  if (!server || !clientId) return undefined;
  if (!secret) throw new Refused('REALMCTL_CLIENT_ID is set, REALMCTL_CLIENT_SECRET is not');
  const address = serverAddress(server);
  const realm = env.REALMCTL_REALM || MASTER;
  return connection(address, {
    fetch,
    authorize: clientCredentials({ server: address, realm, clientId, secret, fetch }),
  });
}

export function connection(server: string, access: Access): Connection {
  const { authorize } = access;
  // A redirect is not followed, so that the session goes to no other server.
  const fetch: Fetch = async (input, init) => {
    const response = await access.fetch(input, { ...init, redirect: 'manual' });
    const to = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || response.status === 304 || !to) return response;
    throw new Refused(`${server} redirects to ${to}`, 'Sign in at the server’s own address.');
  };
  async function raw(path: string, init: RequestInit = {}): Promise<Response> {
    const send = async (renew: boolean) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', await authorize({ renew }));
      return fetch(server + path, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init, headers });
    };
    try {
      let response = await send(false);
      if (response.status === 401 && (init.method ?? 'GET') === 'GET') response = await send(true);
      if (response.status >= 400) throw await refusal(response);
      return response;
    } catch (cause) {
      if (cause instanceof ServerProblem) throw cause;
      throw unreachable(server, cause);
    }
  }
  return {
    client: createClient({ baseUrl: server, fetch, authorize, timeoutMs: TIMEOUT_MS }),
    server,
    fetch: raw,
    authorization: () => authorize({ renew: false }),
  };
}

/** The context that the options and the environment select. */
export function chosenContext(contexts: Contexts, env: Environment, option: string | undefined): [string, Context] {
  const name = option ?? (env.REALMCTL_CONTEXT || undefined);
  const all = Object.entries(contexts.contexts);
  if (name !== undefined) {
    const found = all.find(([one]) => one === name);
    if (!found) throw new Refused(`there is no context ${name}`, known(all));
    return found;
  }
  if (env.REALMCTL_SERVER) {
    const server = serverAddress(env.REALMCTL_SERVER);
    const found =
      all.find(([one, context]) => context.server === server && one === contexts.current) ??
      all.find(([, context]) => context.server === server);
    if (!found) throw new Refused(`nobody is signed in at ${server}`, `Sign in with: realmctl login ${server}`);
    return found;
  }
  const current = all.find(([one]) => one === contexts.current);
  if (!current)
    throw new Refused(
      all.length > 0 ? 'no context is chosen' : 'nobody is signed in',
      all.length > 0 ? known(all) : 'Sign in with: realmctl login https://iam.example.com',
    );
  return current;
}

const known = (all: readonly [string, Context][]): string =>
  all.length > 0 ? `There are: ${all.map(([name]) => name).join(', ')}.` : 'There is none: realmctl login makes one.';

export const connector =
  (
    { env, file, fetch }: { env: Environment; file: ContextFile; fetch: Fetch },
    context: () => string | undefined,
  ): (() => Promise<Connection>) =>
  async () => {
    const byEnvironment = (context() ?? env.REALMCTL_CONTEXT) ? undefined : fromEnvironment(env, fetch);
    if (byEnvironment) return byEnvironment;
    const [name, found] = chosenContext(await file.read(), env, context());
    return connection(found.server, accessOf(name, found, { file, fetch, env }));
  };

/**
 * The default realm: REALMCTL_REALM, otherwise the chosen context's. A client from the environment also signs in at REALMCTL_REALM.
 * If that is master, commands have no default realm, so that none changes master by mistake.
 */
export const defaultRealm =
  ({ env, file }: { env: Environment; file: ContextFile }, context: () => string | undefined) =>
  async (): Promise<string | undefined> => {
    const { REALMCTL_REALM: named } = env;
    if (!(context() ?? env.REALMCTL_CONTEXT) && env.REALMCTL_SERVER && env.REALMCTL_CLIENT_ID)
      return named && named !== MASTER ? named : undefined;
    if (named) return named;
    const contexts = await file.read();
    return Object.keys(contexts.contexts).length === 0
      ? undefined
      : chosenContext(contexts, env, context())[1].defaultRealm;
  };
