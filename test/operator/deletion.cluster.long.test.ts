// Deletion in every order on a real API server: nothing stays stuck, and nothing of someone else's is removed.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { listFlows } from '../../server/contract/flows.ts';
import { createRealm, deleteRealm, getRealm } from '../../server/contract/realms.ts';
import { importRealm, listManagers } from '../../server/contract/transfer.ts';
import { createWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const root = path.resolve(import.meta.dirname, '../..');
const kinds = 'realms,flows,webhooks,workloadidentities';

describe.skipIf(!assets.found)('deletion', () => {
  const land = landscape({ own: {} });
  let tests = 0;
  let name = '';

  const kubectl = (...args: string[]) => land.kubectl(...args);
  const at = () => ({ namespace: name });
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  const theRealm = (more: object = {}) =>
    resource(
      'Realm',
      'here',
      { realm: name, clients: [{ clientId: 'app', grantTypes: ['client_credentials'] }], ...more },
      at(),
    );
  const flow = (more: object = {}) => resource('Flow', 'steps', { realm: name, executions, ...more }, at());
  const webhook = (more: object = {}) =>
    resource(
      'Webhook',
      'listen',
      {
        realm: name,
        url: 'https://receiver.example.com/',
        eventTypes: ['KEY_DELETED'],
        secretKeyRef: { name: 'signing', key: 'value' },
        ...more,
      },
      at(),
    );
  const identity = (more: object = {}) =>
    resource(
      'WorkloadIdentity',
      'act',
      { realm: name, issuer: 'https://issuer.example.com', subject: 'ci', audience: 'it', clientId: 'app', ...more },
      at(),
    );
  const signing = () => secret('signing', { value: 'a secret of good length' }, name);
  const all = ['realm/here', 'flow/steps', 'webhook/listen', 'workloadidentity/act'];
  const get = (...args: string[]) => kubectl('get', '-n', name, '--ignore-not-found', '-o', 'name', ...args);
  const ready = (...names: string[]) =>
    kubectl('wait', '-n', name, ...names, '--for=condition=Ready', '--timeout=120s');
  const drop = (...names: string[]) => kubectl('delete', '-n', name, '--timeout=120s', ...names);
  const says = (what: string, reason: string) =>
    eventually(async () =>
      expect(await kubectl('get', what, '-n', name, '-o', 'jsonpath={.status.conditions}')).toContain(reason),
    );
  /** A namespace with all four kinds, and in their realm what a person and another cluster have made. */
  async function everything({ realm = {}, attached = {} }: { realm?: object; attached?: object } = {}): Promise<void> {
    tests += 1;
    name = `gone-${tests}`;
    await land.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await land.apply(signing(), theRealm(realm), flow(attached), webhook(attached), identity(attached));
    await ready(...all);
    const body = { url: 'https://person.example.com/', eventTypes: '*', enabled: false };
    await land.client.call(createWebhook, { params: { realm: name }, body: { ...body, name: 'by-hand' } });
    await land.client.call(importRealm, {
      params: { realm: name },
      query: { manager: `k8s:elsewhere/${name}/Webhook/listen` },
      body: { webhooks: [{ ...body, name: 'elsewhere' }] },
    });
  }
  const params = () => ({ realm: name });
  const webhooks = async () =>
    (await land.client.call(listWebhooks, { params: params() })).body?.map((found) => found.name).toSorted();
  const flows = async () =>
    (await land.client.call(listFlows, { params: params() })).body?.flatMap(({ alias, builtIn }) =>
      builtIn ? [] : [alias],
    );
  const identities = async () =>
    (await land.client.call(listWorkloadIdentities, { params: params() })).body?.map((found) => found.name);
  const managers = async () =>
    (await land.client.call(listManagers, { params: params() })).body?.map(({ manager }) => manager);
  const exists = async () =>
    (await land.client.call(getRealm, { params: params() }).catch(() => undefined)) !== undefined;
  const others = ['by-hand', 'elsewhere'];
  async function onlyOthersAreLeft(): Promise<void> {
    expect(await get(kinds)).toBe('');
    expect(await webhooks()).toEqual(others);
    expect(await flows()).toEqual([]);
    expect(await identities()).toEqual([]);
    expect(await managers()).toEqual([`k8s:elsewhere/${name}/Webhook/listen`]);
  }

  test.each<[string, string[][]]>([
    ['the Realm first', [['realm/here'], ['webhook/listen'], ['flow/steps', 'workloadidentity/act']]],
    ['what attaches first', [['flow/steps', 'webhook/listen', 'workloadidentity/act'], ['realm/here']]],
    ['the Secret first', [['secret/signing'], all]],
    ['all at once', [all]],
  ])('%s: the realm stays with what others made in it', async (_, order) => {
    await everything();
    for (const names of order) {
      await drop(...names);
      if (names[0] === 'realm/here' && names.length === 1 && order.length > 2)
        await says('webhook/listen', 'RealmNotDeclared');
    }
    await onlyOthersAreLeft();
  });

  test.each<[string, string[][]]>([
    ['the Realm first', [['realm/here'], ['flow/steps', 'webhook/listen', 'workloadidentity/act']]],
    ['what attaches first', [['flow/steps', 'webhook/listen', 'workloadidentity/act'], ['realm/here']]],
  ])('%s, and with deletionPolicy Delete: the realm is gone', async (_, order) => {
    await everything({ realm: { deletionPolicy: 'Delete' } });
    for (const names of order) await drop(...names);
    expect(await get(kinds)).toBe('');
    expect(await exists()).toBe(false);
  });

  test('deletionPolicy Retain of what attaches: the objects stay, and nobody owns them', async () => {
    await everything({ attached: { deletionPolicy: 'Retain' } });
    await drop(...all);
    expect(await get(kinds)).toBe('');
    expect(await webhooks()).toEqual([...others, 'listen']);
    expect(await flows()).toEqual(['steps']);
    expect(await identities()).toEqual(['act']);
    expect(await managers()).toEqual([`k8s:elsewhere/${name}/Webhook/listen`]);
  });

  test('a namespace at once, with a client that stays and needs its Flow: it goes, and the realm keeps the flow', async () => {
    await everything();
    const clients = [{ clientId: 'app', grantTypes: ['client_credentials'], flowOverride: 'steps' }];
    await land.apply(theRealm({ clients, suspend: false }));
    await eventually(async () => {
      const { metadata, status } = JSON.parse(await kubectl('get', 'realm/here', '-n', name, '-o', 'json'));
      expect(status.lastAppliedGeneration).toBe(metadata.generation);
    });
    await kubectl('delete', 'namespace', name, '--timeout=200s');
    expect(await webhooks()).toEqual(others);
    expect(await flows()).toEqual(['steps']);
    expect(await managers()).toEqual([`k8s:elsewhere/${name}/Webhook/listen`]);
  });

  test('while the operator is away: it is done when it comes back', async () => {
    await everything();
    await land.operator.kill();
    await kubectl('delete', '-n', name, '--wait=false', ...all, 'secret/signing');
    expect(await get(kinds)).not.toBe('');
    await land.operator.start();
    await eventually(onlyOthersAreLeft);
  });

  test('while the server is away: it waits, and is done when that comes back', async () => {
    await everything();
    await land.server.kill();
    await kubectl('delete', '-n', name, '--wait=false', ...all);
    await says('webhook/listen', 'ServerUnreachable');
    await land.server.start();
    await eventually(onlyOthersAreLeft);
  });

  test('of a server that is gone for good: the annotation lets each go, the whole namespace too', async () => {
    await everything();
    await land.server.kill();
    await kubectl('delete', 'namespace', name, '--wait=false');
    await says('realm/here', 'realmkeeper.dev/abandon=true');
    await kubectl('annotate', '-n', name, ...all, 'realmkeeper.dev/abandon=true');
    await kubectl('wait', `namespace/${name}`, '--for=delete', '--timeout=120s');
    await land.server.start();
    expect(await webhooks()).toEqual([...others, 'listen']);
  });

  test.each(['gone', 'somebody else’s now'])('of a realm that was deleted by hand and is %s', async (what) => {
    await everything({ realm: { deletionPolicy: 'Delete' } });
    await land.operator.kill();
    await land.client.call(deleteRealm, { params: params() });
    if (what !== 'gone') {
      await land.client.call(createRealm, { body: { realm: name } });
      const body = { name: 'listen', url: 'https://person.example.com/', eventTypes: '*', enabled: false };
      await land.client.call(createWebhook, { params: params(), body });
    }
    await kubectl('delete', '-n', name, '--wait=false', ...all);
    await land.operator.start();
    await kubectl('wait', '-n', name, ...all, '--for=delete', '--timeout=120s').catch(() => undefined);
    expect(await get(kinds)).toBe('');
    expect(await exists()).toBe(what !== 'gone');
    if (what !== 'gone') expect(await webhooks()).toEqual(['listen']);
  });

  test('with their CRD: the resources let go first, and when it is there again they come alive again', async () => {
    await everything();
    const crd = path.join(root, 'crds/realmkeeper.dev_webhooks.yaml');
    await kubectl('delete', '-f', crd, '--timeout=120s');
    expect(await webhooks()).toEqual(others);
    expect(await flows()).toEqual(['steps']);
    await kubectl('apply', '--server-side', '-f', crd);
    await kubectl('wait', '--for=condition=Established', '-f', crd, '--timeout=120s');
    await eventually(() => land.apply(webhook()));
    await ready('webhook/listen');
    expect(await webhooks()).toEqual([...others, 'listen']);
    await drop(...all);
    await onlyOthersAreLeft();
  });
});
