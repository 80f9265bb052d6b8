// Owns: an agent that asks its owner by backchannel authentication, and gets what agent, owner and device permit.
// Does not own: the agent's life cycle (agents.test.ts), requests and decisions in general (backchannel.test.ts).
// Implements: docs/agents.md "Asking the owner".
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as api from '../../../server/contract/agents.ts';
import { CIBA } from '../../../server/contract/oauth.ts';
import { createUser } from '../../../server/contract/users.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import type { Device } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'agents';
const params = { realm: REALM };
let server: TestServer;
let owner: Device;
let ownerId = '';
let agentId = '';

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  const body = { username: 'owner', email: 'owner@example.com', emailVerified: true };
  ownerId = (await server.admin.call(createUser, { params, body })).body?.id ?? '';
  owner = await deviceFor(server, REALM, ownerId);
  await makeClient(server, REALM, {
    clientId: 'bot',
    secret: SECRET,
    grantTypes: [CIBA],
    consentRequired: true,
    optionalClientScopes: ['email', 'phone'],
    defaultClientScopes: [],
  });
  const agent = { name: 'bot', purpose: 'Books trips', owner: 'owner', clientId: 'bot', scopes: ['email'] };
  agentId = (await server.admin.call(api.createAgent, { params, body: agent })).body?.id ?? '';
  await server.admin.call(api.activateAgent, { params: { ...params, id: agentId } });
});
afterAll(() => server?.stop());

const as = (endpoint: string, form: Record<string, string>) =>
  post(server, REALM, endpoint, form, { authorization: basic('bot') });
const ask = (scope: string, binding_message: string) =>
  as('backchannel_authentication', { scope, login_hint: 'owner', binding_message });

test('the owner reads what the agent wants, approves it, and the agent gets that for the owner', async () => {
  const { body } = await ask('openid email', 'Trip to Oslo');
  const [{ id, challenge, asks, bindingMessage, application }] = (await owner.ask('GET', '/backchannel')).body;
  expect([application, bindingMessage, asks]).toEqual([
    'bot',
    'Trip to Oslo',
    expect.arrayContaining(['Your e-mail address']),
  ]);
  const signed = { challenge, asks, bindingMessage, decision: 'approve' };
  expect((await owner.ask('POST', `/backchannel/${id}/decide`, signed)).status).toBe(204);
  const tokens = await as('token', { grant_type: CIBA, auth_req_id: String(body.auth_req_id) });
  expect(claimsIn(tokens.body.access_token)).toMatchObject({ sub: ownerId, client_id: 'bot', scope: 'openid email' });
});

test('the agent gets no scope that is not its own, and a suspended agent asks nobody', async () => {
  const wide = await ask('openid email phone', 'Another');
  expect([wide.status, wide.body.error]).toEqual([400, 'invalid_scope']);
  await server.admin.call(api.suspendAgent, { params: { ...params, id: agentId } });
  const { status, body } = await ask('openid email', 'Third');
  expect([status, body.error]).toEqual([401, 'invalid_client']);
});
