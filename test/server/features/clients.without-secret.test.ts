// Owns: clients that are taken, and said to be of no use as they are: without a secret, or with resources that give nothing.
// Does not own: how the operator says it (test/operator).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let api: Importer;
beforeAll(async () => {
  server = await startTestServer();
  api = await importer(server);
});
afterAll(() => server?.stop());

const warned = async (document: object, query = {}) =>
  (await api.apply('acme', document, query)).warnings.map(({ kind, key }) => `${kind} ${key}`);
const confidential = { clientId: 'billing', grantTypes: ['client_credentials'] };

test('is named by the import that makes it, by its plan and by every later one until it has a secret', async () => {
  const { warnings } = await api.apply('acme', { clients: [confidential] }, { dryRun: 'true' });
  expect(warnings).toEqual([
    { kind: 'client', key: 'billing', message: expect.stringMatching(/^has no secret, so it .*secretKeyRef/) },
  ]);
  expect(await warned({ clients: [confidential] })).toEqual(['client billing']);
  expect(await warned({ clients: [confidential] })).toEqual(['client billing']);
  expect(await warned({ clients: [{ ...confidential, secret: 'a-secret-that-is-long-enough' }] })).toEqual([]);
  expect(await warned({ clients: [confidential] }, { force: 'true' })).toEqual([]);
});

test('is not warned of where it needs none: public, by key, or because a workload acts as it', async () => {
  const workload = { name: 'ci', issuer: 'https://i.example', subject: 's', audience: 'a', clientId: 'ci' };
  const clients = [
    { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: ['https://spa.example.com/cb'] },
    { clientId: 'signed', tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: 'https://signed.example.com/jwks' },
    { clientId: 'ci', grantTypes: ['client_credentials'] },
  ];
  expect(await warned({ clients, workloadIdentity: [workload] })).toEqual([]);
  expect(await warned({ clients })).toEqual([]);
  expect(await warned({ clients: [{ clientId: 'spa', tokenEndpointAuthMethod: 'client_secret_basic' }] })).toEqual([
    'client spa',
  ]);
});

test('one that a workload identity must authenticate is named until there is one, and a plan says if it goes', async () => {
  const web = { clientId: 'web', tokenEndpointAuthMethod: 'federated_jwt', grantTypes: ['client_credentials'] };
  const identity = { name: 'pod', issuer: 'https://i.example', subject: 'pod', audience: 'a', clientId: 'web' };
  const manager = 'team';
  const { warnings } = await api.apply('acme', { clients: [web] }, { manager, dryRun: 'true' });
  expect(warnings).toMatchObject([{ key: 'web', message: expect.stringMatching(/^has no workload identity/) }]);
  expect(await warned({ clients: [web], workloadIdentity: [identity] }, { manager })).toEqual(['client web']);
  const both = { clients: [web], workloadIdentity: [{ ...identity, use: 'authentication' }] };
  expect(await warned(both, { manager })).toEqual([]);
  expect(await warned({ clients: [web] }, { manager })).toEqual([]);
  expect(
    await warned({ ...both, workloadIdentity: [{ ...identity, enabled: false }] }, { manager, dryRun: 'true' }),
  ).toEqual(['client web']);
  const gone = await api.apply('acme', { clients: [web] }, { manager, prune: 'true', dryRun: 'true' });
  expect(gone.consequences).toMatchObject([
    {
      kind: 'workloadIdentity',
      key: 'pod',
      message: 'the client web can’t authenticate by it any more',
      locksOut: true,
    },
  ]);
  expect(gone.warnings).toMatchObject([{ kind: 'client', key: 'web' }]);
});

test('one with a resource that the realm does not list is named, since it gets no token for it', async () => {
  const shop = 'https://shop.example.com/';
  const spa = {
    ...{ clientId: 'shopping', tokenEndpointAuthMethod: 'none', redirectUris: ['https://spa.example.com/cb'] },
    allowedResources: [shop, 'https://stock.example.com/'],
  };
  const { warnings } = await api.apply('acme', { clients: [spa], resourceIndicators: [shop] }, { dryRun: 'true' });
  expect(warnings).toEqual([
    {
      kind: 'client',
      key: 'shopping',
      message: expect.stringMatching(/no token for https:\/\/stock.example.com\/: not/),
    },
  ]);
  expect(await warned({ clients: [spa], resourceIndicators: spa.allowedResources })).toEqual([]);
});
