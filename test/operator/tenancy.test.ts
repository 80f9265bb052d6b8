// A resource is never a way up: what a namespace may not do itself, it can't do through the operator either.
import { expect, test } from 'vitest';
import { putClientAdminRoles } from '../../server/contract/admin-access.ts';
import { listClients } from '../../server/contract/clients.ts';
import { createRealm, deleteRealm, getRealm, putAdoption } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { operatorSite, resource, secret, type TestOperatorOptions } from '../support/operator.ts';

const site = operatorSite({ name: 'tenant' });
const begin = (options: Partial<TestOperatorOptions> = {}) =>
  site.begin({ operatorNamespace: 'realmkeeper', ...options });
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
const webhooks = async (of: string) => (await site.server.admin.call(listWebhooks, { params: { realm: of } })).body;
const identities = async (of: string) =>
  (await site.server.admin.call(listWorkloadIdentities, { params: { realm: of } })).body;

test('declaring master without the right to opens it to nobody', async () => {
  await site.folder.write('realm.yaml', resource('Realm', 'mine', { realm: 'master' }, inShop));
  await site.folder.write('more.yaml', identity('master', 'operator'), hook('master'));
  const operator = await begin();
  await operator.says('Realm', 'mine', 'RealmProtected', 'shop');
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(await identities('master')).toEqual([]);
  expect(await webhooks('master')).toEqual([]);
});

test('declaring somebody else’s realm opens it to nobody, whoever declared it first', async () => {
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm: site.realm }, { namespace: 'identity' }));
  const operator = await begin();
  await operator.ready('Realm', 'theirs', 'identity');
  await site.folder.write('mine.yaml', resource('Realm', 'mine', { realm: site.realm }, inShop), hook(site.realm));
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(await webhooks(site.realm)).toEqual([]);
});

test('a status that claims an earlier apply is not believed', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'mine', { realm: site.realm, settings: { displayName: 'Mine' } }, inShop),
  );
  const operator = await begin();
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  const held = operator.source.list()[0];
  if (held) held.status = { ...held.status, lastAppliedRevision: 1, lastAppliedGeneration: 1 };
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'mine', { realm: site.realm, settings: { displayName: 'Now' } }, inShop),
  );
  await operator.took('Realm', 'mine', { settings: { displayName: 'Now' } }, 'shop');
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  expect((await site.server.admin.call(getRealm, { params: { realm: site.realm } })).body?.displayName).toBe(
    site.realm,
  );
});

test.each([
  ['adminRoles', { adminRoles: [{ name: 'all', permissions: ['realm:write'] }] }],
  ['serviceAccountRoles', { serviceAccountRoles: [{ clientId: 'app', adminRoles: ['realm-admin'] }] }],
])('admin roles can be given only from the operator’s own namespace: %s', async (_, spec) => {
  const clients = [{ clientId: 'app', grantTypes: ['client_credentials'] }];
  await site.folder.write('realm.yaml', resource('Realm', 'mine', { realm: site.realm, clients, ...spec }, inShop));
  const operator = await begin();
  await operator.says('Realm', 'mine', 'AdminRoles', 'shop');
  await expect(site.server.admin.call(getRealm, { params: { realm: site.realm } })).rejects.toMatchObject({
    status: 404,
  });
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'mine', { realm: site.realm, clients, ...spec }, { namespace: 'realmkeeper' }),
  );
  await operator.ready('Realm', 'mine', 'realmkeeper');
});

test('a WorkloadIdentity outside its Realm’s namespace can’t act for a client with admin roles', async () => {
  await site.folder.write(
    'realm.yaml',
    resource(
      'Realm',
      'theirs',
      {
        realm: site.realm,
        allowedNamespaces: { from: 'All' },
        clients: [{ clientId: 'app', grantTypes: ['client_credentials'] }],
      },
      { namespace: 'identity' },
    ),
  );
  const operator = await begin();
  await operator.ready('Realm', 'theirs', 'identity');
  const { body: clients = [] } = await site.server.admin.call(listClients, { params: { realm: site.realm } });
  const id = clients.find(({ clientId }) => clientId === 'app')?.id ?? '';
  await site.server.admin.call(putClientAdminRoles, {
    params: { realm: site.realm, id },
    body: { grants: [{ role: 'realm-viewer', realm: site.realm }] },
  });
  await site.folder.write('mine.yaml', identity(site.realm, 'app'));
  expect((await operator.says('WorkloadIdentity', 'act', 'AdminClient', 'shop')).message).toContain('app');
  expect(await identities(site.realm)).toEqual([]);
  await site.folder.write('mine.yaml', identity(site.realm, 'app', { namespace: 'identity' }));
  await operator.ready('WorkloadIdentity', 'act', 'identity');
});

