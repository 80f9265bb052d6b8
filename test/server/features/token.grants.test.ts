// Codes and refresh tokens: one use each, bound to their client and realm, ended with what they hang on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { parseRefreshToken } from '../../../server/crypto/refresh-token.ts';
import { authorizePath, CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let alice = '';
let offset = 0;
const later = (seconds: number) => {
  offset += seconds * 1000;
};
const REFUSED = '{"error":"invalid_grant","error_description":"The code is not valid"}';
const NOT_TAKEN = '{"error":"invalid_grant","error_description":"The refresh token is not valid"}';
const [ONE, TWO] = ['https://one.example', 'https://two.example'];

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  for (const realm of ['acme', 'other']) {
    await makeRealm(server, realm);
    const optionalClientScopes = ['offline_access', 'phone'];
    const common = { redirectUris: [CALLBACK], optionalClientScopes, tokenEndpointAuthMethod: 'none' as const };
    await makeClient(server, realm, { clientId: 'spa', ...common });
    await makeClient(server, realm, { clientId: 'rival', ...common });
    await makeClient(server, realm, { clientId: 'brief', ...common, grantTypes: ['authorization_code'] });
    const { body } = await server.admin.call(createUser, {
      params: { realm },
      body: { username: 'alice', password: PASSWORD },
    });
    if (realm === 'acme') alice = body?.id ?? '';
    await server.admin.call(putSettings, { params: { realm }, body: { resourceIndicators: [ONE, TWO] } });
  }
  const allowedResources = [`${server.baseUrl}/realms/acme`, ONE, TWO];
  await makeClient(server, 'acme', { clientId: 'api', secret: SECRET, allowedResources });
});
afterAll(async () => server?.stop());

const active = async (token: unknown, realm = 'acme') => {
  const { body } = await post(server, realm, 'introspect', { token: String(token) }, { authorization: basic('api') });
  return body.active;
};
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm: 'acme' }, query: { type } })).body ?? [];
const got = async (parameters: Record<string, string> = {}) => {
  const grant = await getCode(server, 'acme', 'spa', { parameters });
  const { body } = await redeem(server, 'acme', 'spa', grant);
  return { ...grant, body };
};

test('a new password ends every token, those of offline grants too', async () => {
  const offline = await got({ scope: 'openid offline_access' });
  const without = await getCode(server, 'acme', 'brief', { parameters: { scope: 'openid offline_access' } });
  const { body: brief } = await redeem(server, 'acme', 'brief', without);
  const tokens = [offline.body.access_token, brief.access_token];
  expect(await Promise.all(tokens.map((token) => active(token)))).toEqual([true, true]);
  const params = { realm: 'acme', userId: alice };
  await server.admin.call(setPassword, { params, body: { password: PASSWORD } });
  expect(await Promise.all(tokens.map((token) => active(token)))).toEqual([false, false]);
  expect((await refresh(server, 'acme', 'spa', offline.body.refresh_token)).text).toBe(NOT_TAKEN);
});

