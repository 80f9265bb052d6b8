// A resource is never a way up: what a namespace may not do itself, it can't do through the operator either.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../server/contract/admin-access.ts';
import { listClients } from '../../server/contract/clients.ts';
import { createRealm, getRealm } from '../../server/contract/realms.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import {
  createFolder,
  type Folder,
  OPERATOR_SECRET,
  resource,
  secret,
  startTestOperator,
  type TestOperator,
  type TestOperatorOptions,
} from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: Folder;
let operators: TestOperator[] = [];
let tests = 0;
let realm = '';

async function begin(options: Partial<TestOperatorOptions> = {}): Promise<TestOperator> {
  const operator = await startTestOperator({
    serverUrl: server.baseUrl,
    dir: folder.dir,
    operatorNamespace: 'realmkeeper',
    ...options,
  });
  operators.push(operator);
  return operator;
}
const inShop = { namespace: 'shop' };
const hook = (of: string) =>
  resource('Webhook', 'listen', { realm: of, url: 'https://evil.example.com/', eventTypes: ['*'] }, inShop);
const identity = (of: string, clientId: string, metadata = inShop) =>
  resource(
    'WorkloadIdentity',
    'act',
    { realm: of, issuer: 'https://evil.example.com', subject: 'me', audience: 'it', clientId },
    metadata,
  );
const webhooks = async (of: string) => (await server.admin.call(listWebhooks, { params: { realm: of } })).body;
const identities = async (of: string) =>
  (await server.admin.call(listWorkloadIdentities, { params: { realm: of } })).body;

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
});
afterAll(async () => {
  await server?.stop();
});
beforeEach(async () => {
  tests += 1;
  realm = `tenant-${tests}`;
  folder = await createFolder();
});
afterEach(async () => {
  for (const operator of operators) await operator.stop();
  operators = [];
  await folder.drop();
});

test('declaring master without the right to opens it to nobody', async () => {
  await folder.write('realm.yaml', resource('Realm', 'mine', { realm: 'master' }, inShop));
  await folder.write('more.yaml', identity('master', 'operator'), hook('master'));
  const operator = await begin();
  await operator.says('Realm', 'mine', 'RealmProtected', 'shop');
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(await identities('master')).toEqual([]);
  expect(await webhooks('master')).toEqual([]);
});

test('declaring somebody else’s realm opens it to nobody, whoever declared it first', async () => {
  await folder.write('theirs.yaml', resource('Realm', 'theirs', { realm }, { namespace: 'identity' }));
  const operator = await begin();
  await operator.ready('Realm', 'theirs', 'identity');
  await folder.write('mine.yaml', resource('Realm', 'mine', { realm }, inShop), hook(realm));
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(await webhooks(realm)).toEqual([]);
});

test('a status that claims an earlier apply is not believed', async () => {
  await server.admin.call(createRealm, { body: { realm } });
  await folder.write('realm.yaml', resource('Realm', 'mine', { realm, settings: { displayName: 'Mine' } }, inShop));
  const operator = await begin();
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  const held = operator.source.list()[0];
  if (held) held.status = { ...held.status, lastAppliedRevision: 1, lastAppliedGeneration: 1 };
  await folder.write('realm.yaml', resource('Realm', 'mine', { realm, settings: { displayName: 'Now' } }, inShop));
  await operator.took('Realm', 'mine', { settings: { displayName: 'Now' } }, 'shop');
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  expect((await server.admin.call(getRealm, { params: { realm } })).body?.displayName).toBe(realm);
});

test.each([
  ['adminRoles', { adminRoles: [{ name: 'all', permissions: ['realm:write'] }] }],
  ['serviceAccountRoles', { serviceAccountRoles: [{ clientId: 'app', adminRoles: ['realm-admin'] }] }],
])('admin roles can be given only from the operator’s own namespace: %s', async (_, spec) => {
  const clients = [{ clientId: 'app', grantTypes: ['client_credentials'] }];
  await folder.write('realm.yaml', resource('Realm', 'mine', { realm, clients, ...spec }, inShop));
  const operator = await begin();
  await operator.says('Realm', 'mine', 'AdminRoles', 'shop');
  await expect(server.admin.call(getRealm, { params: { realm } })).rejects.toMatchObject({ status: 404 });
  await folder.write(
    'realm.yaml',
    resource('Realm', 'mine', { realm, clients, ...spec }, { namespace: 'realmkeeper' }),
  );
  await operator.ready('Realm', 'mine', 'realmkeeper');
});

test('a WorkloadIdentity outside its Realm’s namespace can’t act for a client with admin roles', async () => {
  await folder.write(
    'realm.yaml',
    resource(
      'Realm',
      'theirs',
      { realm, allowedNamespaces: { from: 'All' }, clients: [{ clientId: 'app', grantTypes: ['client_credentials'] }] },
      { namespace: 'identity' },
    ),
  );
  const operator = await begin();
  await operator.ready('Realm', 'theirs', 'identity');
  const { body: clients = [] } = await server.admin.call(listClients, { params: { realm } });
  const id = clients.find(({ clientId }) => clientId === 'app')?.id ?? '';
  await server.admin.call(putClientAdminRoles, {
    params: { realm, id },
    body: { grants: [{ role: 'realm-viewer', realm }] },
  });
  await folder.write('mine.yaml', identity(realm, 'app'));
  expect((await operator.says('WorkloadIdentity', 'act', 'AdminClient', 'shop')).message).toContain('app');
  expect(await identities(realm)).toEqual([]);
  await folder.write('mine.yaml', identity(realm, 'app', { namespace: 'identity' }));
  await operator.ready('WorkloadIdentity', 'act', 'identity');
});

test('--undeclared-realms doesn’t open master', async () => {
  await folder.write('more.yaml', identity('master', 'operator'), hook('master'));
  const operator = await begin({ undeclaredRealms: true });
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
});

test('a Secret can’t name a variable of the server’s environment', async () => {
  const clients = [{ clientId: 'app', secretKeyRef: { name: 'sneaky', key: 'value' } }];
  await folder.write(
    'realm.yaml',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
    secret('sneaky', { value: '${SVC_VAR_SOMETHING}' }, 'shop'),
    resource('Realm', 'mine', { realm, clients }, inShop),
  );
  const operator = await begin();
  const { message } = await operator.says('Realm', 'mine', 'Invalid', 'shop');
  expect(message).toContain('placeholder');
  expect(message).not.toContain('SVC_VAR_SOMETHING');
});
