// The form of refresh tokens: `svc_rt_` + base64url(family id, 32 random bytes) + CRC-32. The row of the family is
// found by the id in the token, even if the token was replaced long ago; only the SHA-256 of the whole is stored.
// The id is as secret as the token: it is stored nowhere else (an access token's `gid` is derived one-way).
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBytes } from './random.ts';
import { sha256, wellFormed } from './tokens.ts';

const PREFIX = 'svc_rt_';
const ID_BYTES = 16;
const RANDOM_BYTES = 32;
const LENGTH = PREFIX.length + Math.ceil(((ID_BYTES + RANDOM_BYTES) * 4) / 3) + 8;

export interface RefreshToken {
  familyId: string;
  hash: Buffer;
}

/** @returns the token for the client, and its SHA-256 for the row */
export function newRefreshToken(familyId: string): { token: string; hash: Buffer } {
  const id = Buffer.from(familyId.replaceAll('-', ''), 'hex');
  const body = PREFIX + Buffer.concat([id, randomBytes(RANDOM_BYTES)]).toString('base64url');
  const token = body + crc32(body).toString(16).padStart(8, '0');
  return { token, hash: sha256(token) };
}

const uuidOf = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;

/** Parses the form only; undefined if this server can't have issued the token. */
export function parseRefreshToken(token: string): RefreshToken | undefined {
  if (token.length !== LENGTH || !wellFormed(token, PREFIX)) return undefined;
  const bytes = Buffer.from(token.slice(PREFIX.length, -8), 'base64url');
  if (bytes.length !== ID_BYTES + RANDOM_BYTES) return undefined;
  return { familyId: uuidOf(bytes.subarray(0, ID_BYTES).toString('hex')), hash: sha256(token) };
}

/** The `gid` of access tokens: it names the grant for revocation, and the family's id can't be computed from it. */
export const grantIdOf = (familyId: string): string => uuidOf(hash('sha256', `svc-grant:${familyId}`, 'hex'));
