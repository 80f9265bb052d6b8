import { describe, expect, test } from 'vitest';
import { createIssuerKeys } from '../../../server/domain/issuer-keys.ts';
import { candidateKeys, readToken, timeFault } from '../../../server/domain/workload-token.ts';

const ISSUER = 'https://issuer.example';
const SOURCE = { issuer: ISSUER, jwksUri: null };

/** An internet of our own: addresses and what they answer; undefined: unreachable. */
function world(pages: Record<string, unknown>, home?: string) {
  let at = 0;
  const asked: string[] = [];
  const keys = createIssuerKeys({
    now: () => new Date(at),
    outbound: {
      async fetch(url) {
        asked.push(url);
        const page = pages[url];
        if (page === undefined) throw new Error('unreachable');
        const atHome = home !== undefined && url.startsWith(home);
        return { status: 200, headers: new Headers(), body: Buffer.from(JSON.stringify(page)), atHome };
      },
    },
  });
  const pass = (ms: number) => {
    at += ms;
  };
  return { keys, asked, pages, pass };
}
const pagesOf = (issuer: string, jwks: string, kids: string[]) => ({
  [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: jwks },
  [jwks]: { keys: kids.map((kid) => ({ kty: 'RSA', kid })) },
});
const kids = (keys: readonly { kid?: string | undefined }[] | undefined) => keys?.map((k) => k.kid);

