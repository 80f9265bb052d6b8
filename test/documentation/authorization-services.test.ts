// The walks of docs/authorization-services.md, as they stand there: a ticket, a token, what introspection shows, a yes; and AuthZEN's yes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuthorizationServiceDocument } from '../../server/contract/authorization-services.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { UMA_TICKET } from '../../server/contract/uma-grant.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from '../support/applications.ts';
import { makeClient, SECRET } from '../support/clients.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { makeProvider, makeRelyingParty, REALM } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { tokensOf } from '../support/uma.ts';

const { block } = await docPage('authorization-services.md');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  const service = { secret: SECRET, grantTypes: ['client_credentials' as const] };
  await makeClient(server, REALM, { ...service, clientId: 'albums', optionalClientScopes: ['uma_protection'] });
  await makeRelyingParty(server, 'shop', { grantTypes: [UMA_TICKET, 'authorization_code'] });
  const described: AuthorizationServiceDocument = JSON.parse(block('json', '"settings"'));
  await server.admin.call(importRealm, {
    params: { realm: REALM },
    body: { roles: [{ name: 'reader' }], groups: [{ path: '/staff' }], authorizationServices: [described] },
  });
  await server.admin.call(createUser, { params: { realm: REALM }, body: { username: 'ana', password: PASSWORD } });
});
afterAll(() => server?.stop());

test('an application is let in where the owner of a resource asks, by the very commands of the page', async () => {
  const { access } = await tokensOf(server, 'ana');
  const stdout = await runBlock(block('sh', 'PAT='), {
    ISSUER: `${server.baseUrl}/realms/${REALM}`,
    ALBUMS_SECRET: SECRET,
    SHOP_SECRET: SECRET,
    ACCESS_TOKEN: access,
  });
  expect(stdout).toMatch(/\{"result":true\}$/);
  expect(JSON.parse(stdout.slice(0, -'{"result":true}'.length))).toMatchObject({
    active: true,
    aud: 'albums',
    client_id: 'shop',
    username: 'ana',
    permissions: [{ resource_id: 'holiday', resource_scopes: ['view'] }],
  });
});

test('the resource server gets its answer by the AuthZEN command of the page', async () => {
  const env = { ISSUER: `${server.baseUrl}/realms/${REALM}`, ALBUMS_SECRET: SECRET };
  expect(JSON.parse(await runBlock(block('sh', 'access/v1/evaluation'), env))).toEqual({ decision: true });
});
