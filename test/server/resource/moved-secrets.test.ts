// Owns: a write-only secret goes nowhere else than where it was given for, by whatever way that is asked for.
// Implements: decisions "Import, export, plan" (Secrets in a document).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import { createIdentityProvider, putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { testMessagingProvider } from '../../../server/contract/messages.ts';
import { type MessagingProviderInput, putMessagingProvider } from '../../../server/contract/messaging.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { createScimTarget, putScimTarget } from '../../../server/contract/scim-targets.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { createWebhook, putWebhook } from '../../../server/contract/webhooks.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const SECRET = 'the-secret-of-the-gateway-0123456789';
const HELD: Permission[] = ['messaging:read', 'messaging:write'];
let server: TestServer;
let theirs: Receiver;
let who: Client;
const params = { realm: 'acme' };

beforeAll(async () => {
  theirs = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: theirs.caFile, SVC_VAR_GATEWAY: SECRET } });
  await makeRealm(server, 'acme');
  who = await administrator(server, { target: 'acme', permissions: HELD });
});
afterAll(async () => {
  await server?.stop();
  await theirs?.stop();
});

const gateway = { channel: 'SMS', driver: 'http' } as const;
const config = { url: 'https://gateway.example.com/send', headers: { authorization: 'Bearer {{secret}}' } };
const put = (body: MessagingProviderInput, by: Client = who) =>
  by.call(putMessagingProvider, { params, body }).then(({ body: made }) => made!);
const apply = (provider: object, query: object = {}, by: Client = who) =>
  by.call(importRealm, {
    params,
    query: { manager: 'me', force: 'true', ...query },
    body: { messagingProviders: [{ ...gateway, ...provider }] } as RealmDocument,
  });
const asked = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it was not refused'),
    ({ status, problem }: ServerProblem) => [status, problem?.errors],
  );
const again = (at: string, path = '') => [
  400,
  [{ path: `${path}secret`, message: expect.stringContaining(`is asked for again, since ${at} changes where`) }],
];

describe('the stored secret of a gateway', () => {
  test('is not sent to another address, which somebody gives who does not know it', async () => {
    await put({ ...gateway, config, secret: SECRET }, server.admin);
    const moved = { ...config, url: `${theirs.url}/mine` };
    expect(await asked(put({ ...gateway, config: moved }))).toEqual(again('config.url'));
    expect(await asked(put({ ...gateway, config: moved, secret: null }))).toEqual(again('config.url'));
    const path = 'messagingProviders[0].';
    for (const query of [{}, { dryRun: 'true' }]) {
      expect(await asked(apply({ config: moved }, query))).toEqual(again('config.url', path));
      for (const secret of [`\${SVC_VAR_GATEWAY}`, `\${SVC_VAR_NOBODYS}`])
        expect(await asked(apply({ config: moved, secret }, query))).toEqual(again('config.url', path));
    }
    const valueless = apply({ config: moved, secret: `\${SVC_VAR_NOBODYS}` }, {}, server.admin);
    expect(await asked(valueless)).toEqual(again('config.url', path));
    await who.call(testMessagingProvider, { params: { ...params, channel: 'SMS' }, body: { to: '+491' } });
    expect(theirs.received).toEqual([]);
  });

  test.each([
    [gateway, config, { headers: { 'x-key': '{{secret}}' } }, 'config.headers'],
    [gateway, config, { body: '{"key":"{{secret}}"}' }, 'config.body'],
    [{ channel: 'EMAIL', driver: 'smtp' } as const, { host: 'a.example' }, { host: 'b.example' }, 'config.host'],
    [{ channel: 'EMAIL', driver: 'smtp' } as const, { host: 'a.example' }, { port: 2525 }, 'config.port'],
    [{ channel: 'EMAIL', driver: 'smtp' } as const, { host: 'a.example' }, { tls: 'none' }, 'config.tls'],
    [
      { channel: 'SMS', driver: 'twilio' } as const,
      { accountSid: `AC${'0'.repeat(32)}` },
      { apiUrl: 'https://b.example' },
      'config.apiUrl',
    ],
  ])('of %j is asked for again with %j and %j', async (key, before, change, at) => {
    await put({ ...key, config: before, secret: SECRET });
    expect(await asked(put({ ...key, config: { ...before, ...change } }))).toEqual(again(at));
  });

  test('stays where nothing moves it, and moves with who gives it', async () => {
    const made = await put({ ...gateway, config, secret: SECRET });
    expect(await put({ ...made, fromName: 'Acme', config: { ...config, method: 'PUT' } })).toMatchObject({
      secretSet: true,
    });
    expect(await put({ ...gateway, config: { ...config, url: 'https://b.example/' }, secret: SECRET })).toMatchObject({
      config: { url: 'https://b.example/' },
    });
    const moved = { ...config, url: 'https://c.example/' };
    await apply({ config: moved, secret: `\${SVC_VAR_GATEWAY}` }, {}, server.admin);
    await apply({ config, secret: SECRET });
    const planner = await administrator(server, { target: 'acme', permissions: ['messaging:read', 'realm:plan'] });
    for (const secret of [SECRET, `\${SVC_VAR_GATEWAY}`])
      expect((await apply({ config: moved, secret }, { dryRun: 'true' }, planner)).body?.changes).toHaveLength(1);
  });
});

test('a SCIM target’s token and an identity provider’s secret stay with their addresses; a webhook’s is never sent', async () => {
  const { call } = server.admin;
  const secret = SECRET;
  const target = { name: 'wiki', url: 'https://wiki.example.com/scim' };
  const { body: made } = await call(createScimTarget, { params, body: { ...target, secret } });
  const scim = { params: { ...params, id: made!.id } };
  expect(await asked(call(putScimTarget, { ...scim, body: { ...made, url: 'https://b.example/' } }))).toEqual(
    again('url'),
  );
  const provider = { alias: 'them', type: 'oidc' as const, config: { issuer: 'https://id.example.com' } };
  await call(createIdentityProvider, { params, body: { ...provider, secret } });
  const at = { params: { ...params, alias: 'them' } };
  const tokenEndpoint = 'https://b.example/token';
  const moved = { config: { ...provider.config, tokenEndpoint } };
  expect(await asked(call(putIdentityProvider, { ...at, body: moved }))).toEqual(again('config.tokenEndpoint'));
  await call(putIdentityProvider, { ...at, body: { ...moved, secret } });
  const hook = { name: 'hook', url: 'https://hooks.example.com/', eventTypes: '*', enabled: true };
  const { body: listens } = await call(createWebhook, { params, body: { ...hook, secret } });
  await call(putWebhook, { params: { ...params, id: listens!.id }, body: { ...hook, url: 'https://b.example/' } });
});
