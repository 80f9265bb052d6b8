// How the operator signs in at the server: client credentials, or its ServiceAccount token traded for a token.
// Tokens are kept in memory and renewed before they expire. Decisions "Admin authentication" (machines).
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ServerProblem } from '../server/contract/client.ts';
import { MASTER } from '../server/contract/realms.ts';

const OPERATOR_CLIENT = 'operator';

export type Credential = { secret: string } | { tokenFile: string };

const Answer = z.object({ access_token: z.string(), expires_in: z.number() });
/** Renewed this long before the end, so that no request is sent with a token that expires on its way. */
const EARLY_MS = 30_000;
const TIMEOUT_MS = 15_000;

/** Gives `authorize` of contract/client.ts; concurrent callers share one sign-in. */
export function serverSession({
  serverUrl,
  credential,
  fetch,
  now = () => Date.now(),
}: {
  serverUrl: string;
  credential: Credential;
  fetch: typeof globalThis.fetch;
  now?: () => number;
}): (options: { renew: boolean }) => Promise<string> {
  let current: { header: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  const realm = `${serverUrl}/realms/${MASTER}`;

  async function request(): Promise<Response> {
    // The audience of the admin API is the server's own base address (RFC 8707).
    const resource = `${await baseUrl()}/admin`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if ('secret' in credential) {
      const basic = Buffer.from(`${OPERATOR_CLIENT}:${encodeURIComponent(credential.secret)}`).toString('base64');
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource });
      return fetch(`${realm}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body,
        signal,
      });
    }
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: (await readFile(credential.tokenFile, 'utf8')).trim(),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      resource,
    });
    return fetch(`${realm}/workload-identity/token`, { method: 'POST', body, signal });
  }

  /** The server's public address, which may differ from where the operator reaches it. */
  async function baseUrl(): Promise<string> {
    const answer = await fetch(`${realm}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { token_endpoint: endpoint } = z.object({ token_endpoint: z.string() }).parse(await answer.json());
    return endpoint.replace(/\/realms\/.*$/, '');
  }

  async function signIn(): Promise<string> {
    let response: Response;
    try {
      response = await request();
    } catch (cause) {
      throw new ServerProblem(0, `the server at ${serverUrl} cannot be reached`, undefined, undefined, cause);
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw new ServerProblem(
        response.status >= 500 ? response.status : 401,
        `the server refused the operator's sign-in (${response.status}): look at ${'secret' in credential ? 'SVC_OPERATOR_CLIENT_SECRET' : 'SVC_OPERATOR_TOKEN_FILE'}, which the server knows too`,
      );
    }
    const { access_token, expires_in } = Answer.parse(await response.json());
    const life = expires_in * 1000;
    current = { header: `Bearer ${access_token}`, until: now() + life - Math.min(EARLY_MS, life / 2) };
    return current.header;
  }

  return async ({ renew }) => {
    if (!renew && current && current.until > now()) return current.header;
    pending ??= signIn().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
