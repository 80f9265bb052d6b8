// What isn't there yet is waited for, what a person must settle says so, and both go on by themselves afterwards.
import { expect, test } from 'vitest';
import { createRealm, putAdoption } from '../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { deleteWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { eventually, operatorSite, resource, secret } from '../support/operator.ts';

const site = operatorSite({ name: 'waits' });
const theRealm = (more: object = {}, metadata = {}) =>
  resource('Realm', 'here', { realm: site.realm, ...more }, metadata);
const hook = (name: string, more: object = {}, metadata = {}) =>
  resource(
    'Webhook',
    name,
    {
      realm: site.realm,
      name: 'shared',
      url: 'https://receiver.example.com/hook',
      eventTypes: ['*'],
      enabled: true,
      ...more,
    },
    metadata,
  );
const UNKNOWN_SCOPE = { clientId: 'app', grantTypes: ['client_credentials'], defaultClientScopes: ['no-such'] };
const webhooks = async () => (await site.server.admin.call(listWebhooks, { params: { realm: site.realm } })).body ?? [];
const settings = async () => (await site.server.admin.call(getSettings, { params: { realm: site.realm } })).body;

test('a missing Secret is waited for by name and key, and its coming is enough', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('hook.yaml', hook('one', { secretKeyRef: { name: 'later', key: 'signing' } }));
  const operator = await site.begin();
  expect(await operator.says('Webhook', 'one', 'SecretMissing')).toMatchObject({
    type: 'Reconciling',
    message: 'waiting for the Secret later in the namespace default',
  });
  expect(operator.condition('Webhook', 'one')).toMatchObject({ status: 'False', reason: 'Waiting' });
  await site.folder.write('secret.yaml', secret('later', { other: 'value' }));
  await eventually(() =>
    expect(operator.condition('Webhook', 'one')?.message).toBe(
      'waiting for the key signing in the Secret later (namespace default)',
    ),
  );
  await site.folder.write('secret.yaml', secret('later', { signing: 'a secret of good length' }));
  await operator.ready('Webhook', 'one');
  expect(operator.condition('Webhook', 'one', 'Reconciling')).toBeUndefined();
  expect(await webhooks()).toMatchObject([{ secretSet: true }]);
});

test('a Secret of another namespace is not read', async () => {
  await site.folder.write('realm.yaml', theRealm(), secret('theirs', { key: 'a secret of good length' }, 'other'));
  await site.folder.write('hook.yaml', hook('one', { secretKeyRef: { name: 'theirs', key: 'key' } }));
  const operator = await site.begin();
  await operator.says('Webhook', 'one', 'SecretMissing');
});

test('what attaches waits for a Realm resource, and goes on by itself when it comes', async () => {
  await site.folder.write('hook.yaml', hook('one'));
  const operator = await site.begin();
  expect((await operator.says('Webhook', 'one', 'RealmNotDeclared')).message).toBe(
    `waiting for a Realm resource that declares ${site.realm} and allows the namespace default`,
  );
  await site.folder.write('realm.yaml', theRealm());
  await operator.ready('Webhook', 'one');
});

test('what attaches to a Realm that is itself refused names that Realm, in its own namespace alone', async () => {
  const elsewhere = (message: string | undefined) =>
    expect(message).toMatch(/^waiting for a Realm resource that declares/);
  await site.folder.write('realm.yaml', theRealm({ settings: { accessTokenTtlSeconds: -1 } }));
  await site.folder.write('hook.yaml', hook('one'), hook('two', {}, { namespace: 'shop' }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'Invalid');
  expect((await operator.says('Webhook', 'one', 'RealmNotDeclared')).message).toMatch(
    /^the Realm here .* is itself refused/,
  );
  elsewhere((await operator.says('Webhook', 'two', 'RealmNotDeclared', 'shop')).message);
  await site.folder.write('realm.yaml', theRealm({ allowedNamespaces: { from: 'All' }, clients: [UNKNOWN_SCOPE] }));
  await operator.says('Realm', 'here', 'Refused');
  await eventually(() =>
    expect(operator.condition('Webhook', 'one')?.message).toMatch(/^the Realm here, .* is refused: its own conditions/),
  );
  expect((await operator.says('Webhook', 'two', 'RealmMissing', 'shop')).message).not.toContain('here');
  await site.folder.write('realm.yaml', theRealm());
  await operator.ready('Webhook', 'one');
});

test('with --undeclared-realms what attaches waits for the realm itself, and goes on when a person makes it', async () => {
  await site.folder.write('hook.yaml', hook('one'));
  const operator = await site.begin({ undeclaredRealms: true });
  expect((await operator.says('Webhook', 'one', 'RealmMissing')).message).toBe(
    `waiting for the realm ${site.realm} on the server`,
  );
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await operator.ready('Webhook', 'one');
});

test('a namespace that the Realm lets in may attach; any other waits and learns nothing of it', async () => {
  await site.folder.write('realm.yaml', theRealm({}, { namespace: 'identity' }));
  await site.folder.write('hook.yaml', hook('one', {}, { namespace: 'shop' }));
  const operator = await site.begin();
  const { message } = await operator.says('Webhook', 'one', 'RealmNotDeclared', 'shop');
  expect(message).not.toContain('identity');
  const selector = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
  await site.folder.write(
    'realm.yaml',
    theRealm({ allowedNamespaces: { from: 'Selector', selector } }, { namespace: 'identity' }),
  );
  await operator.ready('Webhook', 'one', 'shop');
});

test('of two resources that claim one webhook the second is Stalled, names the first, and goes on when that is gone', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await site.folder.write('b.yaml', hook('second', { url: 'https://other.example.com/' }));
  const stalled = await operator.says('Webhook', 'second', 'Conflict');
  expect(stalled.message).toContain('is managed by k8s:test/default/Webhook/first');
  expect(operator.condition('Webhook', 'second', 'Stalled')).toMatchObject({ status: 'True' });
  expect(await webhooks()).toMatchObject([{ url: 'https://receiver.example.com/hook' }]);
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'first');
  await operator.ready('Webhook', 'second');
  expect(await webhooks()).toMatchObject([{ url: 'https://other.example.com/' }]);
});