test('a realm’s tokens can’t be made the admin API’s by whoever declares it', async () => {
  const { baseUrl } = site.server.config;
  const declare = (spec: object) =>
    site.folder.write('realm.yaml', resource('Realm', 'mine', { realm: site.realm, ...spec }, inShop));
  await declare({ settings: { issuer: `${baseUrl}/admin` } });
  const operator = await begin();
  expect((await operator.says('Realm', 'mine', 'Refused', 'shop')).message).toContain('issuer');
  for (const [field, spec] of [
    ['resourceIndicators', { resourceIndicators: [`${baseUrl}/admin`] }],
    ['allowedResources', { clients: [{ clientId: 'app', allowedResources: [`${baseUrl}/admin`] }] }],
  ] as const) {
    await declare(spec);
    await operator.took('Realm', 'mine', spec, 'shop');
    expect((await operator.says('Realm', 'mine', 'Refused', 'shop')).message).toContain(field);
  }
  await expect(site.server.admin.call(getRealm, { params: { realm: site.realm } })).rejects.toMatchObject({
    status: 404,
  });
});

test('--undeclared-realms doesn’t open master', async () => {
  await site.folder.write('more.yaml', identity('master', 'operator'), hook('master'));
  const operator = await begin({ undeclaredRealms: true });
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
});

test('--undeclared-realms opens no realm that is declared: its Realm resource alone lets others in', async () => {
  const theirs = (from: string) =>
    resource('Realm', 'theirs', { realm: site.realm, allowedNamespaces: { from } }, { namespace: 'bank' });
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.server.admin.call(putAdoption, { params: { realm: site.realm }, body: { managers: ['k8s:*/bank/*'] } });
  await site.folder.write('theirs.yaml', theirs('Same'));
  await site.folder.write('more.yaml', identity(site.realm, 'account'), hook(site.realm));
  const operator = await begin({ undeclaredRealms: true });
  await operator.ready('Realm', 'theirs', 'bank');
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
  const { message } = await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(message).not.toContain('bank');
  expect([await webhooks(site.realm), await identities(site.realm)]).toEqual([[], []]);
  await site.folder.write('theirs.yaml', theirs('All'));
  await operator.ready('Webhook', 'listen', 'shop');
});

test('under --undeclared-realms a Realm resource that is refused closes the realm to nobody', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm: site.realm }, { namespace: 'bank' }));
  await site.folder.write('mine.yaml', hook(site.realm));
  const operator = await begin({ undeclaredRealms: true });
  await operator.says('Realm', 'theirs', 'RealmExists', 'bank');
  await operator.ready('Webhook', 'listen', 'shop');
});

test('under --undeclared-realms a Realm resource of a namespace that doesn’t count closes the realm to nobody', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.server.admin.call(putAdoption, { params: { realm: site.realm }, body: { managers: ['*'] } });
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm: site.realm }, { namespace: 'bank' }));
  await site.folder.write('mine.yaml', hook(site.realm));
  const operator = await begin({
    undeclaredRealms: true,
    realmNamespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'identity' } },
  });
  await operator.says('Realm', 'theirs', 'NamespaceNotAllowed', 'bank');
  await operator.ready('Webhook', 'listen', 'shop');
});

test('a realm is its namespace’s, not one resource’s: several may hold parts of it, and one may be renamed', async () => {
  const bank = { namespace: 'bank' };
  const part = (name: string, role: string) =>
    resource('Realm', name, { realm: site.realm, roles: [{ name: role }] }, bank);
  await site.folder.write('realm.yaml', part('before', 'teller'));
  const operator = await begin();
  await operator.ready('Realm', 'before', 'bank');
  await site.folder.write('more.yaml', part('second', 'clerk'));
  await operator.ready('Realm', 'second', 'bank');
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'before', 'bank');
  await site.folder.write('realm.yaml', part('after', 'teller'));
  await operator.ready('Realm', 'after', 'bank');
  await site.folder.write('mine.yaml', resource('Realm', 'mine', { realm: site.realm }, inShop));
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
});

