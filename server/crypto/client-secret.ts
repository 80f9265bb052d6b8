// Client secrets at rest: a strong one as SHA-256, so that a token request costs no slow hash; a weak one as argon2id.
// It makes, hashes and compares; who may see a secret is features/configuration/clients'.
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

export async function hashClientSecret(secret: string, passwords: Pick<Passwords, 'hash'>): Promise<StoredSecret> {
  return isStrong(secret) ? { hash: sha256(secret), slow: null } : { hash: null, slow: await passwords.hash(secret) };
}

/** Constant time where the secret is strong; argon2id where it is not. */
export async function sameClientSecret(
  stored: StoredSecret,
  secret: string,
  passwords: Pick<Passwords, 'verify'>,
): Promise<boolean> {
  if (stored.hash) return timingSafeEqual(stored.hash, sha256(secret));
  return stored.slow !== null && (await passwords.verify(stored.slow, secret)).ok;
}
