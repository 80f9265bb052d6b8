// Client secrets at rest: a strong one as SHA-256, so that a token request costs no slow hash; a weak one as argon2id.
// This file makes, hashes and compares secrets; features/configuration/clients decides which administrator may see one.
import { timingSafeEqual } from 'node:crypto';
import type { Passwords } from './passwords.ts';
import { newToken, sha256 } from './tokens.ts';

export interface StoredSecret {
  hash: Buffer | null;
  slow: string | null;
}

/** A new secret of 256 random bits with a checksum, as secret scanners know it. */
export const newClientSecret = (): string => newToken('svc_cs_');

const STRONG_LENGTH = 32;
const STRONG_VARIETY = 12;

/** Whether guessing is hopeless even against a fast hash: long, and not the same few characters over and over. */
const isStrong = (secret: string): boolean => secret.length >= STRONG_LENGTH && new Set(secret).size >= STRONG_VARIETY;

/** Hashes a secret for storage: `hash` of a strong secret, `slow` (a PHC string) of a weak one; the other is null. */
export async function hashClientSecret(secret: string, passwords: Pick<Passwords, 'hash'>): Promise<StoredSecret> {
  return isStrong(secret) ? { hash: sha256(secret), slow: null } : { hash: null, slow: await passwords.hash(secret) };
}

/** Whether the secret is the stored one. Constant time for a strong secret, argon2id for a weak one. */
export async function sameClientSecret(
  stored: StoredSecret,
  secret: string,
  passwords: Pick<Passwords, 'verify'>,
): Promise<boolean> {
  if (stored.hash) return timingSafeEqual(stored.hash, sha256(secret));
  return stored.slow !== null && (await passwords.verify(stored.slow, secret)).ok;
}
