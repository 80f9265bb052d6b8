// Owns: getting tokens at a server's token endpoint, as a client and for a user.
// Does not own: storing them (contexts.ts); the page in the browser (browser-sign-in.ts).
// Implements: RFC 6749 4.4 and 6, RFC 8707 (audience {base_url}/admin), RFC 8414.
import { z } from 'zod';
import { ServerProblem, unreachable } from '../server/contract/client.ts';
import { loopbackHosts } from '../server/contract/names.ts';
import type { Authorize, Fetch } from './connect.ts';
import { Refused } from './faults.ts';

const TIMEOUT_MS = 15_000;
/** How long before its expiry a token is renewed, so that no request is sent with one that expires on the way. */
const EARLY_MS = 30_000;

const Discovered = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().optional(),
});
export type Discovered = z.infer<typeof Discovered>;
const Answer = z.object({
  access_token: z.string(),
  expires_in: z.number(),
  refresh_token: z.string().optional(),
});
export type Tokens = z.infer<typeof Answer>;
const OAuthFault = z.object({ error: z.string(), error_description: z.string().optional() });

/** The token endpoint's own refusal (RFC 6749 5.2). */
export class OAuthRefused extends Refused {
  readonly error: string;
  readonly description: string | undefined;
  constructor(error: string, description: string | undefined, hint?: string) {
    super(`the server refused the sign-in: ${error}${description ? ` (${description})` : ''}`, hint);
    this.error = error;
    this.description = description;
  }
}

export async function discover(server: string, realm: string, fetch: Fetch): Promise<Discovered> {
  const response = await reach(server, () =>
    fetch(`${server}/realms/${encodeURIComponent(realm)}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }),
  );
  if (response.status >= 500) throw new ServerProblem(response.status, `${server} answered ${response.status}`);
  if (response.status === 404) throw new Refused(`${server} has no realm ${realm}`);
  const found = Discovered.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !found.success) throw new Refused(`${server} is not a Realmkeeper server`);
  return found.data;
}

/**
 * The audience of the admin API. It is the server's own base address, which may differ from the address at which the
 * server is reached. A realm may have an issuer of its own, but its endpoints have the server's address.
 */
export const adminResource = ({ token_endpoint: endpoint }: Pick<Discovered, 'token_endpoint'>): string =>
  `${endpoint.replace(/\/realms\/.*$/, '')}/admin`;

export const isLoopback = (server: string): boolean => loopbackHosts.has(new URL(server).hostname);

/**
 * Checks the address of the sign-in page that the browser will open. It must belong to the named server, or to this
 * computer, where a tunnel begins. Otherwise the named server could make users sign in at another server and use the
 * result (RFC 9700 §4.4). The scheme must be HTTP or HTTPS: a desktop also opens files and starts programs by address.
 */
export function signInPage(
  server: string,
  { authorization_endpoint: endpoint }: { authorization_endpoint: string },
): URL {
  const page = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!page || !['https:', 'http:'].includes(page.protocol))
    throw new Refused(`${server} names no address to sign in at`, 'It is not a Realmkeeper server, or not yours.');
  if (page.origin !== new URL(server).origin && !isLoopback(server))
    throw new Refused(
      `${server} sends people to ${page.origin} to sign in`,
      `Where that is your server: realmctl login ${page.href.replace(/\/realms\/.*$/, '')}`,
    );
  return page;
}

/** @throws OAuthRefused for 400 and 401 */
export async function requestTokens(
  server: string,
  { token_endpoint }: Pick<Discovered, 'token_endpoint'>,
  body: Record<string, string>,
  { fetch, headers = {} }: { fetch: Fetch; headers?: Record<string, string> },
): Promise<Tokens> {
  const response = await reach(server, () =>
    fetch(atGivenServer(server, token_endpoint), {
      method: 'POST',
      headers,
      body: new URLSearchParams(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }),
  );
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return Answer.parse(answer);
  const fault = OAuthFault.safeParse(answer);
  if (response.status < 500 && response.status !== 429 && fault.success)
    throw new OAuthRefused(fault.data.error, fault.data.error_description);
  throw new ServerProblem(response.status, `the server answered ${response.status} at its token endpoint`);
}

/** The endpoint's path at the address that the user named: a tunnel or a proxy may be in between. */
export function atGivenServer(server: string, endpoint: string): string {
  const { pathname } = new URL(endpoint);
  const at = pathname.indexOf('/realms/');
  return server + (at < 0 ? pathname : pathname.slice(at));
}

async function reach(server: string, send: () => Promise<Response>): Promise<Response> {
  try {
    return await send();
  } catch (cause) {
    throw unreachable(server, cause);
  }
}

/** RFC 6749 2.3.1: id and secret are form-encoded first. */
export function basic(clientId: string, secret: string): string {
  const encoded = [clientId, secret].map((half) => new URLSearchParams({ v: half }).toString().slice(2)).join(':');
  return `Basic ${Buffer.from(encoded).toString('base64')}`;
}

const CLIENT_HINTS: Record<string, (who: { clientId: string; realm: string }) => string> = {
  invalid_client: ({ clientId, realm }) => `Check the client’s id (${clientId}), its secret and its realm (${realm}).`,
  invalid_target: ({ clientId, realm }) => `The client ${clientId} of the realm ${realm} must hold admin roles.`,
  unauthorized_client: ({ clientId }) => `The client ${clientId} must have the grant type client_credentials.`,
};

/** A token for one run, held only in memory; concurrent callers share one. */
export function clientCredentials({
  server,
  realm,
  clientId,
  secret,
  fetch,
}: {
  server: string;
  realm: string;
  clientId: string;
  secret: string;
  fetch: Fetch;
}): Authorize {
  let current: { header: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  async function signIn(): Promise<string> {
    const discovered = await discover(server, realm, fetch);
    const tokens = await requestTokens(
      server,
      discovered,
      { grant_type: 'client_credentials', resource: adminResource(discovered) },
      { fetch, headers: { authorization: basic(clientId, secret) } },
    ).catch((error) => {
      if (!(error instanceof OAuthRefused)) throw error;
      throw new OAuthRefused(error.error, error.description, CLIENT_HINTS[error.error]?.({ clientId, realm }));
    });
    const life = tokens.expires_in * 1000;
    current = { header: `Bearer ${tokens.access_token}`, until: Date.now() + life - Math.min(EARLY_MS, life / 2) };
    return current.header;
  }
  return async ({ renew }) => {
    if (!renew && current && current.until > Date.now()) return current.header;
    pending ??= signIn().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
