// An agent that acts for a person: never more than the token, the agent and what the person agreed to together allow.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/agents.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, makeClient, post, SECRET } from '../../support/clients.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { createPerson } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const API = 'https://api.example.com';
let server: TestServer;
let agentId = '';
let token = '';
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'bot', { consentRequired: true });
  await makeClient(server, REALM, { clientId: 'plain', secret: SECRET, grantTypes: ['client_credentials'] });
  await server.admin.call(createUser, { params, body: { username: 'owner' } });
  const body = { name: 'bot', owner: 'owner', clientId: 'bot', scopes: ['email', 'phone', 'offline_access'] };
  agentId = (await server.admin.call(api.createAgent, { params, body })).body!.id;
  await server.admin.call(api.activateAgent, { params: { ...params, id: agentId } });
  token = await tokenFor('bot', 'openid email phone offline_access');
});
afterAll(() => server?.stop());

/** Alice signs in to the client and agrees. */
async function tokenFor(
  clientId: string,
  scope: string,
  headers: Record<string, string> = {},
  username = 'alice',
): Promise<string> {
  const person = createPerson(server.baseUrl);
  let page = await person.open(requestPath({ client_id: clientId, scope }));
  page = await person.fill(page, { username, password: PASSWORD });
  if (page.heading === 'Allow access?')
    page = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  const code = responseParameters(page)?.code ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: RP };
  const { body } = await post(server, REALM, 'token', form, { authorization: basic(clientId), ...headers });
  return String(body.access_token);
}
async function delegate(
  form: Record<string, string> = {},
  authorization = basic('bot'),
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/agent/delegation/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization, ...headers },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...form,
    }),
  });
  const { status, headers: said } = answer;
  return { status, headers: said, body: (await answer.json()) as Record<string, unknown> };
}
const errorOf = async (form: Record<string, string>, authorization?: string) =>
  (await delegate(form, authorization)).body.error;

describe('a delegated token', () => {
  test('is about the person, says which agent acts, and is told with both', async () => {
    const { status, body } = await delegate({ scope: 'email' });
    expect([status, body.issued_token_type]).toEqual([200, 'urn:ietf:params:oauth:token-type:access_token']);
    const [claims, from] = [claimsIn(body.access_token), claimsIn(token)];
    const act = { iss: `${server.baseUrl}/realms/${REALM}`, sub: 'bot' };
    expect(claims).toMatchObject({ sub: from.sub, client_id: 'bot', scope: 'email', act });
    expect(claims.exp).toBeLessThanOrEqual(Number(from.exp));
    expect(body).not.toHaveProperty('refresh_token');
    await expect
      .poll(async () => (await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } })).body?.[0])
      .toMatchObject({
        actor: { type: 'agent', id: agentId, name: 'bot' },
        subject: { type: 'user', name: 'alice' },
        data: { grant: 'delegation', scope: 'email' },
      });
  });

  test('has no scope beyond the agent’s and the subject token’s, and none that outlives it', async () => {
    expect((await delegate()).body.scope).toBe('email phone');
    for (const scope of ['offline_access', 'profile', 'openid']) expect(await errorOf({ scope })).toBe('invalid_scope');
    const agent = { params: { ...params, id: agentId } };
    await server.admin.call(api.putAgent, { ...agent, body: { scopes: ['phone'] } });
    expect((await delegate()).body.scope).toBe('phone');
    await server.admin.call(api.putAgent, { ...agent, body: { scopes: ['email', 'phone', 'offline_access'] } });
  });

  test('is no subject token itself, nor is a machine’s, another application’s, or anything else', async () => {
    const { body } = await delegate();
    expect(await errorOf({ subject_token: String(body.access_token) })).toBe('invalid_request');
    const machine = await post(
      server,
      REALM,
      'token',
      { grant_type: 'client_credentials' },
      { authorization: basic('plain') },
    );
    expect(await errorOf({ subject_token: String(machine.body.access_token) })).toBe('invalid_request');
    expect(await errorOf({ subject_token: await tokenFor('rp', 'openid email') })).toBe('invalid_request');
    expect(await errorOf({ subject_token: 'x' })).toBe('invalid_request');
    expect(await errorOf({ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' })).toBe('invalid_request');
    expect(await errorOf({ resource: API })).toBe('invalid_target');
  });

  test('is had at its own endpoint alone, whatever grants the agent’s client has', async () => {
    await makeRelyingParty(server, 'exchanger', {
      consentRequired: false,
      grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:token-exchange'],
    });
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await tokenFor('exchanger', 'openid email'),
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: API,
    };
    const exchange = () => post(server, REALM, 'token', form, { authorization: basic('exchanger') });
    const before = await exchange();
    expect(before.body.error).not.toBe('unauthorized_client');
    const body = { name: 'exchanger', owner: 'owner', clientId: 'exchanger', scopes: ['email'] };
    const { id } = (await server.admin.call(api.createAgent, { params, body })).body!;
    await server.admin.call(api.activateAgent, { params: { ...params, id } });
    expect(await exchange()).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });

  test('of a token that is bound to a key is for who proves that key alone', async () => {
    const [key, thiefs] = [await makeProofKey(), await makeProofKey()];
    const at = `${server.baseUrl}/realms/${REALM}`;
    const proof = await key.proof({ htu: `${at}/oauth2/token` });
    const form = { subject_token: await tokenFor('bot', 'openid email', { dpop: proof }) };
    const by = async (one: typeof key) => {
      const dpop = await one.proof({ htu: `${at}/agent/delegation/token` });
      const { body, headers } = await delegate(form, basic('bot'), { dpop });
      expect(headers.get('dpop-nonce')).toBeTruthy();
      return body;
    };
    expect(await errorOf(form)).toBe('invalid_request');
    expect((await by(thiefs)).error).toBe('invalid_request');
    const bound = await by(key);
    expect([bound.token_type, claimsIn(bound.access_token).cnf]).toEqual(['DPoP', { jkt: key.jkt }]);
  });

  test('is for agents that are active, and prove who they are', async () => {
    expect(await errorOf({}, basic('plain'))).toBe('unauthorized_client');
    expect(await errorOf({}, basic('bot', 'wrong'.repeat(8)))).toBe('invalid_client');
    const agent = { params: { ...params, id: agentId } };
    await server.admin.call(api.suspendAgent, agent);
    expect(await errorOf({})).toBe('invalid_client');
    await server.admin.call(api.activateAgent, agent);
    expect((await delegate()).status).toBe(200);
  });

  test('is for no resource that the person did not agree to', async () => {
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [API] } });
    expect(await errorOf({ resource: API })).toBe('invalid_target');
    await server.pool.query('update consent set resources = $1 where realm_id = $2', [[API], REALM]);
    expect([claimsIn((await delegate({ resource: API })).body.access_token).aud].flat()).toContain(API);
  });

  test('needs what the person agreed to, and a person who is there', async () => {
    await server.pool.query('update consent set scopes = $1 where realm_id = $2', [['phone'], REALM]);
    expect((await delegate()).body.scope).toBe('phone');
    expect(await errorOf({ scope: 'email' })).toBe('invalid_scope');
    await server.pool.query('delete from consent where realm_id = $1', [REALM]);
    expect(await errorOf({})).toBe('invalid_scope');
    const { body: users = [] } = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
    const one = { params: { ...params, userId: users[0]!.id } };
    await server.admin.call(putUser, { ...one, body: { enabled: false } });
    expect(await errorOf({})).toBe('invalid_request');
  });
});

