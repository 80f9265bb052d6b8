// Reads and checks another issuer's grant: its type, audience, client, signature and times. RFC 7523 §3; RFC 8725 §3.11;
// draft-ietf-oauth-identity-assertion-authz-grant §4.4.1.
import type { JSONWebKeySet } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { createLocalJWKSet } from 'jose/jwks/local';
import { compactVerify } from 'jose/jws/compact/verify';
import { decodeJwt } from 'jose/jwt/decode';
import { z } from 'zod';
import { ClientAlgorithm } from '../../../contract/algorithms.ts';
import { Confirmation } from '../../../domain/sender.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { createRemoteDocuments } from '../../../http/remote-documents.ts';
import { type GrantKind, kindOfGrant } from './kinds.ts';

export const SKEW_SECONDS = 60;
/** The longest life of another issuer's grant: its `jti` is remembered for so long. */
const LONGEST_SECONDS = 3600;
const MOST_CHARACTERS = 16 * 1024;

const text = z
  .string()
  .min(1)
  .max(2048)
  .refine((s) => !s.includes('\0'));
const one = (of: z.ZodString) => z.union([of, z.tuple([of]).transform(([only]) => only)]);
// RFC 7515 §4.1.11: this server supports no extension, so a header that demands one is refused.
const Header = z.object({ typ: z.string().optional(), crit: z.undefined().optional() });
const Claims = z.object({
  iss: text,
  sub: text,
  // exactly one: another audience could present the grant in turn
  aud: one(text),
  client_id: text.optional(),
  jti: text,
  exp: z.number(),
  iat: z.number(),
  nbf: z.number().optional(),
  resource: z.union([text.transform((resource) => [resource]), z.array(text).max(100)]).optional(),
  scope: z.string().max(4000).optional(),
  authorization_details: z.array(z.unknown()).max(20).optional(),
  auth_time: z.number().optional(),
  acr: z.string().max(100).optional(),
  amr: z.array(z.string().max(100)).max(20).optional(),
  email: z.string().max(320).optional(),
  email_verified: z.boolean().optional(),
  cnf: Confirmation.optional(),
  // claims of ID tokens, access tokens and logout tokens: a grant has none of them
  nonce: z.undefined().optional(),
  at_hash: z.undefined().optional(),
  c_hash: z.undefined().optional(),
  events: z.undefined().optional(),
});
export type AssertionClaims = z.output<typeof Claims>;

export interface ReadAssertion {
  jwt: string;
  kind: GrantKind;
  claims: AssertionClaims;
}

const invalid = (reason: string) => new OAuthError('invalid_grant', 'The assertion is not valid here', { reason });

/** Reads an assertion whose signature is not verified yet. @throws OAuthError `invalid_grant` */
export function readAssertion(jwt: string): ReadAssertion {
  if (jwt.length > MOST_CHARACTERS) throw invalid('it is too long');
  let header: unknown;
  let payload: unknown;
  try {
    header = decodeProtectedHeader(jwt);
    payload = decodeJwt(jwt);
  } catch {
    throw invalid('it is no JWT');
  }
  const { typ } = Header.safeParse(header).data ?? {};
  const kind = Header.safeParse(header).success ? kindOfGrant(typ) : undefined;
  if (!kind) throw invalid(`its type ${String(typ).slice(0, 50)} is no grant’s`);
  const claims = Claims.safeParse(payload);
  if (!claims.success) throw invalid(`the claim ${claims.error.issues[0]?.path.join('.')} is missing or malformed`);
  return { jwt, kind, claims: claims.data };
}

/** @throws OAuthError `invalid_grant` */
export function checkTimes({ exp, iat, nbf }: AssertionClaims, now: Date): void {
  const at = now.getTime() / 1000;
  if (exp <= at - SKEW_SECONDS) throw invalid('it has expired');
  if (iat > at + SKEW_SECONDS || (nbf !== undefined && nbf > at + SKEW_SECONDS)) throw invalid('it is not valid yet');
  if (exp <= iat || exp - iat > LONGEST_SECONDS) throw invalid('its lifetime is too long, or none');
}

const address = z.url({ protocol: /^https?$/ });
const Metadata = z.object({ issuer: z.string(), jwks_uri: address });
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

export interface KeySource {
  issuer: string;
  jwksUri: string | null;
}

export function createAssertionKeys({
  outbound,
  keys,
  settings,
  baseUrl,
  now,
}: {
  outbound: Pick<Outbound, 'fetch'>;
  keys: { jwks(realm: string): Promise<readonly object[]> };
  settings: { issuer(realm: string): Promise<string>; of(realm: string): Promise<object | undefined> };
  baseUrl: string;
  now: () => Date;
}) {
  const documents = createRemoteDocuments({ outbound, loopback: true, now });
  const realms = `${baseUrl}/realms/`;

  /** The keys of a realm of this server, which needs no request; undefined: the issuer is none of these. */
  async function ownKeys({ issuer, jwksUri }: KeySource): Promise<object | undefined> {
    if (jwksUri !== null || !issuer.startsWith(realms)) return undefined;
    const realm = issuer.slice(realms.length);
    if (!(await settings.of(realm)) || (await settings.issuer(realm)) !== issuer) return undefined;
    return { keys: await keys.jwks(realm) };
  }

  async function addressOf({ issuer, jwksUri }: KeySource): Promise<string> {
    if (jwksUri !== null) return jwksUri;
    const found = await documents.get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const metadata = Metadata.safeParse(found).data;
    // OpenID Connect Discovery §4.3: otherwise any host could speak for any issuer.
    if (metadata?.issuer !== issuer) throw new Error('the issuer’s metadata does not name its keys');
    return metadata.jwks_uri;
  }

  async function isSigned(jwt: string, set: unknown): Promise<boolean> {
    const parsed = KeySet.safeParse(set);
    if (!parsed.success) return false;
    return compactVerify(jwt, createLocalJWKSet(parsed.data as JSONWebKeySet), {
      algorithms: ClientAlgorithm.options,
    }).then(
      () => true,
      () => false,
    );
  }

  return {
    /** @throws OAuthError `invalid_grant` if no key of the issuer made the signature, or its keys can't be fetched */
    async demandSignature(jwt: string, source: KeySource): Promise<void> {
      const own = await ownKeys(source);
      if (own && (await isSigned(jwt, own))) return;
      if (own) throw invalid('no key of the issuer made the signature');
      let signed = false;
      try {
        const uri = await addressOf(source);
        signed = await isSigned(jwt, await documents.get(uri));
        if (!signed) {
          // the issuer may have a new key
          const renewed = await documents.renewed(uri);
          signed = renewed !== undefined && (await isSigned(jwt, renewed));
        }
      } catch (error) {
        const reason = `the issuer’s keys could not be had: ${error instanceof Error ? error.message : error}`;
        throw new OAuthError('invalid_grant', 'The assertion is not valid here', { reason, cause: error });
      }
      if (!signed) throw invalid('no key of the issuer made the signature');
    },
  };
}
export type AssertionKeys = ReturnType<typeof createAssertionKeys>;
