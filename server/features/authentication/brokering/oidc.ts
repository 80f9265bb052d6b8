// A provider with OpenID Connect: endpoints by discovery, and an ID token that must pass every check. OIDC Core §3.1.3.7,
// Discovery §4.3; RFC 9207; RFC 8725 §3.1.
import type { JWTPayload } from 'jose';
import * as errors from 'jose/errors';
import { createLocalJWKSet } from 'jose/jwks/local';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import { isProviderAddress } from '../../../contract/identity-providers.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { RemoteDocuments } from '../../../http/remote-documents.ts';
import type { CodeFlow } from './code-flow.ts';
import type { Provider } from './providers.ts';
import { type Return, type Upstream, UpstreamError } from './upstream.ts';

/** Neither `none`, nor HMAC, with which the holder of a public key or the client secret could sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const SKEW_SECONDS = 60;

const Address = z.string().refine(isProviderAddress).optional();
const Discovered = z.object({
  issuer: z.string(),
  authorization_endpoint: Address,
  token_endpoint: Address,
  userinfo_endpoint: Address,
  jwks_uri: Address,
  end_session_endpoint: Address,
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
});
const Jwk = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) });
/** Keys of unknown kinds are ignored (RFC 7517 §5). */
const Jwks = z
  .object({ keys: z.array(z.unknown()).max(100) })
  .transform(({ keys }) => ({ keys: keys.flatMap((key) => Jwk.safeParse(key).data ?? []) }));

export interface OidcDeps {
  codeFlow: CodeFlow;
  /** JSON documents by address, cached for a while. */
  documents: RemoteDocuments;
  now: () => Date;
}

export interface Metadata {
  issuer: string;
  authorizationEndpoint: string | undefined;
  tokenEndpoint: string | undefined;
  userinfoEndpoint: string | undefined;
  jwksUri: string | undefined;
  endSessionEndpoint: string | undefined;
  /** Whether the provider sends `iss` in its responses. */
  namesItself: boolean;
}

