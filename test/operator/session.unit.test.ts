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

test.each([401, 400])(
  'a refusal (%i) says what to look at, and is asked for again only after a while',
  async (status) => {
    const { authorize, answers, signIns, pass } = harness();
    answers(() => new Response('{"error":"invalid_client"}', { status }));
    for (let tries = 0; tries < 3; tries += 1) {
      const refused = authorize({ renew: false });
      await expect(refused).rejects.toMatchObject({ status: 401 });
      await expect(refused).rejects.toThrow(/refused the operator's sign-in \(4.*SVC_OPERATOR_CLIENT_SECRET/);
    }
    expect(signIns).toHaveLength(1);
    answers(() => Response.json({ access_token: 'at last', expires_in: 300 }));
    pass(10_000);
    expect(await authorize({ renew: false })).toBe('Bearer at last');
  },
);

test('a server that is not well is told as such, and asked again at once', async () => {
  const { authorize, answers } = harness();
  answers(() => new Response(null, { status: 503 }));
  await expect(authorize({ renew: false })).rejects.toMatchObject({ status: 503 });
  answers(() => Response.json({ access_token: 'at last', expires_in: 300 }));
  expect(await authorize({ renew: false })).toBe('Bearer at last');
});

test('a refused token is told by what it says, so that the server can be told the same, and never shown', async () => {
  const claims = { iss: 'https://cluster', sub: 'system:serviceaccount:a:b', aud: ['realmkeeper'], exp: 1_000 };
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`;
  const tokenFile = path.join(folder, 'refused');
  await writeFile(tokenFile, token);
  const { authorize, answers, pass } = harness({ tokenFile });
  answers(() => new Response(null, { status: 401 }));
  const words = () => authorize({ renew: false }).catch((error: Error) => error.message);
  const before = await words();
  for (const part of [
    'SVC_OPERATOR_SUBJECT=system:serviceaccount:a:b',
    'SVC_OPERATOR_AUDIENCE=realmkeeper',
    'SVC_OPERATOR_ISSUER=https://cluster',
  ])
    expect(before).toContain(part);
  expect(before).not.toContain('ended');
  pass(1_000_000);
  expect(await words()).toContain('The token ended at 1970-01-01T00:16:40.000Z');
  expect(before).not.toContain('c2lnbmF0dXJl');
});

test.each([
  ['is not there', undefined, /cannot be read \(ENOENT\)/],
  ['is empty', ' \n', /is empty/],
])('a token file that %s is named, and the server is not asked', async (_, content, message) => {
  const tokenFile = path.join(folder, 'none');
  if (content === undefined) await rm(tokenFile, { force: true });
  else await writeFile(tokenFile, content);
  const { authorize, signIns } = harness({ tokenFile });
  const refused = authorize({ renew: false });
  await expect(refused).rejects.toMatchObject({ status: 401 });
  await expect(refused).rejects.toThrow(message);
  expect(signIns).toEqual([]);
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
