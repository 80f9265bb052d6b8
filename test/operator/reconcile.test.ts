// Four resources come alive on a real server, drift is repaired, and a pass over what is in sync writes nothing.
import { beforeAll, expect, test } from 'vitest';
import { createClientSecret, listClients } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { getFlow, putFlow } from '../../server/contract/flows.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { deleteWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { eventually, NOTICED_MS, operatorSite, resource, secret, type TestOperator } from '../support/operator.ts';

const site = operatorSite({ name: 'acme', each: 'file' });
let operator: TestOperator;
const realm = 'acme';
const params = { realm };

const theRealm = (settings: object = { accessTokenTtlSeconds: 600, displayName: 'Acme' }, more: object = {}) =>
  resource('Realm', 'acme', {
    realm,
    settings,
    roles: [{ name: 'reader' }],
    clients: [
      {
        clientId: 'app',
        tokenEndpointAuthMethod: 'client_secret_basic',
        grantTypes: ['client_credentials'],
        secretKeyRef: { name: 'acme-secrets', key: 'app' },
      },
    ],
    ...more,
  });
const executions = [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  {
    name: 'Second factor',
    requirement: 'CONDITIONAL',
    executions: [
      { authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' },
      { authenticatorId: 'otp', requirement: 'REQUIRED' },
    ],
  },
];
const theFlow = (more: object = {}) => resource('Flow', 'browser-mfa', { realm, executions, bind: true, ...more });
const theWebhook = (more: object = {}) =>
  resource('Webhook', 'audit', {
    realm,
    url: 'https://receiver.example.com/hook',
    eventTypes: ['LOGIN_SUCCESS', 'LOGIN_FAILURE'],
    enabled: true,
    secretKeyRef: { name: 'acme-secrets', key: 'webhook' },
    ...more,
  });
const theIdentity = resource('WorkloadIdentity', 'ci', {
  realm,
  issuer: 'https://issuer.example.com',
  subject: 'repo:acme/app',
  audience: 'realmkeeper',
  clientId: 'app',
});
const theSecret = secret('acme-secrets', {
  app: 'svc_cs_0123456789abcdefghijklmnopqrstuv',
  webhook: 'a webhook secret of some length',
});

const newestEvent = async () => (await site.server.admin.call(listEvents, { params, query: { limit: 1 } })).body?.[0];
const revision = async () => (await site.server.admin.call(getRealm, { params })).body?.revision;
const settings = async () => {
  const { body } = await site.server.admin.call(getSettings, { params });
  if (!body) throw new Error('no settings');
  return body;
};
const change = (body: object) => site.server.admin.call(putSettings, { params, body });
const webhooks = async () => (await site.server.admin.call(listWebhooks, { params })).body ?? [];
const everythingReady = () =>
  Promise.all([
    operator.ready('Realm', 'acme'),
    operator.ready('Flow', 'browser-mfa'),
    operator.ready('Webhook', 'audit'),
    operator.ready('WorkloadIdentity', 'ci'),
  ]);

beforeAll(async () => {
  // what attaches stands before the Realm, and nothing in the files says in which order
  await site.folder.write('1-attached.yaml', theWebhook(), theFlow(), theIdentity);
  await site.folder.write('2-realm.yaml', theSecret, theRealm());
  operator = await site.begin();
});

test('four resources become a realm with its flow, webhook and workload identity', async () => {
  const [theirRealm] = await everythingReady();
  expect(await settings()).toMatchObject({
    accessTokenTtlSeconds: 600,
    displayName: 'Acme',
    browserFlow: 'browser-mfa',
  });
  expect(await webhooks()).toMatchObject([
    { name: 'audit', eventTypes: 'LOGIN_FAILURE,LOGIN_SUCCESS', secretSet: true },
  ]);
  const { body: flow } = await site.server.admin.call(getFlow, { params: { realm, alias: 'browser-mfa' } });
  expect(flow?.executions).toHaveLength(4);
  const { body: identities } = await site.server.admin.call(listWorkloadIdentities, { params });
  expect(identities).toMatchObject([{ name: 'ci', subject: 'repo:acme/app', clientId: 'app' }]);
  const { body: clients } = await site.server.admin.call(listClients, { params });
  expect(clients).toContainEqual(expect.objectContaining({ clientId: 'app', secretSet: true }));
  expect(theirRealm.status).toMatchObject({
    issuer: `${site.server.baseUrl}/realms/acme`,
    activeKeyId: expect.any(String),
  });
});

test('each status says what a user of the kind looks for, and nothing of a secret', async () => {
  await everythingReady();
  expect(operator.status('Flow', 'browser-mfa')).toMatchObject({ alias: 'browser-mfa', executions: 4 });
  expect(operator.status('Webhook', 'audit')).toMatchObject({ name: 'audit' });
  expect(operator.status('WorkloadIdentity', 'ci')).toMatchObject({ name: 'ci', subject: 'repo:acme/app' });
  const everything = JSON.stringify([operator.source.list().map((r) => r.status), operator.lines]);
  expect(everything).not.toContain('a webhook secret');
  expect(everything).not.toContain('svc_cs_0123');
});

test('a pass over what is in sync writes nothing: no event, no revision, no status', async () => {
  await everythingReady();
  await operator.idle();
  const before = { event: await newestEvent(), revision: await revision() };
  const other = await site.begin();
  const first = await other.ready('Realm', 'acme');
  await other.ready('Flow', 'browser-mfa');
  await other.ready('Webhook', 'audit');
  await other.ready('WorkloadIdentity', 'ci');
  await other.idle();
  const status = first.status;
  await other.stop();
  expect({ event: await newestEvent(), revision: await revision() }).toEqual(before);
  expect(status.conditions).toHaveLength(1);
});

test('a webhook that a person deletes is there again', async () => {
  await everythingReady();
  const [hook] = await webhooks();
  await site.server.admin.call(deleteWebhook, { params: { realm, id: hook?.id ?? '' } });
  const [again] = await eventually(async () => {
    const found = await webhooks();
    expect(found).toHaveLength(1);
    return found;
  });
  expect(again?.id).not.toBe(hook?.id);
  expect(again?.secretSet).toBe(true);
  expect(operator.lines).toContainEqual('Webhook default/audit: create webhook audit');
});

test('a declared setting goes back, a setting that nobody declared stays as a person set it', async () => {
  await everythingReady();
  await change({ accessTokenTtlSeconds: 30, ssoSessionIdleTimeoutSeconds: 77 });
  await eventually(async () => expect((await settings()).accessTokenTtlSeconds).toBe(600));
  await operator.idle();
  expect((await settings()).ssoSessionIdleTimeoutSeconds).toBe(77);
});

test('an execution that a person takes out of a flow comes back in its place', async () => {
  await everythingReady();
  const at = { realm, alias: 'browser-mfa' };
  await site.server.admin.call(putFlow, {
    params: at,
    body: { executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }] },
  });
  await eventually(async () => {
    const { body } = await site.server.admin.call(getFlow, { params: at });
    expect(body?.executions?.map((e) => e.authenticatorId)).toEqual(
      expect.arrayContaining(['username-password', null, 'mfa-enabled', 'otp']),
    );
  });
});

