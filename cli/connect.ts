// Owns: a connection to the server that the run is meant for: which one, and with whose rights.
// Does not own: how sessions are stored (contexts.ts) and begun (commands/login.ts).
// Implements: decisions "Admin authentication"; issue "CLI": usable in CI without a login step.
import { type Client, createClient, refusal, ServerProblem } from '../server/contract/client.ts';
import { MASTER } from '../server/contract/realms.ts';
import type { Cli, Connection, Environment } from './command.ts';
import { Refused } from './faults.ts';
import { clientCredentials } from './oauth.ts';

/** A plan of a large realm takes its time. */
const TIMEOUT_MS = 600_000;

export type Fetch = typeof globalThis.fetch;
export type Authorize = Parameters<typeof createClient>[0]['authorize'];

/** `https://iam.example.com/` → without the slash; anything but http and https is refused. */
export function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash)
    throw new Refused(`${text} is not the address of a server`, 'Give it as https://iam.example.com.');
  return url.href.replace(/\/+$/, '');
}

/** REALMCTL_SERVER with REALMCTL_CLIENT_ID and REALMCTL_CLIENT_SECRET: no login, nothing stored. */
export function fromEnvironment(env: Environment, fetch: Fetch): Connection | undefined {
  const { REALMCTL_SERVER: server, REALMCTL_CLIENT_ID: clientId, REALMCTL_CLIENT_SECRET: secret } = env;
  if (!server || !clientId || !secret) return undefined;
  const address = serverAddress(server);
  const realm = env.REALMCTL_REALM || MASTER;
  return connection(address, fetch, clientCredentials({ server: address, realm, clientId, secret, fetch }));
}

export function connection(server: string, fetch: Fetch, authorize: Authorize): Connection {
  const client: Client = createClient({ baseUrl: server, fetch, authorize, timeoutMs: TIMEOUT_MS });
  async function raw(path: string, init: RequestInit = {}): Promise<Response> {
    const send = async (renew: boolean) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', await authorize({ renew }));
      return fetch(server + path, { signal: AbortSignal.timeout(TIMEOUT_MS), ...init, headers });
    };
    let response: Response;
    try {
      response = await send(false);
      if (response.status === 401) response = await send(true);
    } catch (cause) {
      if (cause instanceof ServerProblem || cause instanceof Refused) throw cause;
      throw new ServerProblem(0, `the server at ${server} cannot be reached`, undefined, undefined, cause);
    }
    if (response.status >= 400) throw await refusal(response);
    return response;
  }
  return { client, server, fetch: raw };
}

export const connector =
  ({ io }: Pick<Cli, 'io'>, _context: () => string | undefined, fetch: Fetch) =>
  async (): Promise<Connection> => {
    const found = fromEnvironment(io.env, fetch);
    if (found) return found;
    throw new Refused('nobody is signed in', 'Sign in with: realmctl login https://iam.example.com');
  };