test('once the agent is suspended its token for a person opens their account no more', async () => {
  await makeRelyingParty(server, 'butler', { consentRequired: true, optionalClientScopes: ['account'] });
  await server.admin.call(createUser, { params, body: { username: 'adam', password: PASSWORD } });
  const body = { name: 'butler', owner: 'owner', clientId: 'butler', scopes: ['account'] };
  const agent = { params: { ...params, id: (await server.admin.call(api.createAgent, { params, body })).body!.id } };
  await server.admin.call(api.activateAgent, agent);
  const subject = { subject_token: await tokenFor('butler', 'account', {}, 'adam') };
  const { access_token: held } = (await delegate(subject, basic('butler'))).body;
  const read = async () => {
    const headers = { authorization: `Bearer ${held}` };
    return (await fetch(`${server.baseUrl}/realms/${REALM}/account/profile`, { headers })).status;
  };
  expect(await read()).toBe(200);
  await server.admin.call(api.suspendAgent, agent);
  expect(await read()).toBe(401);
});

describe('by its own access token', () => {
  const ownToken = async (clientId: string): Promise<string> => {
    const form = { grant_type: 'client_credentials' };
    const { body } = await post(server, REALM, 'token', form, { authorization: basic(clientId) });
    return `Bearer ${body.access_token}`;
  };
  beforeAll(async () => {
    await makeClient(server, REALM, {
      clientId: 'worker',
      secret: SECRET,
      grantTypes: ['client_credentials', 'authorization_code'],
      redirectUris: [RP],
      requirePkce: false,
      consentRequired: true,
      defaultClientScopes: [],
      optionalClientScopes: ['email'],
    });
    const body = { name: 'worker', owner: 'owner', clientId: 'worker', scopes: ['email'] };
    const made = await server.admin.call(api.createAgent, { params, body });
    await server.admin.call(api.activateAgent, { params: { ...params, id: made.body!.id } });
    const { body: users = [] } = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
    await server.admin.call(putUser, { params: { ...params, userId: users[0]!.id }, body: { enabled: true } });
  });

  test('an agent acts for the person, as by its client’s secret', async () => {
    const subject = await tokenFor('worker', 'openid email');
    const { status, body } = await delegate({ subject_token: subject }, await ownToken('worker'));
    expect(status).toBe(200);
    expect(claimsIn(body.access_token)).toMatchObject({ client_id: 'worker', scope: 'email', act: { sub: 'worker' } });
  });

  test('whoever else’s token it is, a person’s or another client’s, it is refused', async () => {
    const subject = await tokenFor('worker', 'openid email');
    const form = { subject_token: subject };
    expect(await errorOf(form, `Bearer ${subject}`)).toBe('invalid_token');
    expect(await errorOf(form, await ownToken('plain'))).toBe('unauthorized_client');
    expect(await errorOf({ ...form, client_id: 'bot' }, await ownToken('worker'))).toBe('invalid_token');
    expect(await errorOf({ ...form, client_secret: SECRET }, await ownToken('worker'))).toBe('invalid_request');
    expect(await errorOf(form, 'Bearer x')).toBe('invalid_token');
  });

  test('a token of before is worth nothing once the agent is suspended', async () => {
    const subject = await tokenFor('worker', 'openid email');
    const own = await ownToken('worker');
    const { body } = await server.admin.call(api.listAgents, { params, query: {} });
    const id = body?.find(({ name }) => name === 'worker')?.id ?? '';
    await server.admin.call(api.suspendAgent, { params: { ...params, id } });
    expect(await errorOf({ subject_token: subject }, own)).toBe('invalid_token');
    await server.admin.call(api.activateAgent, { params: { ...params, id } });
    expect(await errorOf({ subject_token: subject }, own)).toBeUndefined();
  });
});