test('a Secret can’t name a variable of the server’s environment', async () => {
  const clients = [{ clientId: 'app', secretKeyRef: { name: 'sneaky', key: 'value' } }];
  await site.folder.write(
    'realm.yaml',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
    secret('sneaky', { value: '${SVC_VAR_SOMETHING}' }, 'shop'),
    resource('Realm', 'mine', { realm: site.realm, clients }, inShop),
  );
  const operator = await begin();
  const { message } = await operator.says('Realm', 'mine', 'Invalid', 'shop');
  expect(message).toContain('placeholder');
  expect(message).not.toContain('SVC_VAR_SOMETHING');
});

test.each(['x/Realm/other', '..', 'Upper', 'two words'])('a file’s resource can’t be named %j', async (name) => {
  await site.folder.write('realm.yaml', resource('Realm', name, { realm: site.realm }, inShop));
  await expect(begin()).rejects.toThrow('must be a name as Kubernetes has them');
});

test('a realm that somebody makes between the look and the write is theirs', async () => {
  const { realm } = site;
  let made: Promise<unknown> | undefined;
  const meanwhile: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status === 404 && String(input).endsWith(`/${realm}/adoption`)) {
      // The webhook looks, too: whoever looks first, both go on when it is there.
      made ??= site.server.admin.call(createRealm, { body: { realm } });
      await made;
    }
    return answer;
  };
  await site.folder.write('mine.yaml', resource('Realm', 'mine', { realm, settings: { displayName: 'Mine' } }, inShop));
  await site.folder.write('more.yaml', hook(realm));
  const operator = await begin({ fetch: meanwhile });
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(made).toBeDefined();
  expect((await site.server.admin.call(getRealm, { params: { realm } })).body?.displayName).toBe(realm);
  expect(await webhooks(realm)).toEqual([]);
});

test('a flow from another namespace never comes to sign the realm’s people in, whatever name it took', async () => {
  const { realm } = site;
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  const flow = (namespace: string, more: object = {}) =>
    resource('Flow', 'strong', { realm, executions, ...more }, { namespace });
  const theirs = (more: object) =>
    resource('Realm', 'theirs', { realm, allowedNamespaces: { from: 'All' }, ...more }, { namespace: 'identity' });
  await site.folder.write('theirs.yaml', theirs({ settings: { browserFlow: 'strong' } }));
  const operator = await begin();
  await operator.says('Realm', 'theirs', 'FlowMissing', 'identity');
  await site.folder.write('mine.yaml', flow('shop'));
  await operator.ready('Flow', 'strong', 'shop');
  const { message } = await operator.says('Realm', 'theirs', 'GuestFlow', 'identity');
  expect(message).toContain('k8s:test/shop/Flow/strong');
  const clients = [{ clientId: 'app', flowOverride: 'strong' }];
  await site.folder.write('theirs.yaml', theirs({ clients }));
  await operator.took('Realm', 'theirs', { clients }, 'identity');
  await operator.says('Realm', 'theirs', 'GuestFlow', 'identity');
  for (const more of [
    { applications: [{ name: 'portal', displayName: 'Portal', flowOverride: 'strong' }] },
    {
      samlClients: [
        {
          entityId: 'https://wiki.example.com/saml',
          name: 'Wiki',
          assertionConsumerServices: [
            { url: 'https://wiki.example.com/acs', binding: 'POST', index: 0, default: true },
          ],
          flowOverride: 'strong',
        },
      ],
    },
  ]) {
    await site.folder.write('theirs.yaml', theirs(more));
    await operator.took('Realm', 'theirs', more, 'identity');
    await operator.says('Realm', 'theirs', 'GuestFlow', 'identity');
  }
  const { body: settings } = await site.server.admin.call(getSettings, { params: { realm } });
  expect(settings?.browserFlow).not.toBe('strong');
  await site.folder.write('flow.yaml', flow('identity', { force: true }));
  await operator.ready('Flow', 'strong', 'identity');
  await operator.ready('Realm', 'theirs', 'identity');
});

