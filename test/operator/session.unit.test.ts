// How the operator signs in: once for all who ask at a time, again before the token ends, with words when it is refused.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Credential, serverSession } from '../../operator/session.ts';
import { createClient } from '../../server/contract/client.ts';
import { listRealms } from '../../server/contract/realms.ts';

const serverUrl = 'http://server.test';
/** A server whose public address is another one than where it is reached. */
function harness(credential: Credential = { secret: 'shh & more' }) {
  let time = 0;
  let tokens = 0;
  let answer = (): Response => Response.json({ access_token: `token-${++tokens}`, expires_in: 300 });
  const signIns: { url: string; authorization: string | null; form: Record<string, string> }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = String(input);
    if (url.endsWith('/.well-known/openid-configuration')) {
      return Response.json({ token_endpoint: 'https://id.example.com/realms/master/oauth2/token' });
    }
    const form = Object.fromEntries(new URLSearchParams(String(init?.body)));
    signIns.push({ url, authorization: new Headers(init?.headers).get('authorization'), form });
    return answer();
  };
  const authorize = serverSession({ serverUrl, credential, fetch, now: () => time });
  return {
    authorize,
    signIns,
    pass: (ms: number) => {
      time += ms;
    },
    answers: (next: () => Response) => {
      answer = next;
    },
  };
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-session-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('client credentials ask for a token of the admin API at the server’s public address', async () => {
  const { authorize, signIns } = harness();
  expect(await authorize({ renew: false })).toBe('Bearer token-1');
  expect(signIns).toEqual([
    {
      url: `${serverUrl}/realms/master/oauth2/token`,
      authorization: `Basic ${Buffer.from('operator:shh%20%26%20more').toString('base64')}`,
      form: { grant_type: 'client_credentials', resource: 'https://id.example.com/admin' },
    },
  ]);
});

test('a ServiceAccount token is read anew for each sign-in, since the kubelet replaces it', async () => {
  const tokenFile = path.join(folder, 'token');
  const { authorize, signIns, pass } = harness({ tokenFile });
  await writeFile(tokenFile, 'first\n');
  await authorize({ renew: false });
  await writeFile(tokenFile, 'second\n');
  pass(300_000);
  await authorize({ renew: false });
  expect(signIns.map(({ form }) => form.subject_token)).toEqual(['first', 'second']);
  expect(signIns[0]).toMatchObject({
    url: `${serverUrl}/realms/master/workload-identity/token`,
    authorization: null,
    form: { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', resource: 'https://id.example.com/admin' },
  });
});

test('many who ask at once share one sign-in', async () => {
  const { authorize, signIns } = harness();
  const headers = await Promise.all(Array.from({ length: 10 }, () => authorize({ renew: false })));
  expect(new Set(headers)).toEqual(new Set(['Bearer token-1']));
  expect(signIns).toHaveLength(1);
});

test('a token is kept while it lives and renewed before it ends', async () => {
  const { authorize, pass } = harness();
  await authorize({ renew: false });
  pass(269_000);
  expect(await authorize({ renew: false })).toBe('Bearer token-1');
  pass(2_000);
  expect(await authorize({ renew: false })).toBe('Bearer token-2');
  expect(await authorize({ renew: true })).toBe('Bearer token-3');
});

test.each([
  [401, 401, /refused the operator's sign-in \(401\)/],
  [400, 401, /refused the operator's sign-in \(400\)/],
  [503, 503, /503/],
])('an answer %i is told as %i, and the next one asks again', async (status, told, message) => {
  const { authorize, answers } = harness();
  answers(() => new Response('{"error":"invalid_client"}', { status }));
  await expect(authorize({ renew: false })).rejects.toMatchObject({ status: told });
  await expect(authorize({ renew: false })).rejects.toThrow(message);
  answers(() => Response.json({ access_token: 'at last', expires_in: 300 }));
  expect(await authorize({ renew: false })).toBe('Bearer at last');
});

test('a server that can’t be reached is told as such, without the secret', async () => {
  const credential = { secret: 'shh' };
  const fetch = async () => Promise.reject(new TypeError('fetch failed'));
  const error = await serverSession({ serverUrl, credential, fetch })({ renew: false }).catch((e: Error) => e);
  expect(error).toMatchObject({ status: 0, message: `the server at ${serverUrl} cannot be reached` });
  expect(String(error)).not.toContain('shh');
});

test('a token that the server takes no more is replaced once, within the same call', async () => {
  const { authorize, signIns } = harness();
  const seen: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    seen.push(new Headers(init?.headers).get('authorization'));
    return seen.length === 1 ? new Response(null, { status: 401 }) : Response.json([]);
  };
  const client = createClient({ baseUrl: serverUrl, fetch, authorize });
  expect((await client.call(listRealms)).body).toEqual([]);
  expect(seen).toEqual(['Bearer token-1', 'Bearer token-2']);
  expect(signIns).toHaveLength(2);
});
