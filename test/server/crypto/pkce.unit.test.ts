// PKCE, and the form of refresh tokens.
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofHolds, proofOf } from '../../../server/crypto/form-proof.ts';
import { isChallenge, pkceHolds } from '../../../server/crypto/pkce.ts';
import { grantIdOf, newRefreshToken, parseRefreshToken } from '../../../server/crypto/refresh-token.ts';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const verifiers = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 43, maxLength: 128 });
const challengeOf = (verifier: string) => hash('sha256', verifier, 'base64url');

describe('PKCE', () => {
  test('RFC 7636 appendix B', () => {
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect(pkceHolds('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', verifier)).toBe(true);
  });
  test('holds for the verifier of the challenge and for no other', () => {
    fc.assert(
      fc.property(verifiers, verifiers, (one, two) => {
        const challenge = challengeOf(one);
        return isChallenge(challenge) && pkceHolds(challenge, one) && pkceHolds(challenge, two) === (one === two);
      }),
    );
  });
  test.each([
    ['no verifier where there is a challenge', challengeOf('a'.repeat(43)), undefined],
    ['a verifier where there is no challenge', null, 'a'.repeat(43)],
    ['a verifier that is too short', challengeOf('a'.repeat(42)), 'a'.repeat(42)],
    ['a verifier that is too long', challengeOf('a'.repeat(129)), 'a'.repeat(129)],
    ['a verifier with other characters', challengeOf(`${'a'.repeat(43)}!`), `${'a'.repeat(43)}!`],
    ['the challenge itself', challengeOf('a'.repeat(43)), challengeOf('a'.repeat(43))],
  ])('does not hold with %s', (_, challenge, verifier) => {
    expect(pkceHolds(challenge, verifier)).toBe(false);
  });
  test('neither where neither is', () => {
    expect(pkceHolds(null, undefined)).toBe(true);
  });
});

describe('a refresh token', () => {
  const family = '0190f5b6-7b1c-7000-8000-000000000001';
  test('leads to its family, and is recognised by its digest alone', () => {
    const { token, hash: digest } = newRefreshToken(family);
    expect(parseRefreshToken(token)).toEqual({ familyId: family, hash: digest });
    expect(newRefreshToken(family).token).not.toBe(token);
  });
  test('that was changed anywhere is none', () => {
    const { token } = newRefreshToken(family);
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'aZ0_-x'), (at, c) => {
        const changed = token.slice(0, at) + c + token.slice(at + 1);
        const parsed = parseRefreshToken(changed);
        return changed === token || parsed === undefined;
      }),
    );
  });
  test('never shows in what access tokens say of their grant', () => {
    expect(grantIdOf(family)).toMatch(/^[0-9a-f-]{36}$/);
    expect(grantIdOf(family)).not.toContain(family.slice(0, 8));
  });
});

test('a form’s proof holds for its session, its subject and a short while', () => {
  const at = new Date(1_000_000);
  const proof = proofOf('cookie', ['a', 'b'], at);
  const minutes = (n: number) => new Date(at.getTime() + n * 60_000);
  expect(proofHolds(proof, 'cookie', ['a', 'b'], minutes(14))).toBe(true);
  expect(proofHolds(proof, 'cookie', ['a', 'b'], minutes(16))).toBe(false);
  expect(proofHolds(proof, 'cookie', ['a', 'b'], minutes(-1))).toBe(false);
  expect(proofHolds(proof, 'other', ['a', 'b'], at)).toBe(false);
  expect(proofHolds(proof, 'cookie', ['a', 'c'], at)).toBe(false);
  expect(proofHolds(proof, 'cookie', ['ab'], at)).toBe(false);
  expect(proofHolds(proof.replace(/^\d+/, '1000001'), 'cookie', ['a', 'b'], minutes(1))).toBe(false);
  expect(proofHolds(proofOf('', ['a', 'b'], at), '', ['a', 'b'], at)).toBe(false);
  expect(proofHolds(undefined, 'cookie', ['a', 'b'], at)).toBe(false);
});
