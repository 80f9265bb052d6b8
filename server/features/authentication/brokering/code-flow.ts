// The authorization code flow as a client: the part that OpenID Connect and plain OAuth 2.0 share. RFC 6749 §4.1, RFC 7636,
// RFC 9207.
import { DAY_SECONDS } from '../../../contract/durations.ts';
import { isObject } from '../../../contract/json.ts';
import { isLoopback } from '../../../contract/names.ts';
import { signJwt } from '../../../crypto/jwt.ts';
import { challengeOf } from '../../../crypto/pkce.ts';
import { newSecret } from '../../../crypto/tokens.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Keys } from '../../configuration/keys/service.ts';
import type { ProviderToken } from './provider-tokens.ts';
import type { Provider } from './providers.ts';
import { type Departure, type Luggage, type Return, UpstreamError } from './upstream.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024 };
const ASSERTION_SECONDS = 60;
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const LONGEST_TOKEN = 64 * 1024;
const LONGEST_SCOPE = 4096;
const YEAR_SECONDS = 365 * DAY_SECONDS;

export interface CodeFlowDeps {
  outbound: Pick<Outbound, 'fetch'>;
  /** The key that signs assertions: the provider finds it in the realm's JWKS. */
  keys: Pick<Keys, 'active'>;
  newId: () => string;
  now: () => Date;
}
export interface Granted {
  accessToken: string;
  idToken: string | undefined;
  /** The token to store; undefined: the provider's tokens are not stored. */
  token: ProviderToken | undefined;
}

export function createCodeFlow({ outbound, keys, newId, now }: CodeFlowDeps) {
  async function answered(url: string, what: string, request: object): Promise<string> {
    const answer = await outbound
      .fetch(url, { ...LIMITS, httpsOnly: !isLoopback(url), ...request })
      .catch((cause: unknown) => {
        throw new UpstreamError(`${what}-unreachable`, { cause });
      });
    // Some make a token by 201.
    if (answer.status !== 200 && answer.status !== 201) throw new UpstreamError(`${what}-${answer.status}`);
    return answer.body.toString();
  }
  const objectIn = (what: string, body: unknown): Record<string, unknown> => {
    if (!isObject(body)) throw new UpstreamError(`${what}-no-object`);
    return { ...body };
  };

  /** The client's authentication, as headers and form fields. */
  async function proof(realm: string, { clientId, secret, config }: Provider, audience: string) {
    const plain = secret();
    const method = config.tokenEndpointAuthMethod ?? (plain === undefined ? 'none' : 'client_secret_basic');
    const none = { headers: {}, fields: { client_id: clientId } };
    if (method === 'none') return none;
    if (method === 'private_key_jwt') {
      const iat = Math.floor(now().getTime() / 1000);
      const claims = { iss: clientId, sub: clientId, aud: audience, jti: newId(), iat, exp: iat + ASSERTION_SECONDS };
      const assertion = await signJwt(await keys.active(realm), 'JWT', claims);
      return { ...none, fields: { ...none.fields, client_assertion_type: JWT_BEARER, client_assertion: assertion } };
    }
    if (plain === undefined) throw new UpstreamError('no-secret');
    if (method === 'client_secret_post') return { ...none, fields: { ...none.fields, client_secret: plain } };
    const basic = [clientId, plain].map(encodeURIComponent).join(':');
    return { headers: { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }, fields: {} };
  }

  return {
    /** The address for the browser, and the values needed when it returns. */
    depart(
      { clientId, scopes, config }: Provider,
      { callback, state, loginHint }: Departure,
      { endpoint, more = {} }: { endpoint: string; more?: Record<string, string> },
    ): { url: string; luggage: Luggage } {
      const url = new URL(endpoint);
      const verifier = config.pkce === false ? undefined : newSecret();
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: callback,
        scope: scopes.join(' '),
        state,
        login_hint: loginHint,
        code_challenge: challengeOf(verifier) ?? '',
        code_challenge_method: verifier === undefined ? '' : 'S256',
        ...more,
      };
      for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value);
      return { url: url.href, luggage: verifier === undefined ? {} : { verifier } };
    },

    /** @param audience the audience of assertions */
    async redeem(
      provider: Provider,
      { realm, callback, luggage, answer }: Return,
      { endpoint, audience }: { endpoint: string; audience: string },
    ): Promise<Granted> {
      if (answer.error !== undefined) throw new UpstreamError(`error-${wordOf(answer.error)}`);
      if (!answer.code) throw new UpstreamError('no-code');
      const { headers, fields } = await proof(realm, provider, audience);
      const { verifier } = luggage;
      const form = { grant_type: 'authorization_code', code: answer.code, redirect_uri: callback, ...fields };
      const text = await answered(endpoint, 'token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
        body: new URLSearchParams({ ...form, ...(verifier !== undefined && { code_verifier: verifier }) }).toString(),
      });
      const got = tokenIn(objectIn('token', parsed(text) ?? formIn(text)));
      const { access_token: accessToken, id_token: idToken, expires_in: seconds, scope: scopes } = got;
      // GitHub says why it refuses by 200.
      if (accessToken === undefined && typeof got.error === 'string')
        throw new UpstreamError(`token-error-${wordOf(got.error)}`);
      if (typeof accessToken !== 'string' || accessToken === '' || accessToken.length > LONGEST_TOKEN)
        throw new UpstreamError('no-access-token');
      const scope = scopeIn(scopes);
      const token: ProviderToken | undefined = provider.config.storeToken
        ? {
            value: accessToken,
            ...(scope !== undefined && { scope }),
            ...(Number(seconds) > 0 && { expiresAt: now().getTime() + Math.min(Number(seconds), YEAR_SECONDS) * 1000 }),
          }
        : undefined;
      return { accessToken, idToken: typeof idToken === 'string' ? idToken : undefined, token };
    },

    /** The provider's claims about the token's user. @param headers that a provider needs beside the token */
    userinfo: async (endpoint: string, accessToken: string, headers: object = {}): Promise<Record<string, unknown>> =>
      objectIn('userinfo', parsed(await answered(endpoint, 'userinfo', bearing(accessToken, headers)))),

    /** A further answer of the provider about the token's user. */
    about: async (endpoint: string, accessToken: string): Promise<unknown> =>
      parsed(await answered(endpoint, 'userinfo', bearing(accessToken))),
  };
}
export type CodeFlow = ReturnType<typeof createCodeFlow>;

const bearing = (accessToken: string, headers: object = {}) => ({
  headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json', ...headers },
});
const wordOf = (error: string): string => error.replace(/[^a-z_]/g, '').slice(0, 40);

/** Some providers answer a form although the request accepts JSON only: `access_token=…&token_type=bearer`. */
function formIn(text: string): Record<string, unknown> | undefined {
  const form = new URLSearchParams(text.trim());
  return form.has('access_token') || form.has('error') ? Object.fromEntries(form) : undefined;
}

/** Slack has the user's token beside that of the workspace. */
function tokenIn(got: Record<string, unknown>): Record<string, unknown> {
  const { authed_user: user } = got;
  return isObject(user) && typeof user.access_token === 'string' ? { ...got, ...user } : got;
}

/** Scopes, with blanks between: GitHub and Slack write commas, Twitch a list. */
function scopeIn(scopes: unknown): string | undefined {
  const text = Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string').join(' ') : scopes;
  return typeof text === 'string' ? text.replaceAll(/\s*,\s*/g, ' ').slice(0, LONGEST_SCOPE) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
