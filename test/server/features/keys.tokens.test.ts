import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../server/contract/clients.ts';
import { deleteKey, listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import { createRealm, getEndpoints } from '../../../server/contract/realms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'rotating' };
const secret = 'a-secret-that-is-long-and-varied-0123456789';
let server: TestServer;
let endpoints: { token: string; jwks: string };

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
  await server.admin.call(createClient, {
    params,
    body: { clientId: 'machine', grantTypes: ['client_credentials'], secret },
  });
  const { body } = await server.admin.call(getEndpoints, { params });
  endpoints = { token: body?.token ?? '', jwks: body?.jwks ?? '' };
});
afterAll(() => server.stop());

async function token(): Promise<string> {
  const response = await fetch(endpoints.token, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token;
}
const Jwks = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), n: z.string() })) });
const jwks = async () => Jwks.parse(await (await fetch(endpoints.jwks)).json());
/** As a resource server that reads the live JWKS; gives the key's id. */
async function verified(jwt: string, keys?: JSONWebKeySet): Promise<string | undefined> {
  return (await jwtVerify(jwt, createLocalJWKSet(keys ?? (await jwks())))).protectedHeader.kid;
}
const active = async () =>
  (await server.admin.call(listKeys, { params })).body?.find((key) => key.status === 'ACTIVE')?.keyId;

test('the JWKS has the very keys that the admin API lists', async () => {
  const keys = (await server.admin.call(listKeys, { params })).body ?? [];
  const published = (await jwks()).keys;
  expect(published.map((key) => key.kid)).toEqual(keys.map((key) => key.keyId));
  for (const key of published)
    expect(key).toEqual({ kid: key.kid, kty: 'RSA', alg: 'RS256', use: 'sig', n: key.n, e: 'AQAB' });
});

test('a rotation changes what signs at once, and every token from before still verifies', async () => {
  const before = await token();
  const old = await active();
  expect(await verified(before)).toBe(old);
  const { body: rotated } = await server.admin.call(rotateKeys, { params });
  expect(await verified(await token())).toBe(rotated?.keyId);
  expect(await verified(before)).toBe(old);
});

test('before, during and after rotations under load, every token verifies by the live JWKS', async () => {
  let running = true;
  const signers = new Set<string | undefined>();
  const kept: string[] = [];
  const failures: unknown[] = [];
  const load = Array.from({ length: 8 }, async () => {
    while (running) {
      const jwt = await token();
      await verified(jwt).then(
        (kid) => signers.add(kid),
        (error: unknown) => failures.push(error),
      );
      kept.push(jwt);
    }
  });
  const rotated: (string | undefined)[] = [await active()];
  for (let i = 0; i < 3; i += 1) rotated.push((await server.admin.call(rotateKeys, { params })).body?.keyId);
  await token();
  running = false;
  await Promise.all(load);
  expect(failures).toEqual([]);
  expect(kept.length).toBeGreaterThan(20);
  expect([...signers]).toEqual(expect.arrayContaining(rotated));
  const keys = await jwks();
  await Promise.all(kept.map((jwt) => verified(jwt, keys)));
});

test('a token whose key was deleted verifies no more; the others do', async () => {
  const gone = await token();
  const keyId = (await active()) ?? '';
  await server.admin.call(rotateKeys, { params });
  const stays = await token();
  await server.admin.call(deleteKey, { params: { ...params, keyId } });
  await expect(verified(gone)).rejects.toThrow();
  await verified(stays);
});
