// Who owns an object keeps it until somebody takes it over by name: resources, clusters and a person's CLI alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { getRealm, putAdoption } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { importRealm, listManagers, type RealmDocument, releaseManager } from '../../server/contract/transfer.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { createFolder, NOTICED_MS, operatorSite, resource } from '../support/operator.ts';
import { asOperator, realmctl } from '../support/realmctl.ts';

const WAY = 'remove the declaration here or there, or take it over once with spec.force: true';
const site = operatorSite({ name: 'owned' });
const url = (who: string) => `https://${who}.example.com/`;
const theRealm = (more: object = {}, metadata = {}) =>
  resource('Realm', 'here', { realm: site.realm, ...more }, metadata);
const hook = (who: string, more: object = {}, metadata = {}) =>
  resource('Webhook', who, { realm: site.realm, name: 'shared', url: url(who), eventTypes: ['*'], ...more }, metadata);
const params = () => ({ realm: site.realm });
const live = async () =>
  (await site.server.admin.call(listWebhooks, { params: params() })).body?.map((found) => found.url);
const owner = async () =>
  (await site.server.admin.call(listManagers, { params: params() })).body?.find(({ owns }) =>
    owns.some(({ kind }) => kind === 'webhook'),
  )?.manager;
const revision = async () => (await site.server.admin.call(getRealm, { params: params() })).body?.revision;
const displayName = async () => (await site.server.admin.call(getSettings, { params: params() })).body?.displayName;

/** As `realmctl apply` does. */
const byHand = (document: RealmDocument, query: { force?: 'true' } = {}) =>
  site.server.admin.call(importRealm, { params: params(), query: { manager: 'realmctl', ...query }, body: document });
const handmade = (): RealmDocument => ({
  webhooks: [{ name: 'shared', url: url('by-hand'), eventTypes: '*', enabled: true }],
});
/** Longer than the operator takes to see a change of the realm. */
async function restsAsItIs(): Promise<void> {
  const before = await revision();
  await sleep(NOTICED_MS);
  expect(await revision()).toBe(before);
}

test('force takes over and says from whom; the first is Stalled, names the second, and goes on when that is gone', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await site.folder.write('b.yaml', hook('second'));
  expect((await operator.says('Webhook', 'second', 'Conflict')).message).toContain('k8s:test/default/Webhook/first');
  await site.folder.write('b.yaml', hook('second', { force: true }));
  await operator.ready('Webhook', 'second');
  const taken = 'take over webhook shared from k8s:test/default/Webhook/first';
  expect(operator.status('Webhook', 'second')?.lastPlan?.summary).toContain(taken);
  expect((await operator.says('Webhook', 'first', 'Conflict')).message).toContain('k8s:test/default/Webhook/second');
  expect(await live()).toEqual([url('second')]);
  await restsAsItIs();
  await site.folder.remove('b.yaml');
  await operator.gone('Webhook', 'second');
  await operator.ready('Webhook', 'first');
  expect(await live()).toEqual([url('first')]);
});

test('of two that both force each takes once for each change of its spec, and then they rest', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first', { force: true }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await site.folder.write('b.yaml', hook('second', { force: true }));
  await operator.ready('Webhook', 'second');
  expect((await operator.says('Webhook', 'first', 'Conflict')).message).toContain('does not take back');
  await restsAsItIs();
  await site.folder.write('a.yaml', hook('first', { force: true, enabled: false }));
  await operator.took('Webhook', 'first', { enabled: false });
  await operator.ready('Webhook', 'first');
  await operator.says('Webhook', 'second', 'Conflict');
  await restsAsItIs();
  expect(await live()).toEqual([url('first')]);
});

test('what a person applied with the CLI is theirs until force, and what they take over stays theirs', async () => {
  await site.folder.write('realm.yaml', theRealm());
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await byHand(handmade());
  await site.folder.write('a.yaml', hook('first'));
  expect((await operator.says('Webhook', 'first', 'Conflict')).message).toBe(
    `webhook shared is managed by realmctl; ${WAY}`,
  );
  await site.folder.write('a.yaml', hook('first', { force: true }));
  await operator.ready('Webhook', 'first');
  expect(operator.status('Webhook', 'first')?.lastPlan?.summary).toContain('from realmctl');
  await expect(byHand(handmade())).rejects.toMatchObject({ status: 409 });
  await byHand(handmade(), { force: 'true' });
  expect((await operator.says('Webhook', 'first', 'Conflict')).message).toContain(
    'webhook shared is managed by realmctl',
  );
  await restsAsItIs();
  expect(await live()).toEqual([url('by-hand')]);
});