test('a changed file is applied, and what it no longer declares is undone', async () => {
  await everythingReady();
  await site.folder.write('2-realm.yaml', theSecret, theRealm({ accessTokenTtlSeconds: 900 }, { roles: [] }));
  await eventually(async () => expect((await settings()).accessTokenTtlSeconds).toBe(900));
  await site.folder.write('2-realm.yaml', theSecret, theRealm());
  await eventually(async () => expect((await settings()).accessTokenTtlSeconds).toBe(600));
  await everythingReady();
});

test('what is wrong with a changed file is told once, by field, and what was applied stays', async () => {
  await everythingReady();
  for (const mistyped of [700, 800]) {
    await site.folder.write('2-realm.yaml', theSecret, theRealm({ accessTokenTtlSecond: mistyped }));
    await operator.took('Realm', 'acme', { settings: { accessTokenTtlSecond: mistyped } });
    await operator.says('Realm', 'acme', 'Invalid');
  }
  const told = operator.lines.filter((line) => line.startsWith('Realm default/acme: Invalid: '));
  expect(told).toEqual([expect.stringContaining('accessTokenTtlSecond')]);
  expect((await settings()).accessTokenTtlSeconds).toBe(600);
  await site.folder.write('2-realm.yaml', theSecret, theRealm());
  await operator.took('Realm', 'acme', { settings: { accessTokenTtlSeconds: 600 } });
  await everythingReady();
});

