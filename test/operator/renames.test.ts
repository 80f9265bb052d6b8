// What a resource no longer declares and something still needs: kept, told, let alone, and gone when its last user has moved.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClient, deleteClient, listClients } from '../../server/contract/clients.ts';
import { listFlows } from '../../server/contract/flows.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'renamed' });
const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
const app = (clientId: string, more: object = {}) => ({ clientId, grantTypes: ['client_credentials'], ...more });
const theRealm = (name: string, more: object = {}) =>
  resource('Realm', 'here', { realm: site.realm, clients: [app(name)], ...more });
const workload = (clientId: string) =>
  resource('WorkloadIdentity', 'ci', {
    realm: site.realm,
    issuer: 'https://issuer.example.com',
    subject: 'ci',
    audience: 'it',
    clientId,
  });
const params = () => ({ realm: site.realm });
const clients = async () =>
  (await site.server.admin.call(listClients, { params: params() })).body?.map(({ clientId }) => clientId).sort();
const flows = async () =>
  (await site.server.admin.call(listFlows, { params: params() })).body?.map(({ alias }) => alias).sort();
const revision = async () => (await site.server.admin.call(getRealm, { params: params() })).body?.revision;

test('it is Reconciling, InUse, by whom; that is not planned all the time nor ever written; its user’s move is seen at once', async () => {
  const planned: string[] = [];
  const counting: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    if (pathname.endsWith('/import')) planned.push(searchParams.get('manager') ?? '');
    return fetch(input, init);
  };
  await site.folder.write('realm.yaml', theRealm('old'));
  await site.folder.write('ci.yaml', workload('old'));
  const operator = await site.begin({ fetch: counting });
  await operator.ready('WorkloadIdentity', 'ci');
  await site.folder.write('realm.yaml', theRealm('new'));
  const { message, type, status } = await operator.says('Realm', 'here', 'InUse');
  expect([type, status, message]).toEqual([
    'Reconciling',
    'True',
    'kept until nothing in the realm needs it any more: client old (used by workloadIdentity ci)',
  ]);
  expect(operator.condition('Realm', 'here')).toMatchObject({ status: 'False', reason: 'Waiting' });
  expect(await clients()).toEqual(['new', 'old']);
  await sleep(3_000);
  const [before, told] = [await revision(), structuredClone(operator.status('Realm', 'here'))];
  planned.length = 0;
  await sleep(3_000);
  expect(planned.length).toBeLessThanOrEqual(3);
  expect(await revision()).toBe(before);
  expect(operator.status('Realm', 'here')).toEqual(told);
  await site.folder.write('ci.yaml', workload('new'));
  await operator.ready('WorkloadIdentity', 'ci');
  await eventually(async () => expect(await clients()).toEqual(['new']), 5_000);
  await operator.ready('Realm', 'here');
});

test('a person’s client that goes is seen, too, and the end of what was kept is no drift: under Report it goes', async () => {
  const flow = (alias: string) =>
    resource('Flow', 'steps', { realm: site.realm, alias, executions, driftPolicy: 'Report' });
  await site.folder.write('realm.yaml', resource('Realm', 'here', { realm: site.realm }));
  await site.folder.write('flow.yaml', flow('old'));
  const operator = await site.begin();
  await operator.ready('Flow', 'steps');
  const body = { clientId: 'by-hand', flowOverride: 'old' };
  const { body: client } = await site.server.admin.call(createClient, { params: params(), body });
  await site.folder.write('flow.yaml', flow('new'));
  expect((await operator.says('Flow', 'steps', 'InUse')).message).toContain('flow old (used by client by-hand)');
  expect(await flows()).toEqual(['browser', 'new', 'old']);
  await site.server.admin.call(deleteClient, { params: { ...params(), id: client?.id ?? '' } });
  await operator.ready('Flow', 'steps');
  expect(operator.condition('Flow', 'steps', 'Drifted')).toBeUndefined();
  expect(await flows()).toEqual(['browser', 'new']);
});

test('a guest is told that it is in use, and not by what of the realm', async () => {
  const shop = { namespace: 'shop' };
  const flow = (alias: string) => resource('Flow', 'steps', { realm: site.realm, alias, executions }, shop);
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'here', { realm: site.realm, allowedNamespaces: { from: 'All' } }),
  );
  await site.folder.write('flow.yaml', flow('old'));
  const operator = await site.begin();
  await operator.ready('Flow', 'steps', 'shop');
  const body = { clientId: 'secret-plans', flowOverride: 'old' };
  await site.server.admin.call(createClient, { params: params(), body });
  await site.folder.write('flow.yaml', flow('new'));
  expect((await operator.says('Flow', 'steps', 'InUse', 'shop')).message).toBe(
    'kept until nothing in the realm needs it any more: flow old',
  );
  expect(JSON.stringify(operator.status('Flow', 'steps', 'shop'))).not.toContain('secret-plans');
  expect(operator.lines.filter((line) => line.includes('secret-plans'))).toEqual([]);
});

test('what is kept doesn’t hold up the rest: drift is repaired, and a new spec applied', async () => {
  await site.folder.write('realm.yaml', theRealm('old', { settings: { displayName: 'One' } }));
  await site.folder.write('ci.yaml', workload('old'));
  const operator = await site.begin();
  await operator.ready('WorkloadIdentity', 'ci');
  await site.folder.write('realm.yaml', theRealm('new', { settings: { displayName: 'Two' } }));
  await operator.says('Realm', 'here', 'InUse');
  const name = async () => (await site.server.admin.call(getRealm, { params: params() })).body?.displayName;
  await site.server.admin.call(putSettings, { params: params(), body: { displayName: 'By hand' } });
  await eventually(async () => expect(await name()).toBe('Two'));
  await site.folder.write('realm.yaml', theRealm('new', { settings: { displayName: 'Three' } }));
  await eventually(async () => expect(await name()).toBe('Three'));
  expect(await clients()).toEqual(['new', 'old']);
  await site.folder.write('realm.yaml', theRealm('old', { settings: { displayName: 'Three' } }));
  await operator.ready('Realm', 'here');
  expect(await clients()).toEqual(['old']);
});

test('what is refused by what it saw just before another resource wrote what it lacks, is looked at again', async () => {
  await site.folder.write('realm.yaml', resource('Realm', 'here', { realm: site.realm }));
  const refused = Promise.withResolvers<void>();
  let held = async () => {};
  const meanwhile: typeof fetch = async (input, init) => {
    if (String(input).includes('Realm%2Fhere')) await held();
    const answer = await fetch(input, init);
    if (answer.status !== 400 || !String(input).includes('WorkloadIdentity')) return answer;
    // it hears of its refusal only when the Realm has made the client
    refused.resolve();
    await operator.ready('Realm', 'here');
    return answer;
  };
  const operator = await site.begin({ fetch: meanwhile });
  await operator.ready('Realm', 'here');
  held = () => refused.promise;
  await site.folder.write('realm.yaml', theRealm('new'), workload('new'));
  await operator.took('Realm', 'here', { clients: [app('new')] });
  await refused.promise;
  // long before it would be looked at anyway
  await eventually(
    () => expect(operator.condition('WorkloadIdentity', 'ci')).toMatchObject({ status: 'True' }),
    20_000,
  );
});
