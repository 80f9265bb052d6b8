// driftPolicy: Report says what differs, field by field and without secrets, and writes nothing until a person decides.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClientSecret, listClients, putClient } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { createRealm, deleteRealm, getRealm, putAdoption } from '../../server/contract/realms.ts';
import { createRole, deleteRole, listRoles } from '../../server/contract/roles.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { deleteWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { CALLBACK, getCode, makePeopledRealm } from '../support/applications.ts';
import { eventually, NOTICED_MS, operatorSite, resource, secret, type TestOperator } from '../support/operator.ts';

const site = operatorSite({ name: 'reports' });
const params = () => ({ realm: site.realm });
const value = 'svc_cs_0123456789abcdefghijklmnopqrstuv';
const theRealm = (more: object = {}) =>
  resource('Realm', 'here', { realm: site.realm, driftPolicy: 'Report', ...more });
const hook = (more: object = {}) =>
  resource('Webhook', 'listen', {
    realm: site.realm,
    driftPolicy: 'Report',
    url: 'https://receiver.example.com/',
    eventTypes: ['LOGIN_SUCCESS'],
    ...more,
  });
const change = (body: object) => site.server.admin.call(putSettings, { params: params(), body });
const changes = (operator: TestOperator, kind: 'Realm' | 'Webhook' = 'Realm', name = 'here') =>
  operator.status(kind, name)?.lastPlan?.changes;
const isIn = (operator: TestOperator, kind: 'Realm' | 'Webhook' = 'Realm', name = 'here') =>
  eventually(() => {
    expect(operator.condition(kind, name, 'Drifted')).toBeUndefined();
    expect(operator.condition(kind, name)).toMatchObject({ status: 'True', reason: 'Applied' });
  });
/** The realm's revision and the newest audited event. */
const trace = async () => ({
  revision: (await site.server.admin.call(getRealm, { params: params() })).body?.revision,
  newest: (await site.server.admin.call(listEvents, { params: params(), query: { limit: 1 } })).body?.[0]?.id,
});
/** Nothing is written for longer than the operator takes to see a change, neither there nor into the status. */
async function restsAsItIs(operator: TestOperator): Promise<void> {
  const before = [await trace(), structuredClone(operator.source.list())];
  await sleep(NOTICED_MS);
  expect([await trace(), structuredClone(operator.source.list())]).toEqual(before);
}

test('what differs is told from → to, nothing is written, and it is gone once the difference is', async () => {
  await site.folder.write(
    'realm.yaml',
    theRealm({ settings: { displayName: 'Declared', accessTokenTtlSeconds: 600 } }),
  );
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await change({ displayName: 'By hand', accessTokenTtlSeconds: 700 });
  await operator.says('Realm', 'here', 'DriftFound');
  expect(changes(operator)).toEqual([
    `settings ${site.realm}: displayName "By hand" → "Declared"`,
    `settings ${site.realm}: accessTokenTtlSeconds 700 → 600`,
  ]);
  await restsAsItIs(operator);
  await change({ displayName: 'Declared' });
  await eventually(() => expect(changes(operator)).toHaveLength(1));
  await change({ accessTokenTtlSeconds: 600 });
  await isIn(operator);
  expect(changes(operator)).toBeUndefined();
});

