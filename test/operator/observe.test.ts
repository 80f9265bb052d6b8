// managementPolicy: Observe says what differs from the first look on, and writes nothing whatever happens.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listEvents } from '../../server/contract/events.ts';
import { createRealm, getRealm, putAdoption } from '../../server/contract/realms.ts';
import { createRole, listRoles } from '../../server/contract/roles.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { importRealm, listManagers } from '../../server/contract/transfer.ts';
import { eventually, NOTICED_MS, operatorSite, resource, secret, type TestOperator } from '../support/operator.ts';

const site = operatorSite({ name: 'observed' });
const params = () => ({ realm: site.realm });
const value = 'svc_cs_0123456789abcdefghijklmnopqrstuv';
const observing = (spec: object, name = 'here') =>
  resource('Realm', name, { realm: site.realm, managementPolicy: 'Observe', ...spec });
const clients = [
  { clientId: 'app', grantTypes: ['client_credentials'], secretKeyRef: { name: 'secrets', key: 'app' } },
];

/** All that a write would leave behind. */
const trace = async () => ({
  revision: (await site.server.admin.call(getRealm, { params: params() })).body?.revision,
  newest: (await site.server.admin.call(listEvents, { params: params(), query: { limit: 1 } })).body?.[0]?.id,
  managers: (await site.server.admin.call(listManagers, { params: params() })).body,
});
const absent = () =>
  expect(site.server.admin.call(getRealm, { params: params() })).rejects.toMatchObject({ status: 404 });
const changes = (operator: TestOperator) => operator.status('Realm', 'here')?.lastPlan?.changes;
/** A realm that people keep, which the operator may look at. */
async function ofPeople(): Promise<void> {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.server.admin.call(putAdoption, { params: params(), body: { managers: ['k8s:test/*'] } });
  await site.server.admin.call(createRole, { params: params(), body: { name: 'editor', description: 'by hand' } });
}

test('what differs is told from the first look on and after each change, and neither object nor owner changes', async () => {
  await ofPeople();
  await site.server.admin.call(importRealm, {
    params: params(),
    query: { manager: 'pipeline' },
    body: { roles: [{ name: 'reader', description: 'theirs' }] },
  });
  const before = await trace();
  await site.folder.write(
    'realm.yaml',
    secret('secrets', { app: value }),
    observing({
      roles: [
        { name: 'editor', description: 'declared' },
        { name: 'reader', description: 'declared' },
      ],
      clients,
    }),
  );
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'DriftFound');
  expect(operator.condition('Realm', 'here')).toMatchObject({ status: 'True', reason: 'Observed' });
  expect(changes(operator)?.sort()).toEqual([
    'client app: create',
    'role editor: description "by hand" → "declared"',
    'role reader: description "theirs" → "declared"',
  ]);
  expect(JSON.stringify([operator.source.list(), operator.lines])).not.toContain(value);
  await sleep(NOTICED_MS);
  expect(await trace()).toEqual(before);

  await site.server.admin.call(importRealm, {
    params: params(),
    query: { manager: 'pipeline' },
    body: { roles: [{ name: 'reader', description: 'declared' }] },
  });
  await eventually(() => expect(changes(operator)).toHaveLength(2));
});

test('a realm that holds what is declared is said to, with what its status shows otherwise', async () => {
  await ofPeople();
  const before = await trace();
  await site.folder.write('realm.yaml', observing({ roles: [{ name: 'editor', description: 'by hand' }] }));
  const operator = await site.begin();
  const { status } = await operator.ready('Realm', 'here');
  expect(operator.condition('Realm', 'here')).toMatchObject({ reason: 'Observed' });
  expect(operator.condition('Realm', 'here', 'Drifted')).toBeUndefined();
  expect(status).toMatchObject({ issuer: `${site.server.baseUrl}/realms/${site.realm}` });
  expect(status).not.toHaveProperty('lastAppliedRevision');
  expect(await trace()).toEqual(before);
});

test('a realm that is not there is told and not made, also where its clients name a flow that is not there', async () => {
  await site.folder.write('realm.yaml', observing({ settings: { displayName: 'Declared' } }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'DriftFound');
  expect(changes(operator)?.[0]).toBe(`realm ${site.realm}: create`);
  await absent();
  await site.folder.write('realm.yaml', observing({ settings: { browserFlow: 'of-ours' } }));
  await operator.says('Realm', 'here', 'FlowMissing');
  await absent();
});

test('what attaches to a realm that is only looked at waits, and says that nobody makes it', async () => {
  await site.folder.write(
    'realm.yaml',
    observing({}),
    resource('Webhook', 'listen', {
      realm: site.realm,
      url: 'https://receiver.example.com/',
      eventTypes: ['LOGIN_SUCCESS'],
    }),
  );
  const operator = await site.begin();
  expect((await operator.says('Webhook', 'listen', 'RealmMissing')).message).toContain('the Realm here only looks');
  await absent();
});

test('a realm that is others’ is not shown to who may not declare it', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write('realm.yaml', observing({ settings: { displayName: 'guessed' } }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'RealmExists');
  expect(operator.status('Realm', 'here')?.lastPlan).toBeUndefined();
});

test('Manage takes over what was looked at; Observe again, and a deletion leaves what is there and who owns it', async () => {
  await ofPeople();
  const roles = [{ name: 'editor', description: 'declared' }];
  await site.folder.write('realm.yaml', observing({ roles }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'DriftFound');
  await site.folder.write('realm.yaml', observing({ roles, managementPolicy: 'Manage' }));
  await operator.says('Realm', 'here', 'Applied');
  const role = async () =>
    (await site.server.admin.call(listRoles, { params: params() })).body?.find(({ name }) => name === 'editor');
  expect(await role()).toMatchObject({ description: 'declared' });

  await site.folder.write('realm.yaml', observing({ roles: [], deletionPolicy: 'Delete' }));
  await operator.says('Realm', 'here', 'DriftFound');
  expect(changes(operator)).toEqual(['role editor: delete']);
  const before = await trace();
  expect(before.managers).toMatchObject([{ manager: 'k8s:test/default/Realm/here' }]);
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  expect(await trace()).toEqual(before);
});

test('settings that people change while they are looked at stay theirs', async () => {
  await ofPeople();
  await site.folder.write('realm.yaml', observing({ settings: { displayName: 'Declared' }, driftPolicy: 'Correct' }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'DriftFound');
  await site.server.admin.call(putSettings, { params: params(), body: { displayName: 'By hand' } });
  const words = `settings ${site.realm}: displayName "By hand" → "Declared"`;
  await eventually(() => expect(changes(operator)).toEqual([words]));
});