describe('an authorization code', () => {
  test('works once; the second use ends what the first one gave, and is audited', async () => {
    const grant = await getCode(server, 'acme', 'spa');
    const first = await redeem(server, 'acme', 'spa', grant);
    expect(first.status).toBe(200);
    expect(await active(first.body.access_token)).toBe(true);
    expect((await redeem(server, 'acme', 'spa', grant)).text).toBe(REFUSED);
    expect(await active(first.body.access_token)).toBe(false);
    expect((await refresh(server, 'acme', 'spa', first.body.refresh_token)).text).toBe(NOT_TAKEN);
    const [event] = await events('TOKEN_REUSE_DETECTED');
    expect(event).toMatchObject({ subject: { id: alice }, outcome: 'denied', data: { what: 'authorization_code' } });
  });

  test('redeemed ten times at once gives tokens at most once', async () => {
    const grant = await getCode(server, 'acme', 'spa');
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(server, 'acme', 'spa', grant)));
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
  });

  const wrong: [string, Record<string, string>][] = [
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['a short verifier', { code_verifier: 'short' }],
    ['another redirect_uri', { redirect_uri: 'http://127.0.0.1:1/callback' }],
    ['another client', { client_id: 'rival' }],
    ['a code that never was', { code: 'svc_ac_nothing' }],
  ];
  test.each(wrong)('is refused with %s', async (_, more) => {
    const grant = await getCode(server, 'acme', 'spa');
    expect((await redeem(server, 'acme', 'spa', grant, more)).text).toBe(REFUSED);
  });

  test('is lost after a wrong verifier', async () => {
    const grant = await getCode(server, 'acme', 'spa');
    await redeem(server, 'acme', 'spa', grant, { code_verifier: 'x'.repeat(43) });
    expect((await redeem(server, 'acme', 'spa', grant)).text).toBe(REFUSED);
  });

  test('is refused after a minute', async () => {
    const grant = await getCode(server, 'acme', 'spa');
    later(61);
    expect((await redeem(server, 'acme', 'spa', grant)).text).toBe(REFUSED);
  });

  test('of a client that may not refresh gives no refresh token', async () => {
    const grant = await getCode(server, 'acme', 'brief');
    expect((await redeem(server, 'acme', 'brief', grant)).body).not.toHaveProperty('refresh_token');
  });

  test('is for the resources that were asked for, or fewer', async () => {
    const resources = `&resource=${encodeURIComponent(ONE)}&resource=${encodeURIComponent(TWO)}`;
    const person = createPerson(server.baseUrl);
    await getCode(server, 'acme', 'spa', { person });
    const open = async () => {
      const verifier = 'v'.repeat(43);
      const page = await person.open(authorizePath('acme', 'spa', verifier, { scope: 'profile' }) + resources);
      return { verifier, code: new URL(page.url).searchParams.get('code') ?? '' };
    };
    const both = await redeem(server, 'acme', 'spa', await open());
    expect(claimsIn(both.body.access_token).aud).toEqual([ONE, TWO]);
    expect(both.body).not.toHaveProperty('id_token');
    const one = await redeem(server, 'acme', 'spa', await open(), { resource: ONE });
    expect(claimsIn(one.body.access_token).aud).toBe(ONE);
    const none = await getCode(server, 'acme', 'spa', { person });
    expect((await redeem(server, 'acme', 'spa', none, { resource: ONE })).body.error).toBe('invalid_target');
  });
});