test('let in no more: what was made stays, no change of it is applied, and it can still be deleted', async () => {
  const { realm } = site;
  const theirs = (from: string) =>
    resource('Realm', 'theirs', { realm, allowedNamespaces: { from } }, { namespace: 'identity' });
  const mine = (url: string) => resource('Webhook', 'listen', { realm, url, eventTypes: ['*'] }, inShop);
  const urls = async () => (await webhooks(realm))?.map(({ url }) => url);
  await site.folder.write('theirs.yaml', theirs('All'));
  await site.folder.write('mine.yaml', mine('https://before.example.com/'));
  const operator = await begin();
  await operator.ready('Webhook', 'listen', 'shop');
  await site.folder.write('theirs.yaml', theirs('Same'));
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  await site.folder.write('mine.yaml', mine('https://after.example.com/'));
  await operator.took('Webhook', 'listen', { url: 'https://after.example.com/' }, 'shop');
  await operator.says('Webhook', 'listen', 'RealmNotDeclared', 'shop');
  expect(await urls()).toEqual(['https://before.example.com/']);
  await site.folder.remove('mine.yaml');
  await operator.gone('Webhook', 'listen', 'shop');
  expect(await urls()).toEqual([]);
});

test('who may adopt a realm no more can’t take it along by deleting the resource', async () => {
  const { admin } = site.server;
  const params = { realm: site.realm };
  await admin.call(createRealm, { body: { realm: site.realm, displayName: 'Theirs' } });
  await admin.call(putAdoption, { params, body: { managers: ['k8s:*/shop/*'] } });
  const spec = { realm: site.realm, deletionPolicy: 'Delete', settings: { welcomeText: 'Hello' } };
  await site.folder.write('realm.yaml', resource('Realm', 'mine', spec, inShop));
  const operator = await begin();
  await operator.ready('Realm', 'mine', 'shop');
  await admin.call(putAdoption, { params, body: { managers: [] } });
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'mine', 'shop');
  expect((await admin.call(getRealm, { params })).body?.displayName).toBe('Theirs');
  expect((await admin.call(getSettings, { params })).body?.welcomeText).toBe(null);
});

test('who waits for a realm’s name doesn’t get it when the server loses the realm; an administrator can give it away', async () => {
  const { admin } = site.server;
  const { realm } = site;
  const mine = { realm, settings: { displayName: 'Mine' }, allowedNamespaces: { from: 'All' } };
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm }, { namespace: 'bank' }));
  const operator = await begin();
  await operator.ready('Realm', 'theirs', 'bank');
  await site.folder.remove('theirs.yaml');
  await operator.gone('Realm', 'theirs', 'bank');
  await site.folder.write('mine.yaml', resource('Realm', 'mine', mine, inShop), hook(realm));
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  await admin.call(deleteRealm, { params: { realm } });
  const { message } = await operator.says('Realm', 'mine', 'RealmTaken', 'shop');
  expect(message).not.toContain('bank');
  await operator.says('Webhook', 'listen', 'RealmMissing', 'shop');
  await expect(admin.call(getRealm, { params: { realm } })).rejects.toMatchObject({ status: 404 });
  // the resource of its namespace, whatever it is called
  await site.folder.write('theirs.yaml', resource('Realm', 'again', { realm }, { namespace: 'bank' }));
  await operator.ready('Realm', 'again', 'bank');
  await operator.says('Realm', 'mine', 'RealmExists', 'shop');
  await admin.call(putAdoption, { params: { realm }, body: { managers: ['k8s:*/shop/*'] } });
  await operator.ready('Realm', 'mine', 'shop');
});

