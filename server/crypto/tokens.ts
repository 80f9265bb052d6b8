// Opaque tokens and their digests: 256 random bits, a prefix and a checksum that secret scanners recognise.
// Only the SHA-256 is ever stored. Decisions "Secrets".
import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBytes } from './random.ts';

export type TokenPrefix =
  | 'svc_iat_'
  | 'svc_rat_'
  | 'svc_scim_'
  | 'svc_enr_'
  | 'svc_cs_'
  | 'svc_rt_'
  | 'svc_ac_'
  | 'svc_dc_'
  | 'svc_ba_'
  | 'svc_pt_';

/** 256 random bits in base64url, for cookies and other secrets that must be unguessable. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** `svc_cs_<43 base64url characters><8 hex CRC-32>`; the checksum covers prefix and body. */
export function newToken(prefix: TokenPrefix): string {
  const body = prefix + newSecret();
  return body + crc32(body).toString(16).padStart(8, '0');
}

/** Whether prefix and checksum are right: this rejects mistyped tokens without a query, and never proves one valid. */
export function wellFormed(token: string, prefix: TokenPrefix): boolean {
  const body = token.slice(0, -8);
  return token.startsWith(prefix) && crc32(body).toString(16).padStart(8, '0') === token.slice(-8);
}

/** The SHA-256 digest, 32 bytes; text counts as UTF-8. */
export const sha256 = (value: string | Buffer): Buffer => hash('sha256', value, 'buffer');

/** Compares two values of any length in constant time, by their digests. */
export const sameSecret = (a: string | Buffer, b: string | Buffer): boolean => timingSafeEqual(sha256(a), sha256(b));