test('realmctl is refused with the owner’s name where a resource has it, and takes over by --force', async () => {
  const apply = (...args: string[]) =>
    realmctl(asOperator(site.server), ['apply', '-f', '-', '--yes', ...args], { stdin: stringify(hook('by-hand')) });
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  const refused = await apply();
  expect([refused.code, refused.stdout]).toEqual([2, expect.stringContaining('k8s:test/default/Webhook/first')]);
  expect(await apply('--force')).toMatchObject({ code: 0 });
  expect((await operator.says('Webhook', 'first', 'Conflict')).message).toBe(
    `webhook shared is managed by realmctl; ${WAY}`,
  );
  await site.folder.write('a.yaml', hook('first', { force: true }));
  await operator.ready('Webhook', 'first');
  expect((await apply()).code).toBe(2);
  expect(await live()).toEqual([url('first')]);
});

test.each([['keep'], ['delete']] as const)(
  'what a person gives up (objects=%s) goes to the resource that waits for it, untouched by anybody',
  async (objects) => {
    await site.folder.write('realm.yaml', theRealm());
    const operator = await site.begin();
    await operator.ready('Realm', 'here');
    await byHand(handmade());
    await site.folder.write('a.yaml', hook('first'));
    await operator.says('Webhook', 'first', 'Conflict');
    await site.server.admin.call(releaseManager, { params: { ...params(), manager: 'realmctl' }, query: { objects } });
    await operator.ready('Webhook', 'first');
    expect(await live()).toEqual([url('first')]);
  },
);

test('a resource that is deleted with Retain leaves its object to the one that waits for it', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('a.yaml', hook('first', { deletionPolicy: 'Retain' }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await site.folder.write('b.yaml', hook('second'));
  await operator.says('Webhook', 'second', 'Conflict');
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'first');
  await operator.ready('Webhook', 'second');
  expect(await live()).toEqual([url('second')]);
});

test('two clusters: the second is Stalled and names the first by its cluster, force takes over, deletion gives back', async () => {
  const east = await createFolder();
  try {
    await site.folder.write('realm.yaml', theRealm());
    await site.folder.write('a.yaml', hook('first'));
    const here = await site.begin();
    await here.ready('Webhook', 'first');
    await site.server.admin.call(putAdoption, { params: params(), body: { managers: ['k8s:east/*'] } });
    await east.write('realm.yaml', theRealm());
    await east.write('a.yaml', hook('first', { url: url('east') }));
    const there = await site.begin({ dir: east.dir, clusterName: 'east' });
    expect((await there.says('Webhook', 'first', 'Conflict')).message).toContain('k8s:test/default/Webhook/first');
    await east.write('a.yaml', hook('first', { url: url('east'), force: true }));
    await there.ready('Webhook', 'first');
    expect((await here.says('Webhook', 'first', 'Conflict')).message).toContain('k8s:east/default/Webhook/first');
    await restsAsItIs();
    expect(await live()).toEqual([url('east')]);
    await east.remove('a.yaml');
    await there.gone('Webhook', 'first');
    await here.ready('Webhook', 'first');
    expect(await live()).toEqual([url('first')]);
  } finally {
    await east.drop();
  }
});

test('a Realm takes single settings over, and leaves what it does not declare to their owner', async () => {
  await site.folder.write('realm.yaml', theRealm());
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await byHand({ realm: { displayName: 'By hand', accessTokenTtlSeconds: 700 } });
  const settings = { displayName: 'Declared' };
  await site.folder.write('realm.yaml', theRealm({ settings }));
  await operator.took('Realm', 'here', { settings });
  expect((await operator.says('Realm', 'here', 'Conflict')).message).toBe(
    `settings ${site.realm} (displayName) is managed by realmctl; ${WAY}`,
  );
  await site.folder.write('realm.yaml', theRealm({ settings, force: true }));
  await operator.took('Realm', 'here', { force: true });
  await operator.ready('Realm', 'here');
  expect(await displayName()).toBe('Declared');
  const { body = [] } = await site.server.admin.call(listManagers, { params: params() });
  expect(body.find(({ manager }) => manager === 'realmctl')?.owns).toMatchObject([{ key: 'accessTokenTtlSeconds' }]);
});

test('outside the Realm’s namespace force takes from one’s own namespace alone', async () => {
  const shop = { namespace: 'shop' };
  await site.folder.write('realm.yaml', theRealm({ allowedNamespaces: { from: 'All' } }));
  await site.folder.write('a.yaml', hook('first'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await site.folder.write('b.yaml', hook('second', { force: true }, shop));
  const refused = await operator.says('Webhook', 'second', 'ForceNotAllowed', 'shop');
  expect(refused.message).toContain('k8s:test/default/Webhook/first');
  await restsAsItIs();
  expect(await owner()).toBe('k8s:test/default/Webhook/first');
  await site.folder.remove('a.yaml');
  await operator.ready('Webhook', 'second', 'shop');
  await site.folder.write('c.yaml', hook('third', { force: true }, shop));
  await operator.ready('Webhook', 'third', 'shop');
  expect(await live()).toEqual([url('third')]);
  // whoever has the realm has the last word
  await site.folder.write('a.yaml', hook('first', { force: true }));
  await operator.ready('Webhook', 'first');
  expect(await owner()).toBe('k8s:test/default/Webhook/first');
});
