// Owns: a small identity provider of a test's own, over https: discovery, keys, codes, tokens, userinfo, in OpenID Connect's shape or
// GitHub's. The test sets its answers, right or wrong.
// Does not own: the server that sends users there (server.ts).
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type Received, startReceiver } from './receiver.ts';

export interface Upstream {
  url: string;
  caFile: string;
  received: Received[];
  /** Of the ID token, over what is right. */
  claims: Record<string, unknown>;
  /** Of userinfo, over what is right. */
  userinfo: Record<string, unknown>;
  /** Over what is right, of discovery. */
  discovery: Record<string, unknown>;
  /** How ID tokens are signed. */
  alg: 'RS256' | 'none' | 'HS256' | 'another key';
  /** Another answer of the token endpoint. */
  token: { status: number; body: string } | undefined;
  /** Answers to the access token at further paths; without one, 404. */
  also: Record<string, { status?: number | undefined; body: unknown }>;
  /** The `expires_in` of access tokens. */
  lifetime: number | undefined;
  /** Signs a user in: called for each user that is sent there. @returns the address to which they are sent back */
  answer(url: string, parameters?: Record<string, string>): string;
  /** The logout token of an ended session. @param claims replace the right ones */
  logoutToken(claims: Record<string, unknown>): string;
  /** Forgets what the last test said. */
  reset(): void;
  stop(): Promise<void>;
}

export const SUBJECT = 'subject-1';
const [right, other] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(alg: Upstream['alg'], claims: object): string {
  const header = { typ: 'JWT', kid: 'k1', alg: alg === 'another key' ? 'RS256' : alg };
  const input = `${encoded(header)}.${encoded(claims)}`;
  const by = (key: KeyObject | undefined) => (key ? sign('sha256', Buffer.from(input), key).toString('base64url') : '');
  if (alg === 'none') return `${input}.`;
  const pem = String(right?.publicKey.export({ type: 'spki', format: 'pem' }));
  if (alg === 'HS256') return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
  return `${input}.${by(alg === 'RS256' ? right?.privateKey : other?.privateKey)}`;
}

export async function startUpstream({ clientId = 'realm' }: { clientId?: string } = {}): Promise<Upstream> {
  const receiver = await startReceiver();
  const { url } = receiver;
  /** By code: what its authorization request asked for. */
  const codes = new Map<string, URLSearchParams>();
  const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const fresh = () => ({
    claims: {},
    userinfo: {},
    discovery: {},
    alg: 'RS256' as const,
    token: undefined,
    also: {},
    lifetime: 300,
  });
  const upstream: Upstream = {
    ...fresh(),
    url,
    caFile: receiver.caFile,
    received: receiver.received,
    answer(sentTo, parameters = {}) {
      const { searchParams } = new URL(sentTo);
      const code = randomUUID();
      codes.set(code, searchParams);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const all = { code, state: searchParams.get('state') ?? '', ...parameters };
      for (const [name, value] of Object.entries(all)) if (value !== '') back.searchParams.set(name, value);
      return back.href;
    },
    logoutToken(claims) {
      const iat = Math.floor(Date.now() / 1000);
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      return jwt(upstream.alg, { iss: url, aud: clientId, iat, exp: iat + 120, jti: randomUUID(), events, ...claims });
    },
    reset() {
      Object.assign(upstream, fresh());
      receiver.received.length = 0;
    },
    stop: receiver.stop,
  };

  receiver.answer = (request) => {
    const { pathname } = new URL(request.url, url);
    if (pathname === '/.well-known/openid-configuration')
      return json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        userinfo_endpoint: `${url}/userinfo`,
        jwks_uri: `${url}/jwks`,
        authorization_response_iss_parameter_supported: false,
        ...upstream.discovery,
      });
    if (pathname === '/jwks')
      return json({ keys: [{ ...right?.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }] });
    if (pathname === '/token') {
      if (upstream.token) return upstream.token;
      const form = new URLSearchParams(request.raw.toString());
      const asked = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      if (!asked) return { status: 400, ...json({ error: 'invalid_grant' }) };
      const iat = Math.floor(Date.now() / 1000);
      const nonce = asked.get('nonce') ?? undefined;
      const claims = { iss: url, aud: clientId, sub: SUBJECT, iat, exp: iat + 300, auth_time: iat, nonce };
      const id_token = jwt(upstream.alg, { ...claims, ...upstream.claims });
      return json({ access_token: 'the-access-token', token_type: 'Bearer', expires_in: upstream.lifetime, id_token });
    }
    if (pathname === '/userinfo' || pathname === '/user')
      return request.headers.authorization === 'Bearer the-access-token'
        ? json({ ...(pathname === '/userinfo' ? { sub: SUBJECT } : {}), ...upstream.userinfo })
        : { status: 401 };
    const further = Object.hasOwn(upstream.also, pathname) ? upstream.also[pathname] : undefined;
    if (!further) return { status: 404 };
    if (request.headers.authorization !== 'Bearer the-access-token') return { status: 401 };
    return { status: further.status ?? 200, body: JSON.stringify(further.body) };
  };
  return upstream;
}