describe('a refresh token', () => {
  test('rotates; the one before it ends the grant, and that is audited', async () => {
    const { body } = await got();
    const second = await refresh(server, 'acme', 'spa', body.refresh_token);
    expect(second.body.refresh_token).not.toBe(body.refresh_token);
    expect(claimsIn(second.body.id_token)).toMatchObject({ sub: alice, aud: 'spa' });
    const third = await refresh(server, 'acme', 'spa', second.body.refresh_token);
    expect(third.status).toBe(200);
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).text).toBe(NOT_TAKEN);
    expect((await refresh(server, 'acme', 'spa', third.body.refresh_token)).text).toBe(NOT_TAKEN);
    expect(await active(third.body.access_token)).toBe(false);
    expect((await events('TOKEN_REUSE_DETECTED'))[0]).toMatchObject({ data: { what: 'refresh_token' } });
  });

  test('used many times at once is taken exactly once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { body } = await got();
      const uses = Array.from({ length: 8 }, () => refresh(server, 'acme', 'spa', body.refresh_token));
      const answers = await Promise.all(uses);
      expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
      expect(new Set(answers.filter((a) => a.status !== 200).map((a) => a.text))).toEqual(new Set([NOT_TAKEN]));
    }
  });

  test('of many that are used at once, good and bad, each gets its own answer and its own row in the log', async () => {
    const good = await Promise.all(Array.from({ length: 12 }, () => got()));
    const [replaced, ended] = await Promise.all([got(), got()]);
    await refresh(server, 'acme', 'spa', replaced.body.refresh_token);
    await post(server, 'acme', 'revoke', { client_id: 'spa', token: String(ended.body.refresh_token) });
    const rowsBefore = (await events('TOKEN_REFRESHED')).length;
    const answers = await Promise.all([
      ...good.map(({ body }, i) =>
        refresh(server, 'acme', 'spa', body.refresh_token, i === 3 ? { scope: 'wider' } : {}),
      ),
      ...[replaced, ended].map(({ body }) => refresh(server, 'acme', 'spa', body.refresh_token)),
    ]);
    expect(answers.map((a) => a.status)).toEqual([...good.map((_, i) => (i === 3 ? 400 : 200)), 400, 400]);
    expect(answers[3]?.body.error).toBe('invalid_scope');
    const sessions = answers.flatMap(({ body }) => (body.access_token ? [claimsIn(body.access_token).sid] : []));
    expect(sessions).toEqual(good.filter((_, i) => i !== 3).map(({ body }) => claimsIn(body.access_token).sid));
    expect((await events('TOKEN_REFRESHED')).length - rowsBefore).toBe(11);
    // Nothing was rotated for the one that asked for too much.
    expect((await refresh(server, 'acme', 'spa', good[3]?.body.refresh_token)).status).toBe(200);
  });

  test('whose grant another transaction holds waits alone, and is answered by what that one left', async () => {
    const [held, free] = await Promise.all([got(), got()]);
    const client = await server.pool.connect();
    let waits = true;
    try {
      await client.query('begin');
      const id = parseRefreshToken(String(held.body.refresh_token))?.familyId;
      await client.query('update refresh_family set revoked_at = now() where id = $1', [id]);
      const waiting = refresh(server, 'acme', 'spa', held.body.refresh_token).finally(() => {
        waits = false;
      });
      expect((await refresh(server, 'acme', 'spa', free.body.refresh_token)).status).toBe(200);
      expect(waits).toBe(true);
      await client.query('commit');
      expect((await waiting).text).toBe(NOT_TAKEN);
    } finally {
      client.release();
    }
  });

  test('stays the same where the realm reuses them', async () => {
    await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { reuseRefreshTokens: true } });
    const { body } = await got();
    for (let i = 0; i < 2; i += 1) {
      const answer = await refresh(server, 'acme', 'spa', body.refresh_token);
      expect(answer.body.refresh_token).toBe(body.refresh_token);
    }
    await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { reuseRefreshTokens: false } });
  });

  test('gives a narrower scope on request, never a wider one, and a refusal costs nothing', async () => {
    const { body } = await got({ scope: 'openid phone' });
    const narrow = await refresh(server, 'acme', 'spa', body.refresh_token, { scope: 'phone' });
    expect(narrow.body.scope).toBe('phone');
    expect(narrow.body).not.toHaveProperty('id_token');
    const wide = await refresh(server, 'acme', 'spa', narrow.body.refresh_token, { scope: 'openid offline_access' });
    expect(wide.body.error).toBe('invalid_scope');
    const target = await refresh(server, 'acme', 'spa', narrow.body.refresh_token, { resource: ONE });
    expect(target.body.error).toBe('invalid_target');
    const full = await refresh(server, 'acme', 'spa', narrow.body.refresh_token);
    expect(String(full.body.scope).split(' ')).toEqual(expect.arrayContaining(['openid', 'phone']));
  });

  test('is bound to its client and to its form', async () => {
    const { body } = await got();
    const token = String(body.refresh_token);
    for (const [client, value] of [
      ['rival', token],
      ['spa', `${token}x`],
      ['spa', token.slice(0, -1)],
      ['spa', 'svc_rt_'],
      ['spa', token.toUpperCase()],
    ] as const) {
      expect((await refresh(server, 'acme', client, value)).text).toBe(NOT_TAKEN);
    }
    expect((await refresh(server, 'acme', 'spa', token)).status).toBe(200);
  });

  test('ends with the session, unless it is an offline one', async () => {
    const online = await got();
    const offline = await got({ scope: 'openid offline_access' });
    const sessions = await server.admin.call(listSessions, { params: { realm: 'acme' }, query: { userId: alice } });
    for (const { id } of sessions.body ?? []) await server.admin.call(endSession, { params: { realm: 'acme', id } });
    expect((await refresh(server, 'acme', 'spa', online.body.refresh_token)).text).toBe(NOT_TAKEN);
    expect(await active(online.body.access_token)).toBe(false);
    const answer = await refresh(server, 'acme', 'spa', offline.body.refresh_token);
    expect(answer.status).toBe(200);
    expect(claimsIn(answer.body.access_token)).not.toHaveProperty('sid');
  });

  test('of a disabled person is refused, and its grant ends', async () => {
    const created = await server.admin.call(createUser, {
      params: { realm: 'acme' },
      body: { username: 'carol', password: PASSWORD },
    });
    const grant = await getCode(server, 'acme', 'spa', {
      username: 'carol',
      parameters: { scope: 'openid offline_access' },
    });
    const { body } = await redeem(server, 'acme', 'spa', grant);
    const params = { realm: 'acme', userId: created.body?.id ?? '' };
    await server.admin.call(putUser, { params, body: { username: 'carol', enabled: false } });
    expect(await active(body.access_token)).toBe(false);
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).text).toBe(NOT_TAKEN);
    await server.admin.call(putUser, { params, body: { username: 'carol', enabled: true } });
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).text).toBe(NOT_TAKEN);
  });
});