export function createOidc({ codeFlow, documents, now }: OidcDeps) {
  async function metadataOf({ config }: Pick<Provider, 'config'>): Promise<Metadata> {
    const { issuer, authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri, endSessionEndpoint } = config;
    if (issuer === undefined) throw new UpstreamError('no-issuer');
    const own = { issuer, authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri, endSessionEndpoint };
    if (authorizationEndpoint && tokenEndpoint && jwksUri) return { ...own, namesItself: false };
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const document = await documents.get(address).catch((cause: unknown) => {
      throw new UpstreamError('discovery-unreachable', { cause });
    });
    const found = Discovered.safeParse(document).data;
    if (!found) throw new UpstreamError('discovery-malformed');
    // Otherwise any host could speak for any issuer.
    if (found.issuer !== issuer) throw new UpstreamError('discovery-other-issuer');
    return {
      issuer,
      authorizationEndpoint: authorizationEndpoint ?? found.authorization_endpoint,
      tokenEndpoint: tokenEndpoint ?? found.token_endpoint,
      userinfoEndpoint: userinfoEndpoint ?? found.userinfo_endpoint,
      jwksUri: jwksUri ?? found.jwks_uri,
      endSessionEndpoint: endSessionEndpoint ?? found.end_session_endpoint,
      namesItself: found.authorization_response_iss_parameter_supported ?? false,
    };
  }

  /** The claims of a JWT of the provider for this client. @throws UpstreamError */
  async function verified(provider: Provider, { issuer, jwksUri }: Metadata, jwt: string): Promise<JWTPayload> {
    if (jwksUri === undefined) throw new UpstreamError('no-keys');
    const by = async (document: unknown): Promise<JWTPayload> => {
      const { payload } = await jwtVerify(jwt, createLocalJWKSet(Jwks.parse(document)), {
        algorithms: ALGORITHMS,
        issuer,
        audience: provider.clientId,
        requiredClaims: ['iat'],
        clockTolerance: SKEW_SECONDS,
        currentDate: now(),
      });
      return payload;
    };
    const refused = (cause: unknown) =>
      new UpstreamError(`token-${cause instanceof errors.JOSEError ? nameOf(cause) : 'unreadable'}`, { cause });
    const keys = await documents.get(jwksUri).catch((cause: unknown) => {
      throw new UpstreamError('keys-unreachable', { cause });
    });
    return by(keys).catch(async (error: unknown) => {
      // The provider may have rotated its keys since they were fetched.
      const isUnknown =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
      const fresh = isUnknown ? await documents.renewed(jwksUri).catch(() => undefined) : undefined;
      if (fresh === undefined) throw refused(error);
      return by(fresh).catch((again: unknown) => {
        throw refused(again);
      });
    });
  }

  function mustBeFor({ clientId }: Provider, { anew, leftAt, luggage }: Return, claims: JWTPayload): void {
    const { aud, azp, nonce, iat = 0, exp, auth_time: provenAt } = claims;
    if (exp === undefined) throw new UpstreamError('token-exp');
    if ([aud].flat().length > 1 && azp === undefined) throw new UpstreamError('token-azp');
    if (azp !== undefined && azp !== clientId) throw new UpstreamError('token-azp');
    if (typeof nonce !== 'string' || !sameSecret(nonce, luggage.nonce ?? '')) throw new UpstreamError('token-nonce');
    if (iat < 0 || iat > now().getTime() / 1000 + SKEW_SECONDS) throw new UpstreamError('token-iat');
    const since = leftAt.getTime() / 1000 - SKEW_SECONDS;
    if (anew && !(typeof provenAt === 'number' && provenAt >= since)) throw new UpstreamError('token-auth-time');
  }

  const upstream: Upstream = {
    async depart(provider, departure) {
      const { authorizationEndpoint: endpoint } = await metadataOf(provider);
      if (endpoint === undefined) throw new UpstreamError('no-authorization-endpoint');
      const nonce = newSecret();
      const scope = [...new Set(['openid', ...provider.scopes])].join(' ');
      const anew = departure.anew ? { prompt: 'login', max_age: String(SKEW_SECONDS) } : {};
      const { url, luggage } = codeFlow.depart(provider, departure, { endpoint, more: { nonce, scope, ...anew } });
      return { url, luggage: { ...luggage, nonce } };
    },

    async arrive(provider, back) {
      const metadata = await metadataOf(provider);
      const { issuer, tokenEndpoint, userinfoEndpoint, namesItself } = metadata;
      const { iss } = back.answer;
      if (iss === undefined ? namesItself : iss !== issuer) throw new UpstreamError('other-issuer');
      if (tokenEndpoint === undefined) throw new UpstreamError('no-token-endpoint');
      const granted = await codeFlow.redeem(provider, back, { endpoint: tokenEndpoint, audience: issuer });
      if (granted.idToken === undefined) throw new UpstreamError('no-id-token');
      const claims = await verified(provider, metadata, granted.idToken);
      mustBeFor(provider, back, claims);
      // jose does not check the type; a number of many digits could be several users' (OIDC Core §2: a string).
      const { sub }: { sub?: unknown } = claims;
      if (typeof sub !== 'string' || sub === '') throw new UpstreamError('no-subject');
      const more = userinfoEndpoint === undefined ? {} : await codeFlow.userinfo(userinfoEndpoint, granted.accessToken);
      // OIDC Core §5.3.2: otherwise the claims could be another user's.
      if (userinfoEndpoint !== undefined && more.sub !== sub) throw new UpstreamError('userinfo-other-subject');
      const session = {
        sid: typeof claims.sid === 'string' ? claims.sid : undefined,
        idToken: granted.idToken,
        token: granted.token,
      };
      return { issuer, subject: sub, claims: { ...more, ...claims }, session };
    },
  };
  return { ...upstream, metadataOf, verified };
}
export type Oidc = ReturnType<typeof createOidc>;

const nameOf = (error: errors.JOSEError): string =>
  error instanceof errors.JWTClaimValidationFailed ? error.claim : error.code.toLowerCase().replaceAll('_', '-');