test('a secret that differs is told as *** on both sides', async () => {
  const clients = [
    { clientId: 'app', grantTypes: ['client_credentials'], secretKeyRef: { name: 'secrets', key: 'app' } },
  ];
  await site.folder.write('realm.yaml', secret('secrets', { app: value }), theRealm({ clients }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  const { body: found = [] } = await site.server.admin.call(listClients, { params: params() });
  const id = found.find(({ clientId }) => clientId === 'app')?.id ?? '';
  const made = await site.server.admin.call(createClientSecret, { params: { ...params(), id } });
  await operator.says('Realm', 'here', 'DriftFound');
  expect(changes(operator)).toEqual(['client app: secret "***" → "***"']);
  const said = JSON.stringify([operator.source.list(), operator.lines]);
  expect(said).not.toContain(value);
  expect(said).not.toContain(made.body?.secret);
  await site.server.admin.call(putClient, { params: { ...params(), id }, body: { secret: value } });
  await isIn(operator);
});

test('of many differences at most twenty are told', async () => {
  const roles = Array.from({ length: 30 }, (_, i) => ({ name: `role-${i}`, description: 'declared' }));
  await site.folder.write('realm.yaml', theRealm({ roles }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  const { body: found = [] } = await site.server.admin.call(listRoles, { params: params(), query: { limit: 100 } });
  for (const { id, name } of found.filter((role) => role.name.startsWith('role-'))) {
    await site.server.admin.call(deleteRole, { params: { ...params(), id } });
    if (name === 'role-0') await site.server.admin.call(createRole, { params: params(), body: { name } });
  }
  await eventually(() => expect(operator.condition('Realm', 'here', 'Drifted')?.message).toContain('25 more'));
  expect(changes(operator)).toHaveLength(20);
  expect(operator.condition('Realm', 'here', 'Drifted')?.message).toContain('and 25 more');
});

test('an object that is deleted, and a realm, is told and not made again', async () => {
  await site.folder.write('realm.yaml', theRealm(), hook());
  const operator = await site.begin();
  await operator.ready('Webhook', 'listen');
  const { body: hooks = [] } = await site.server.admin.call(listWebhooks, { params: params() });
  await site.server.admin.call(deleteWebhook, { params: { ...params(), id: hooks[0]?.id ?? '' } });
  await operator.says('Webhook', 'listen', 'DriftFound');
  expect(changes(operator, 'Webhook', 'listen')).toEqual(['webhook listen: create']);
  await restsAsItIs(operator);
  await site.server.admin.call(deleteRealm, { params: params() });
  await operator.says('Realm', 'here', 'DriftFound');
  expect(changes(operator)).toEqual([`realm ${site.realm}: create`]);
  await sleep(NOTICED_MS);
  await expect(site.server.admin.call(getRealm, { params: params() })).rejects.toMatchObject({ status: 404 });
});

test('made again by a person it is theirs: Report or not, nobody takes it', async () => {
  await site.folder.write('realm.yaml', theRealm({ settings: { displayName: 'Declared' } }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await site.server.admin.call(deleteRealm, { params: params() });
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await operator.says('Realm', 'here', 'RealmExists');
});

test('what another manager took over is a conflict, not drift', async () => {
  await site.folder.write('realm.yaml', theRealm({ settings: { displayName: 'Declared' } }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await site.server.admin.call(importRealm, {
    params: params(),
    query: { manager: 'realmctl', force: 'true' },
    body: { realm: { displayName: 'Taken' } },
  });
  expect((await operator.says('Realm', 'here', 'Conflict')).message).toContain('realmctl');
  expect(operator.condition('Realm', 'here', 'Drifted')).toBeUndefined();
});

test('Correct again, and what was reported is repaired', async () => {
  const settings = { displayName: 'Declared' };
  await site.folder.write('realm.yaml', theRealm({ settings }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await change({ displayName: 'By hand' });
  await operator.says('Realm', 'here', 'DriftFound');
  await site.folder.write('realm.yaml', theRealm({ settings, driftPolicy: 'Correct' }));
  await operator.took('Realm', 'here', { driftPolicy: 'Correct' });
  await isIn(operator);
  expect((await site.server.admin.call(getSettings, { params: params() })).body?.displayName).toBe('Declared');
});

test('a correction that locks people out is told as a warning before, and whom it touches stays in the status', async () => {
  const spa = { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] };
  await makePeopledRealm(site.server, site.realm);
  await site.server.admin.call(putAdoption, { params: params(), body: { managers: ['k8s:*'] } });
  await getCode(site.server, site.realm, 'spa');
  const theirs = (more: object = {}) => theRealm({ driftPolicy: 'Correct', clients: [{ ...spa, ...more }] });
  await site.folder.write('realm.yaml', theirs());
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await site.folder.write('realm.yaml', theirs({ enabled: false }));
  await operator.took('Realm', 'here', theirs({ enabled: false }).spec as object);
  const words = 'client spa: gets no tokens any more, and nobody signs in to it (1 live session, 1 person, 1 client)';
  await eventually(() => expect(operator.status('Realm', 'here')?.lastPlan?.consequences).toEqual([words]));
  const told = operator.lines.filter((line) => line.includes('client spa'));
  expect(told[0]).toBe(`Realm default/here: LocksOut: ${words}`);
  expect(told[1]).toContain('update client spa');
});