describe('what belongs to one realm', () => {
  test('is refused in another, to the byte as what never was', async () => {
    const code = await getCode(server, 'acme', 'spa');
    expect((await redeem(server, 'other', 'spa', code)).text).toBe(REFUSED);
    const { body } = await got();
    expect((await refresh(server, 'other', 'spa', body.refresh_token)).text).toBe(NOT_TAKEN);
    const userinfo = (realm: string) =>
      fetch(`${server.baseUrl}/realms/${realm}/oauth2/userinfo`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      });
    expect((await userinfo('acme')).status).toBe(200);
    expect((await userinfo('other')).status).toBe(401);
    await makeClient(server, 'other', { clientId: 'api', secret: SECRET });
    expect(await active(body.access_token, 'other')).toBe(false);
    await post(server, 'other', 'revoke', { client_id: 'spa', token: String(body.refresh_token) });
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).status).toBe(200);
  });
});

// Last: the clock runs on, and the administrator's session with it.
test('tokens that are refreshed at once are told to whoever subscribes, each of them', async () => {
  const given = await Promise.all(Array.from({ length: 6 }, () => got()));
  await server.admin.call(createWebhook, {
    params: { realm: 'acme' },
    body: { name: 'refreshes', url: 'https://127.0.0.1:1/nobody', eventTypes: 'TOKEN_REFRESHED', enabled: true },
  });
  const answers = await Promise.all(given.map(({ body }) => refresh(server, 'acme', 'spa', body.refresh_token)));
  expect(answers.map((a) => a.status)).toEqual(given.map(() => 200));
  const { rows } = await server.pool.query(`
    select count(distinct d.event_id)::int as told from webhook_delivery d
      join event e on e.realm_id = d.realm_id and e.id = d.event_id where e.type = 'TOKEN_REFRESHED'`);
  expect(rows).toEqual([{ told: 6 }]);
});

test('a refresh token is refused once the session was idle for too long, and keeps it alive before', async () => {
  const { body } = await got();
  later(1_000);
  const second = await refresh(server, 'acme', 'spa', body.refresh_token);
  expect(second.status).toBe(200);
  later(1_000);
  const third = await refresh(server, 'acme', 'spa', second.body.refresh_token);
  expect(third.status).toBe(200);
  later(1_801);
  expect((await refresh(server, 'acme', 'spa', third.body.refresh_token)).text).toBe(NOT_TAKEN);
});