describe("an issuer's keys", () => {
  test('are found by discovery, or at the address that is set, and kept for ten minutes', async () => {
    const { keys, asked, pass } = world(pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    expect(kids(await keys.get(SOURCE))).toEqual(['a']);
    await Promise.all([keys.get(SOURCE), keys.get(SOURCE)]);
    pass(599_000);
    await keys.get(SOURCE);
    expect(asked).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
    pass(2_000);
    await keys.get(SOURCE);
    expect(asked).toHaveLength(4);
    expect(kids(await keys.get({ issuer: ISSUER, jwksUri: `${ISSUER}/keys` }))).toEqual(['a']);
    expect(asked).toHaveLength(5);
  });

  test('are fetched once for many who ask at the same time', async () => {
    const { keys, asked } = world(pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    await Promise.all(Array.from({ length: 20 }, () => keys.get(SOURCE)));
    expect(asked).toHaveLength(2);
  });

  test('are fetched anew for an unknown key, once in ten seconds, and stay if that fails', async () => {
    const { keys, asked, pages, pass } = world(pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    await keys.get(SOURCE);
    pages[`${ISSUER}/keys`] = { keys: [{ kty: 'RSA', kid: 'b' }] };
    expect(kids(await keys.renewed(SOURCE))).toEqual(['b']);
    expect(await keys.renewed(SOURCE)).toBeUndefined();
    expect(asked).toHaveLength(4);
    pass(10_001);
    pages[`${ISSUER}/keys`] = undefined;
    await expect(keys.renewed(SOURCE)).rejects.toThrow('unreachable');
    expect(kids(await keys.get(SOURCE))).toEqual(['b']);
  });

  test('are fetched anew after a clock was set back by an hour, and asked for again where they could not be had', async () => {
    const { keys, asked, pages, pass } = world(pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    pass(3_600_000);
    await keys.renewed(SOURCE);
    pass(-3_600_000);
    pages[`${ISSUER}/keys`] = { keys: [{ kty: 'RSA', kid: 'b' }] };
    expect(kids(await keys.renewed(SOURCE))).toEqual(['b']);
    expect(asked).toHaveLength(4);
    const away = world({});
    away.pass(3_600_000);
    await expect(away.keys.get(SOURCE)).rejects.toThrow('unreachable');
    away.pass(-3_600_000);
    Object.assign(away.pages, pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    expect(kids(await away.keys.get(SOURCE))).toEqual(['a']);
  });

  test('that could not be had are asked for again a little later', async () => {
    const { keys, asked, pages, pass } = world({});
    await expect(keys.get(SOURCE)).rejects.toThrow('unreachable');
    await expect(keys.get(SOURCE)).rejects.toThrow('unreachable');
    expect(asked).toHaveLength(1);
    pass(5_001);
    Object.assign(pages, pagesOf(ISSUER, `${ISSUER}/keys`, ['a']));
    expect(kids(await keys.get(SOURCE))).toEqual(['a']);
  });

  test('are refused from an issuer that calls itself another', async () => {
    const { keys } = world({
      [`${ISSUER}/.well-known/openid-configuration`]: { issuer: `${ISSUER}/`, jwks_uri: ISSUER },
    });
    await expect(keys.get(SOURCE)).rejects.toThrow('calls itself');
  });

  test("of the cluster's issuer come from its own host, whatever its discovery document names; others' don't", async () => {
    const cluster = 'https://kubernetes.default.svc';
    const named = 'https://10.0.0.5:6443/openid/v1/jwks';
    const pages = {
      ...pagesOf(cluster, named, ['advertised']),
      [`${cluster}/openid/v1/jwks`]: { keys: [{ kty: 'RSA', kid: 'own' }] },
    };
    expect(kids(await world(pages, cluster).keys.get({ issuer: cluster, jwksUri: null }))).toEqual(['own']);
    expect(kids(await world(pages).keys.get({ issuer: cluster, jwksUri: null }))).toEqual(['advertised']);
  });

  test('that cannot be read do not spoil the others', async () => {
    const { keys } = world({
      ...pagesOf(ISSUER, `${ISSUER}/keys`, []),
      [`${ISSUER}/keys`]: { keys: [1, { kid: 7 }, { kty: 'EC', kid: 'good' }] },
    });
    expect(kids(await keys.get(SOURCE))).toEqual(['good']);
  });
});

describe('which keys may have signed a token', () => {
  const rsa = { kty: 'RSA', kid: 'a' };
  const p256 = { kty: 'EC', kid: 'b', crv: 'P-256' };
  const cases: [string, Parameters<typeof candidateKeys>[0], { alg: string; kid: string | undefined }, number][] = [
    ['its kid', [rsa, { ...rsa, kid: 'x' }], { alg: 'RS256', kid: 'a' }, 1],
    ['any, where it names none', [rsa, { ...rsa, kid: 'x' }, p256], { alg: 'RS256', kid: undefined }, 2],
    ['no key of another type', [rsa], { alg: 'ES256', kid: 'a' }, 0],
    ['no key on another curve', [p256], { alg: 'ES384', kid: 'b' }, 0],
    ['the curve of its algorithm', [p256], { alg: 'ES256', kid: 'b' }, 1],
    ['no key for another algorithm', [{ ...rsa, alg: 'RS512' }], { alg: 'RS256', kid: 'a' }, 0],
    ['no key for encryption', [{ ...rsa, use: 'enc' }], { alg: 'RS256', kid: 'a' }, 0],
    ['no key that only signs', [{ ...rsa, key_ops: ['sign'] }], { alg: 'RS256', kid: 'a' }, 0],
    ['no secret', [{ kty: 'oct', kid: 'a' }], { alg: 'HS256', kid: 'a' }, 0],
  ];
  test.each(cases)('%s', (_, keys, token, expected) => expect(candidateKeys(keys, token)).toHaveLength(expected));
});

describe('a token’s time', () => {
  const now = new Date(1_000_000_000);
  const at = 1_000_000;
  const good = {
    jwt: '',
    alg: '',
    kid: undefined,
    issuer: '',
    subject: '',
    audiences: [],
    typ: undefined,
    jti: undefined,
    nbf: undefined,
  };
  test.each([
    [{ iat: at - 10, exp: at + 10 }, undefined],
    [{ iat: at - 100, exp: at - 59 }, undefined],
    [{ iat: at - 100, exp: at - 60 }, 'it has expired'],
    [{ iat: at + 60, exp: at + 100 }, undefined],
    [{ iat: at + 61, exp: at + 100 }, 'it was issued in the future'],
    [{ iat: at, exp: at + 86_400 }, undefined],
    [{ iat: at, exp: at + 86_401 }, 'its lifetime is longer than a day'],
    [{ iat: at, exp: at + 10, nbf: at + 60 }, undefined],
    [{ iat: at, exp: at + 10, nbf: at + 61 }, 'it is not valid yet'],
    [{ iat: at + 20, exp: at + 20 }, 'it expires before it was issued'],
    [{ iat: -1e9, exp: 1e300 }, 'its lifetime is longer than a day'],
  ])('%j: %s', (times, fault) => expect(timeFault({ ...good, ...times }, now)).toBe(fault));
});

describe('a token that may say anything', () => {
  const jwt = (header: unknown, payload: unknown) =>
    [header, payload, 'x'].map((p) => Buffer.from(JSON.stringify(p)).toString('base64url')).join('.');
  const claims = { iss: 'i', sub: 's', aud: 'a', iat: 1, exp: 2 };
  test.each([
    ['', 'not a JWT'],
    ['a.b', 'not a JWT'],
    [`${jwt({ alg: 'RS256' }, claims)}.x`, 'not a JWT'],
    [jwt(null, claims), 'not a JWT'],
    [jwt({ alg: 'RS256', crit: ['b64'], b64: false }, claims), 'not a JWT'],
    [jwt({ alg: 'HS256' }, claims), 'the algorithm HS256 is not allowed'],
    [jwt({ alg: 'rs256' }, claims), 'the algorithm rs256 is not allowed'],
    [jwt({ alg: 'RS256' }, null), 'the claim  is missing or malformed'],
    [jwt({ alg: 'RS256' }, { ...claims, iss: ['i'] }), 'the claim iss is missing or malformed'],
    [jwt({ alg: 'RS256' }, { ...claims, aud: { a: 1 } }), 'the claim aud is missing or malformed'],
    [jwt({ alg: 'RS256' }, { ...claims, sub: 's\0' }), 'the claim sub is missing or malformed'],
  ])('%# is refused for its reason', (token, reason) => expect(readToken(token)).toMatchObject({ ok: false, reason }));

  test('is read where it has the form', () => {
    const reading = readToken(jwt({ alg: 'ES256', kid: 'k' }, { ...claims, aud: ['a', 'b'] }));
    expect(reading).toMatchObject({ ok: true, token: { alg: 'ES256', kid: 'k', issuer: 'i', audiences: ['a', 'b'] } });
  });
});