test('--realm-names namespace: a namespace’s realms have its name, alone or at the beginning', async () => {
  const shop = `shop-${site.realm}`;
  const own = (name: string, realm: string) => resource('Realm', name, { realm }, { namespace: shop });
  await site.folder.write('own.yaml', own('own', shop), own('more', `${shop}-test`));
  await site.folder.write('others.yaml', own('longer', `${shop}2`), own('other', site.realm));
  await site.folder.write(
    'operator.yaml',
    resource('Realm', 'any', { realm: site.realm }, { namespace: 'realmkeeper' }),
  );
  const operator = await begin({ realmNames: { by: 'namespace' } });
  await operator.ready('Realm', 'own', shop);
  await operator.ready('Realm', 'more', shop);
  await operator.ready('Realm', 'any', 'realmkeeper');
  expect((await operator.says('Realm', 'longer', 'NamespaceNotAllowed', shop)).message).toContain(
    `begin with ${shop}-`,
  );
  await operator.says('Realm', 'other', 'NamespaceNotAllowed', shop);
});

test('a client that a guest acts as is kept for them when its Realm leaves it out, and can be ended at once all the same', async () => {
  const { realm } = site;
  const params = { realm };
  const app = { clientId: 'app', grantTypes: ['client_credentials'] };
  const theirs = (from: string, clients: object[]) =>
    resource('Realm', 'theirs', { realm, allowedNamespaces: { from }, clients }, { namespace: 'identity' });
  const clientOf = async () =>
    (await site.server.admin.call(listClients, { params })).body?.find(({ clientId }) => clientId === 'app');
  await site.folder.write('theirs.yaml', theirs('All', [app]));
  await site.folder.write('mine.yaml', identity(realm, 'app'));
  const operator = await begin();
  await operator.ready('WorkloadIdentity', 'act', 'shop');
  await site.folder.write('theirs.yaml', theirs('All', []));
  await operator.says('Realm', 'theirs', 'InUse', 'identity');
  expect(await clientOf()).toMatchObject({ enabled: true });
  await site.folder.write('theirs.yaml', theirs('Same', [{ ...app, enabled: false }]));
  await operator.ready('Realm', 'theirs', 'identity');
  expect(await clientOf()).toMatchObject({ enabled: false });
  await operator.says('WorkloadIdentity', 'act', 'RealmNotDeclared', 'shop');
});

test('what a guest leaves behind stays under their name: a flow of theirs comes to sign nobody in by that', async () => {
  const { realm } = site;
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  const retained = { deletionPolicy: 'Retain' };
  const theirs = (settings: object) =>
    resource('Realm', 'theirs', { realm, allowedNamespaces: { from: 'All' }, settings }, { namespace: 'identity' });
  const flow = (name: string, namespace: string) =>
    resource('Flow', name, { realm, executions, ...retained }, { namespace });
  const managers = async () =>
    (await site.server.admin.call(listManagers, { params: { realm } })).body?.map(({ manager }) => manager);
  await site.folder.write('theirs.yaml', theirs({}));
  const { spec, ...listen } = hook(realm);
  await site.folder.write('mine.yaml', flow('strong', 'shop'), { ...listen, spec: { ...Object(spec), ...retained } });
  await site.folder.write('home.yaml', flow('own', 'identity'));
  const operator = await begin();
  await operator.ready('Flow', 'strong', 'shop');
  await operator.ready('Flow', 'own', 'identity');
  await operator.ready('Webhook', 'listen', 'shop');
  await site.folder.remove('mine.yaml');
  await site.folder.remove('home.yaml');
  await operator.gone('Flow', 'strong', 'shop');
  await operator.gone('Webhook', 'listen', 'shop');
  await operator.gone('Flow', 'own', 'identity');
  expect((await webhooks(realm))?.map(({ name }) => name)).toEqual(['listen']);
  await site.folder.write('theirs.yaml', theirs({ browserFlow: 'strong' }));
  await operator.says('Realm', 'theirs', 'GuestFlow', 'identity');
  expect((await managers())?.sort()).toEqual(['k8s:test/shop/Flow/strong', 'k8s:test/shop/Webhook/listen']);
  await site.folder.write('theirs.yaml', theirs({ browserFlow: 'own' }));
  await operator.took('Realm', 'theirs', { settings: { browserFlow: 'own' } }, 'identity');
  await operator.ready('Realm', 'theirs', 'identity');
  // and it is still theirs to take up again
  await site.folder.write('mine.yaml', flow('strong', 'shop'));
  await operator.ready('Flow', 'strong', 'shop');
});
