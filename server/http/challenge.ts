// WWW-Authenticate: tells a client how to authenticate, and where the metadata is. RFC 6750 §3, RFC 9449 §7.1, RFC 9728 §5.1.
import type { FastifyRequest } from 'fastify';
import { Problem } from '../contract/problem.ts';
import { pathRealm } from './path-realm.ts';
import { presentedBy } from './presented-token.ts';
import { endpointsOf } from './realm-endpoints.ts';

/** RFC 6749 appendix A.8: no quote and no backslash. */
export const quotableText = (text: string): string => text.replace(/["\\]/g, "'");

/** @param metadata the address of the resource's metadata */
export const challenge = (
  realm: string,
  { scheme = 'Bearer', said = {}, metadata }: { scheme?: string; said?: Record<string, string>; metadata?: string },
): string =>
  `${scheme} ${Object.entries({ realm, ...said, ...(metadata !== undefined && { resource_metadata: metadata }) })
    .map(([name, value]) => `${name}="${quotableText(value)}"`)
    .join(', ')}`;

/** The challenge of the realm's own APIs. */
export const realmChallenge = (baseUrl: string, realm: string, said: Record<string, string> = {}, scheme?: string) =>
  challenge(realm, { ...(scheme && { scheme }), said, metadata: endpointsOf(baseUrl, realm).protectedResource });

const ERRORS: Readonly<Record<string, string>> = {
  unauthenticated: 'invalid_token',
  'insufficient-scope': 'insufficient_scope',
  // RFC 9470 §3
  'reauthentication-required': 'insufficient_user_authentication',
};

/**
 * The challenge for a problem about the access token or its absence; undefined for other problems.
 * @param more further parameters
 */
export function problemChallenge(
  error: unknown,
  request: FastifyRequest,
  { baseUrl, scope, more = {} }: { baseUrl: string; scope: string; more?: Record<string, string> },
): string | undefined {
  const code = error instanceof Problem ? ERRORS[error.code] : undefined;
  if (code === undefined) return undefined;
  const presented = presentedBy(request);
  // RFC 6750 §3.1: a request without a token gets no error code.
  const why = presented ? { error: code, ...more } : {};
  return realmChallenge(baseUrl, pathRealm(request) ?? '', { ...why, scope }, presented?.dpop ? 'DPoP' : 'Bearer');
}
