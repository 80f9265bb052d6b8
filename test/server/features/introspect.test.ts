import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProtocolMapper } from '../../../server/contract/protocol-mappers.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem } from '../../support/applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
});
afterAll(async () => server?.stop());

const credentials = { client_id: 'web', client_secret: SECRET };

test.each([
  ['was idle for too long', 'idle', { ssoSessionIdleTimeoutSeconds: 70 }, [80]],
  [
    'is older than the settings allow since',
    'old',
    { ssoSessionIdleTimeoutSeconds: 50, ssoSessionMaxLifetimeSeconds: 60 },
    [40, 40],
  ],
])('a refresh token whose session %s is as inactive as a refresh finds it', async (_, realm, settings, steps) => {
  await makeRealm(server, realm);
  await makeClient(server, realm, {
    clientId: 'web',
    secret: SECRET,
    tokenEndpointAuthMethod: 'client_secret_post',
    redirectUris: [CALLBACK],
  });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
  const grant = await getCode(server, realm, 'web');
  const { body } = await redeem(server, realm, 'web', grant, { client_secret: SECRET });
  const token = String(body.refresh_token);
  const active = async () => (await post(server, realm, 'introspect', { ...credentials, token })).body.active;
  await server.admin.call(putSettings, { params: { realm }, body: settings });
  expect(await active()).toBe(true);
  for (const [i, seconds] of steps.entries()) {
    // being seen in between keeps a session from being idle, but not from growing old
    if (i > 0) await grant.person.open(`/realms/${realm}/account`);
    offset += seconds * 1000;
  }
  expect(await active()).toBe(false);
  const refreshed = await post(server, realm, 'token', {
    ...credentials,
    grant_type: 'refresh_token',
    refresh_token: token,
  });
  expect(refreshed.body.error).toBe('invalid_grant');
});

test('an access token is shown to its client and to whom it is for; to any other client it is as nothing', async () => {
  const realm = 'whose';
  const resource = 'https://orders.example/';
  await makeRealm(server, realm);
  await server.admin.call(putSettings, { params: { realm }, body: { resourceIndicators: [resource] } });
  const issuer = `${server.baseUrl}/realms/${realm}`;
  const clients = {
    mine: [],
    curious: [],
    orders: [resource],
    everyday: [issuer],
    [resource]: ['https://elsewhere.example'],
  };
  for (const [clientId, allowedResources] of Object.entries(clients))
    await makeClient(server, realm, { clientId, secret: SECRET, grantTypes: ['client_credentials'], allowedResources });
  const tokenFor = async (more: Record<string, string>) => {
    const form = { grant_type: 'client_credentials', ...more };
    return String((await post(server, realm, 'token', form, { authorization: basic('mine') })).body.access_token);
  };
  const seenBy = async (token: string) => {
    const seen: string[] = [];
    for (const clientId of Object.keys(clients)) {
      const { text } = await post(server, realm, 'introspect', { token }, { authorization: basic(clientId) });
      if (text !== '{"active":false}') seen.push(clientId);
    }
    return seen;
  };
  expect(await seenBy(await tokenFor({}))).toEqual(['mine', 'everyday']);
  expect(await seenBy(await tokenFor({ resource }))).toEqual(['mine', 'orders', resource]);
});

test('a client’s mappers add no permissions, username or state to the answer, not even those of an earlier version', async () => {
  const realm = 'forged';
  await makeRealm(server, realm);
  const id =
    (await makeClient(server, realm, { clientId: 'mine', secret: SECRET, grantTypes: ['client_credentials'] })) ?? '';
  const granted = JSON.stringify([{ resource_id: 'r', resource_scopes: ['view'] }]);
  const mapped = { permissions: granted, username: '"alice"', labels: '["read"]', older: '{}', oldest: 'false' };
  for (const [name, value] of Object.entries(mapped))
    await server.admin.call(createProtocolMapper, {
      params: { realm, clientId: id },
      body: { name, source: 'constant', value, jsonType: 'json', in: ['accessToken', 'introspection'] },
    });
  await server.pool.query(
    `update protocol_mapper set claim = case name when 'older' then 'authorization' else 'active' end
     where realm_id = $1 and name in ('older', 'oldest')`,
    [realm],
  );
  const authorization = basic('mine');
  const issued = await post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization });
  const token = String(issued.body.access_token);
  const seen = (await post(server, realm, 'introspect', { token }, { authorization })).body;
  expect(seen).toMatchObject({ active: true, token_type: 'Bearer', labels: ['read'] });
  for (const forged of ['permissions', 'username', 'authorization']) expect(seen).not.toHaveProperty(forged);
});