test('under Report a spec that was held up is applied once nothing holds it, and not taken for drift', async () => {
  const url = 'https://second.example.com/';
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first'));
  await site.folder.write('b.yaml', hook('second', { name: 'own', url, driftPolicy: 'Report' }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await operator.ready('Webhook', 'second');
  await site.folder.write('b.yaml', hook('second', { url, driftPolicy: 'Report' }));
  await operator.took('Webhook', 'second', { name: 'shared' });
  await operator.says('Webhook', 'second', 'Conflict');
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'first');
  await operator.ready('Webhook', 'second');
  expect(operator.condition('Webhook', 'second', 'Drifted')).toBeUndefined();
  expect(await webhooks()).toMatchObject([{ name: 'shared', url }]);
});

test('a document that the server refuses is Stalled with the server’s words, until the file is mended', async () => {
  await site.folder.write('realm.yaml', theRealm());
  const flow = (authenticatorId: string) =>
    resource('Flow', 'strange', { realm: site.realm, executions: [{ authenticatorId, requirement: 'REQUIRED' }] });
  await site.folder.write('flow.yaml', flow('telepathy'));
  const operator = await site.begin();
  const stalled = await operator.says('Flow', 'strange', 'Refused');
  expect(stalled.message).toMatch(/^spec\.executions\[0\].*telepathy/s);
  await site.folder.write('flow.yaml', flow('username-password'));
  await operator.ready('Flow', 'strange');
  expect(operator.condition('Flow', 'strange', 'Stalled')).toBeUndefined();
});

test('a spec that isn’t one is Stalled and names each field', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('hook.yaml', hook('one', { url: 'http://plain.example.com', colour: 'red' }));
  const operator = await site.begin();
  const { message } = await operator.says('Webhook', 'one', 'Invalid');
  expect(message).toContain('spec.url');
  expect(message).toContain('colour');
});

test('a realm that a person made is left alone until an administrator allows its adoption', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write('realm.yaml', theRealm({ settings: { accessTokenTtlSeconds: 600 } }));
  const operator = await site.begin();
  const { message } = await operator.says('Realm', 'here', 'RealmExists');
  const manager = 'k8s:test/default/Realm/here';
  expect(message).toContain(`realmctl managers allow ${site.realm} '${manager}'`);
  expect((await settings())?.accessTokenTtlSeconds).toBe(3600);
  await site.server.admin.call(putAdoption, {
    params: { realm: site.realm },
    body: { managers: ['k8s:test/other/*'] },
  });
  await operator.idle();
  await site.server.admin.call(putAdoption, { params: { realm: site.realm }, body: { managers: ['k8s:*/default/*'] } });
  await operator.ready('Realm', 'here');
  expect((await settings())?.accessTokenTtlSeconds).toBe(600);
});

test('the operator’s own namespace adopts an existing realm without being asked', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write('realm.yaml', theRealm({ settings: { displayName: 'Ours' } }, { namespace: 'realmkeeper' }));
  const operator = await site.begin({ operatorNamespace: 'realmkeeper' });
  await operator.ready('Realm', 'here', 'realmkeeper');
  expect((await settings())?.displayName).toBe('Ours');
});

test('master can be declared only in the operator’s own namespace', async () => {
  const master = (namespace: string) =>
    resource('Realm', 'master', { realm: 'master', settings: { welcomeText: namespace } }, { namespace });
  await site.folder.write('realm.yaml', master('default'), master('realmkeeper'));
  const operator = await site.begin({ operatorNamespace: 'realmkeeper' });
  await operator.says('Realm', 'master', 'RealmProtected');
  await operator.ready('Realm', 'master', 'realmkeeper');
});

test('Realm resources of namespaces that --realm-namespaces leaves out do not count', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('hook.yaml', hook('one'));
  const operator = await site.begin({
    realmNamespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'identity' } },
  });
  await operator.says('Realm', 'here', 'NamespaceNotAllowed');
  await operator.says('Webhook', 'one', 'RealmNotDeclared');
});

test('a file that can’t be read at run time leaves what was read before in force', async () => {
  await site.folder.write('realm.yaml', theRealm({ settings: { displayName: 'Before' } }));
  await site.folder.write('hook.yaml', hook('one'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'one');
  await site.folder.writeText('realm.yaml', 'apiVersion: [unclosed');
  await eventually(() => expect(operator.lines.some((line) => line.includes('the last valid state stays'))).toBe(true));
  const told = operator.lines.length;
  // still looked after
  const [found] = await webhooks();
  await site.server.admin.call(deleteWebhook, { params: { realm: site.realm, id: found?.id ?? '' } });
  await eventually(async () => expect(await webhooks()).toHaveLength(1));
  await site.server.admin.call(putSettings, { params: { realm: site.realm }, body: { displayName: 'Drifted' } });
  await eventually(async () => expect((await settings())?.displayName).toBe('Before'));
  expect(operator.lines.slice(told).filter((line) => line.includes('stays'))).toEqual([]);
  await site.folder.write('realm.yaml', theRealm({ settings: { displayName: 'After' } }));
  await eventually(async () => expect((await settings())?.displayName).toBe('After'));
});

test('a file that can’t be read at the start stops the start and is named', async () => {
  await site.folder.writeText('broken.yaml', 'kind: [');
  await expect(site.begin()).rejects.toThrow(/broken\.yaml/);
});
