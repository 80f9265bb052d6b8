// What an opaque token has that nobody can guess: 256 random bits. RFC 6749 §10.10, OAuth 2.1 §7.7.
import { expect, test } from 'vitest';
import { newRefreshToken } from '../../../server/crypto/refresh-token.ts';
import { newToken, wellFormed } from '../../../server/crypto/tokens.ts';

const COUNT = 2_000;

/** How often each bit is set, over many tokens; a bit that isn't random is always set, or never. */
function setBits(tokens: readonly Buffer[]): number[] {
  const bits = (tokens[0]?.length ?? 0) * 8;
  return Array.from({ length: bits }, (_, n) =>
    tokens.reduce((sum, bytes) => sum + (((bytes[n >> 3] ?? 0) >> (n & 7)) & 1), 0),
  );
}
const bytesOf = (token: string, prefix: string) => Buffer.from(token.slice(prefix.length, -8), 'base64url');
const isRandom = (count: number): boolean => count > COUNT * 0.4 && count < COUNT * 0.6;

test.each(['svc_ac_', 'svc_dc_', 'svc_cs_', 'svc_iat_', 'svc_rat_'] as const)(
  'a token %s has 256 random bits',
  (prefix) => {
    const tokens = Array.from({ length: COUNT }, () => newToken(prefix));
    expect(tokens.every((token) => wellFormed(token, prefix))).toBe(true);
    const bits = setBits(tokens.map((token) => bytesOf(token, prefix)));
    expect([bits.length, bits.every(isRandom)]).toEqual([256, true]);
  },
);

test('a refresh token has 256 random bits beside the id of its grant', () => {
  const id = '0190a6e2-1111-7222-8333-444455556666';
  const tokens = Array.from({ length: COUNT }, () => newRefreshToken(id).token);
  const bits = setBits(tokens.map((token) => bytesOf(token, 'svc_rt_').subarray(16)));
  expect([bits.length, bits.every(isRandom)]).toEqual([256, true]);
});
