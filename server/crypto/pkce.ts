// PKCE (RFC 7636), S256 alone: `plain` is refused at the authorization endpoint. Pure.
import { timingSafeEqual } from 'node:crypto';
import { sha256 } from './tokens.ts';

const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Whether the text can be an S256 challenge: 32 bytes as base64url (RFC 7636 §4.2). */
export const isChallenge = (challenge: string): boolean => CHALLENGE.test(challenge);

/** The challenge of a verifier; null without a verifier, and empty (which no request has) for a malformed one. */
export const challengeOf = (verifier: string | undefined): string | null => {
  if (verifier === undefined) return null;
  return VERIFIER.test(verifier) ? sha256(verifier).toString('base64url') : '';
};

/**
 * Whether the verifier belongs to the challenge of the authorization request. A verifier without a challenge is refused
 * too: an attacker may have removed the challenge from the request (RFC 9700 §4.8.2).
 */
export function pkceHolds(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null) return verifier === undefined;
  if (verifier === undefined || !VERIFIER.test(verifier)) return false;
  const expected = Buffer.from(challenge, 'base64url');
  const actual = sha256(verifier);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
