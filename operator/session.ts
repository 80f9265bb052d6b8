// Signs the operator in at the server: by client credentials, or by exchanging its ServiceAccount token. Tokens are
// held in memory and renewed before they expire. Decisions "Admin authentication" (machines).
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { refusal, ServerProblem, unreachable } from '../server/contract/client.ts';
import { MASTER } from '../server/contract/realms.ts';
import { claimsOf } from './service-account-token.ts';

const OPERATOR_CLIENT = 'operator';

export type Credential = { secret: string } | { secretFile: string } | { tokenFile: string };

const Answer = z.object({ access_token: z.string(), expires_in: z.number() });
/** How long before its expiry a token is renewed, so that no request is sent with one that expires on the way. */
const EARLY_MS = 30_000;
const TIMEOUT_MS = 15_000;
/**
 * How long a refusal is remembered: a thousand resources must not cause a thousand requests, each of which is audited.
 */
const REFUSED_MS = 10_000;

/** The `authorize` of contract/client.ts; concurrent callers share one sign-in. */
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
  let refused: { problem: ServerProblem; until: number } | undefined;
  const realm = `${serverUrl}/realms/${MASTER}`;
  const byToken = 'tokenFile' in credential;

  /** @param proof the secret, or the token */
  async function request(proof: string): Promise<Response> {
    // The audience of the admin API is the server's own base address (RFC 8707).
    const resource = `${await baseUrl()}/admin`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (!byToken) {
      const basic = Buffer.from(`${OPERATOR_CLIENT}:${encodeURIComponent(proof)}`).toString('base64');
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource });
      return fetch(`${realm}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        redirect: 'manual',
        body,
        signal,
      });
    }
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: proof,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      resource,
    });
    return fetch(`${realm}/workload-identity/token`, { method: 'POST', redirect: 'manual', body, signal });
  }

  /** The server's public address, which may differ from the one at which the operator reaches it. */
  async function baseUrl(): Promise<string> {
    const answer = await fetch(`${realm}/.well-known/openid-configuration`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!answer.ok) throw await refusal(answer);
    const { token_endpoint: endpoint } = z.object({ token_endpoint: z.string() }).parse(await answer.json());
    return endpoint.replace(/\/realms\/.*$/, '');
  }

  async function signIn(): Promise<string> {
    const proof = await proofOf(credential);
    let response: Response;
    try {
      response = await request(proof);
    } catch (cause) {
      if (cause instanceof ServerProblem) throw cause;
      throw unreachable(serverUrl, cause);
    }
    if (!response.ok) {
      await response.body?.cancel();
      const what = `the server refused the operator's sign-in (${response.status}): `;
      if (response.status >= 500) throw new ServerProblem(response.status, what + MENDS_ITSELF);
      const advice = byToken ? tokenAdvice(proof, now()) : SECRET_ADVICE;
      const problem = new ServerProblem(401, what + advice);
      refused = { problem, until: now() + REFUSED_MS };
      throw problem;
    }
    const { access_token, expires_in } = Answer.parse(await response.json());
    const life = expires_in * 1000;
    current = { header: `Bearer ${access_token}`, until: now() + life - Math.min(EARLY_MS, life / 2) };
    return current.header;
  }

  return async ({ renew }) => {
    if (!renew && current && current.until > now()) return current.header;
    if (refused && refused.until > now()) throw refused.problem;
    pending ??= signIn().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

const MENDS_ITSELF = 'it is not well itself just now';
const SECRET_ADVICE =
  'look at SVC_OPERATOR_CLIENT_SECRET (or the file of --server), which the server knows too, and whether the client operator of master is enabled';

/** Read each time, because the kubelet replaces files. @throws ServerProblem 401 if there is none */
async function proofOf(credential: Credential): Promise<string> {
  if ('secret' in credential) return credential.secret;
  if ('secretFile' in credential) return contentOf(credential.secretFile, 'is a Secret mounted there?');
  return contentOf(credential.tokenFile, 'is a ServiceAccount token projected there?');
}

async function contentOf(file: string, advice: string): Promise<string> {
  const nothing = (what: string) => new ServerProblem(401, `${file} ${what}; ${advice}`);
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw nothing(`cannot be read (${error instanceof Error && 'code' in error ? error.code : 'unknown'})`);
  }
  if (text === '') throw nothing('is empty');
  return text;
}

/** Names the server settings that would accept this token. A ServiceAccount's name is no secret; the token isn't shown. */
function tokenAdvice(token: string, now: number): string {
  const claims = claimsOf(token);
  if (!claims) return 'the file that the operator reads holds no ServiceAccount token';
  const { iss, sub, aud, exp } = claims;
  const ended =
    exp * 1000 <= now ? ` The token ended at ${new Date(exp * 1000).toISOString()}: is it still replaced?` : '';
  return (
    `the server must have SVC_OPERATOR_SUBJECT=${sub}, SVC_OPERATOR_AUDIENCE=${[aud].flat().join(' or ')} and ` +
    `SVC_OPERATOR_ISSUER=${iss}, or be in that cluster with SVC_CLUSTER_TOKEN_FILE and SVC_CLUSTER_CA_FILE, and reach ` +
    `that issuer's keys.${ended}`
  );
}