test('under Report drift is told field by field and not corrected; a changed spec is still applied', async () => {
  await everythingReady();
  await site.folder.write('1-attached.yaml', theWebhook({ driftPolicy: 'Report' }), theFlow(), theIdentity);
  await operator.took('Webhook', 'audit', { driftPolicy: 'Report' });
  await operator.ready('Webhook', 'audit');
  const [hook] = await webhooks();
  await site.server.admin.call(deleteWebhook, { params: { realm, id: hook?.id ?? '' } });
  const drifted = await eventually(() => {
    const found = operator.condition('Webhook', 'audit', 'Drifted');
    expect(found).toMatchObject({ status: 'True' });
    return found;
  });
  expect(drifted?.message).toBe('create webhook audit');
  expect(operator.status('Webhook', 'audit')?.lastPlan).toMatchObject({ changes: ['webhook audit: create'] });
  expect(operator.condition('Webhook', 'audit')).toMatchObject({ status: 'True' });
  await operator.idle();
  expect(await webhooks()).toEqual([]);

  await site.folder.write(
    '1-attached.yaml',
    theWebhook({ driftPolicy: 'Report', enabled: false }),
    theFlow(),
    theIdentity,
  );
  await eventually(async () => expect(await webhooks()).toMatchObject([{ name: 'audit', enabled: false }]));
  await eventually(() => expect(operator.condition('Webhook', 'audit', 'Drifted')).toBeUndefined());
  await site.folder.write('1-attached.yaml', theWebhook(), theFlow(), theIdentity);
  await eventually(async () => expect(await webhooks()).toMatchObject([{ name: 'audit', enabled: true }]));
});

test('a suspended resource is left alone until it isn’t suspended any more', async () => {
  await everythingReady();
  await site.folder.write('2-realm.yaml', theSecret, theRealm({ accessTokenTtlSeconds: 333 }, { suspend: true }));
  await operator.says('Realm', 'acme', 'Suspended');
  await change({ displayName: 'Changed by a person' });
  await operator.ready('Flow', 'browser-mfa');
  await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
  await operator.idle();
  expect(await settings()).toMatchObject({ displayName: 'Changed by a person', accessTokenTtlSeconds: 600 });
  await site.folder.write('2-realm.yaml', theSecret, theRealm());
  await eventually(async () => expect((await settings()).displayName).toBe('Acme'));
});

test('a rotated Secret reaches the server, and a person who changed the secret there loses', async () => {
  await everythingReady();
  const fresh = 'svc_cs_zyxwvutsrqponmlkjihgfedcba987654';
  await site.folder.write(
    '2-realm.yaml',
    secret('acme-secrets', { app: fresh, webhook: 'another secret of length' }),
    theRealm(),
  );
  const tokenStatus = async () => {
    const response = await fetch(`${site.server.baseUrl}/realms/acme/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`app:${fresh}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return response.status;
  };
  await eventually(async () => expect(await tokenStatus()).toBe(200));
  const { body: clients = [] } = await site.server.admin.call(listClients, { params });
  const id = clients.find(({ clientId }) => clientId === 'app')?.id ?? '';
  await site.server.admin.call(createClientSecret, { params: { realm, id } });
  expect(await tokenStatus()).toBe(401);
  await eventually(async () => expect(await tokenStatus()).toBe(200));
  expect(JSON.stringify(operator.lines)).not.toContain(fresh);
});
