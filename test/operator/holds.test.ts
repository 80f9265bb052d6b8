// A hold, as the operator sees it: it reports what differs and who keeps it, repairs the rest, and repairs it when the hold ends.
import { expect, test } from 'vitest';
import { createOperatorMetrics } from '../../operator/metrics.ts';
import { listClients, putClient } from '../../server/contract/clients.ts';
import { endHold, type HeldThing, placeHold } from '../../server/contract/holds.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { listWebhooks, putWebhook } from '../../server/contract/webhooks.ts';
import { eventually, operatorSite, resource } from '../support/operator.ts';

const HOUR = 3_600_000;
const site = operatorSite({ name: 'held' });
const params = () => ({ realm: site.realm });
const theRealm = (more: object = {}) =>
  resource('Realm', 'here', {
    realm: site.realm,
    settings: { displayName: 'Declared' },
    clients: [{ clientId: 'shop', name: 'Shop' }],
    ...more,
  });
const hook = () =>
  resource('Webhook', 'listen', {
    realm: site.realm,
    url: 'https://receiver.example.com/',
    eventTypes: ['LOGIN_SUCCESS'],
  });
const hold = async (what: HeldThing[]) =>
  (
    await site.server.admin.call(placeHold, {
      params: params(),
      body: { what, reason: 'the shop is down', until: Date.now() + HOUR },
    })
  ).body!;
const unhold = (id: string) => site.server.admin.call(endHold, { params: { ...params(), id } });
const shop = async () =>
  (await site.server.admin.call(listClients, { params: params() })).body?.find(({ clientId }) => clientId === 'shop');
const edit = async (body: object) =>
  site.server.admin.call(putClient, { params: { ...params(), id: (await shop())?.id ?? '' }, body });
const displayName = async () => (await site.server.admin.call(getSettings, { params: params() })).body?.displayName;

test('what is held is reported and stays, its neighbours are repaired, and the end of the hold repairs it', async () => {
  await site.folder.write('realm.yaml', theRealm());
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  const placed = await hold([{ kind: 'client', key: 'shop' }]);
  await edit({ name: 'By hand' });
  await site.server.admin.call(putSettings, { params: params(), body: { displayName: 'By hand' } });
  await eventually(async () => {
    expect(operator.condition('Realm', 'here', 'Held')?.message).toMatch(
      /^client shop is held by admin until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: the shop is down; it differs in name$/,
    );
    expect(await displayName()).toBe('Declared');
  });
  await operator.idle();
  expect(operator.condition('Realm', 'here', 'Held')).toMatchObject({ status: 'True', reason: 'Held' });
  expect(operator.condition('Realm', 'here')).toMatchObject({ status: 'True' });
  expect((await shop())?.name).toBe('By hand');
  const metrics = createOperatorMetrics({ processMetrics: false });
  metrics.observe({ depth: () => 0, resources: operator.source.list });
  expect(await metrics.text()).toContain('svc_operator_held{kind="Realm",namespace="default",name="here"} 1');
  expect(operator.lines.filter((line) => /: Held: client shop is held by admin/.test(line))).toHaveLength(1);
  await unhold(placed.id);
  await eventually(async () => {
    expect((await shop())?.name).toBe('Shop');
    expect(operator.condition('Realm', 'here', 'Held')).toBeUndefined();
  });
  expect(await metrics.text()).not.toContain('svc_operator_held{');
});

test('a spec that changes a held object is applied when the hold ends, under Report too', async () => {
  await site.folder.write('realm.yaml', theRealm({ driftPolicy: 'Report' }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  const placed = await hold([{ kind: 'client', key: 'shop' }]);
  const clients = [{ clientId: 'shop', name: 'Shop 2' }];
  await site.folder.write(
    'realm.yaml',
    theRealm({ driftPolicy: 'Report', clients, settings: { displayName: 'Next' } }),
  );
  await eventually(async () => {
    expect(operator.condition('Realm', 'here', 'Held')?.message).toMatch(/it differs in name$/);
    expect([await displayName(), (await shop())?.name]).toEqual(['Next', 'Shop']);
  });
  await unhold(placed.id);
  await eventually(async () => expect((await shop())?.name).toBe('Shop 2'));
});

test('a resource whose object is held and which is deleted waits for the end of the hold', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('hook.yaml', hook());
  const operator = await site.begin();
  await operator.ready('Webhook', 'listen');
  const webhooks = async () => (await site.server.admin.call(listWebhooks, { params: params() })).body ?? [];
  const placed = await hold([{ kind: 'webhook', key: 'listen' }]);
  const [found] = await webhooks();
  await site.server.admin.call(putWebhook, {
    params: { ...params(), id: found?.id ?? '' },
    body: { ...found!, enabled: false },
  });
  await site.folder.remove('hook.yaml');
  const waits = await eventually(() => {
    const condition = operator.condition('Webhook', 'listen', 'Reconciling');
    expect(condition?.reason).toBe('Held');
    return condition;
  });
  expect(waits?.message).toMatch(/^webhook listen is held by admin until .*: the shop is down/);
  expect(await webhooks()).toMatchObject([{ enabled: false }]);
  await unhold(placed.id);
  await operator.gone('Webhook', 'listen');
  expect(await webhooks()).toEqual([]);
});
