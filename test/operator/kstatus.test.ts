// What the tools make of a resource at every stage of its life, by their own libraries: kstatus (upstream's, and Flux's
// fork that Helm uses too) and the health check for Argo CD (deploy/argo-cd). Everything runs as its users run it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KindName, kindNames } from '../../operator/resource.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { argoCheck, judge, kstatusAssets } from '../kubernetes/kstatus.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = [await clusterAssets(), await kstatusAssets()];
const realm = 'acme';
const step = { authenticatorId: 'username-password', requirement: 'REQUIRED' };
const hook = (name: string, more: object = {}) =>
  resource('Webhook', name, { realm, url: 'https://receiver.example.com/', eventTypes: ['KEY_DELETED'], ...more });
const samples: Record<KindName, Manifest> = {
  Realm: resource('Realm', 'acme', { realm, clients: [{ clientId: 'app' }] }),
  Flow: resource('Flow', 'acme', { realm, executions: [step] }),
  Webhook: hook('acme'),
  WorkloadIdentity: resource('WorkloadIdentity', 'acme', {
    realm,
    audience: 'here',
    clientId: 'app',
    issuer: 'https://issuer.example',
    subject: 'me',
  }),
};

describe.skipIf(assets.some(({ found }) => !found))('the tools’ verdict', () => {
  let land: Landscape;
  beforeAll(async () => {
    land = await startLandscape();
  });
  afterAll(() => land?.stop());

  const patch = (name: string, spec: object) =>
    land.kubectl('patch', name, '--type=merge', '-p', JSON.stringify({ spec }));
  const verdict = async (name: string) => judge(await land.kubectl('get', name, '-o', 'json'), argoCheck);
  /** Waits for the resource to be there, and tells what the tools say until then. */
  const becomes = (name: string, status: string, argo: string, words: string | RegExp = '') =>
    eventually(async () => {
      const found = await verdict(name);
      expect(found).toMatchObject({ status, flux: status, argo: { status: argo } });
      expect(`${found.message} ${found.argo?.message}`).toMatch(words);
    });

  test.for([...kindNames])('a %s that no operator has seen is in progress', async (kind) => {
    await land.apply(samples[kind]);
    await becomes(`${kind}/acme`, 'InProgress', 'Progressing');
    await land.kubectl('delete', kind, 'acme');
  });

  test('what waits for a realm is in progress, and says for what', async () => {
    await land.start();
    await land.apply(samples.Flow);
    await becomes('flow/acme', 'InProgress', 'Progressing', 'waiting for a Realm resource that declares acme');
  });

  test.for([...kindNames])('an applied %s is current', async (kind) => {
    await land.apply(samples.Realm, samples[kind]);
    await becomes(`${kind}/acme`, 'Current', 'Healthy');
  });

  test('what waits for a Secret is in progress, and current once it is there', async () => {
    await land.apply(hook('sealed', { secretKeyRef: { name: 'late', key: 'signing' } }));
    await becomes('webhook/sealed', 'InProgress', 'Progressing', 'waiting for the Secret late');
    await land.apply(secret('late', { signing: 'a secret of good length' }));
    await becomes('webhook/sealed', 'Current', 'Healthy');
  });

  test('what only a person can put right has failed, with the words of the condition', async () => {
    await land.apply(hook('second', { name: 'acme' }));
    await becomes('webhook/second', 'Failed', 'Degraded', 'is managed by');
    await land.kubectl('delete', 'webhook', 'acme');
    await becomes('webhook/second', 'Current', 'Healthy');
  });

  test('drift that is to be reported leaves a resource current, and is told', async () => {
    await patch('realm/acme', { driftPolicy: 'Report', settings: { accessTokenTtlSeconds: 600 } });
    await becomes('realm/acme', 'Current', 'Healthy');
    await land.client.call(putSettings, { params: { realm }, body: { accessTokenTtlSeconds: 30 } });
    await becomes('realm/acme', 'Current', 'Healthy', 'Drifted: ');
    await patch('realm/acme', { driftPolicy: 'Correct' });
    await eventually(async () =>
      expect((await verdict('realm/acme')).argo?.message).toBe('the realm holds what is declared'),
    );
  });

  test('a suspended resource is current: nothing goes on, and no wait would change that', async () => {
    await patch('realm/acme', { suspend: true });
    await becomes('realm/acme', 'Current', 'Suspended');
    expect(await land.kubectl('get', 'realm', 'acme')).toMatch(/acme +acme +Suspended +spec.suspend is true/);
    expect((await land.cluster.kubectl(['wait', 'realm/acme', '--for=condition=Ready', '--timeout=1s'])).code).toBe(1);
    await patch('realm/acme', { suspend: null });
    await becomes('realm/acme', 'Current', 'Healthy');
  });

  test('while the server is away a change is in progress', async () => {
    await land.server.kill();
    await patch('realm/acme', { settings: { accessTokenTtlSeconds: 300 } });
    await becomes('realm/acme', 'InProgress', 'Progressing', 'cannot be reached');
  });

  test('what is deleted is terminating, also while it cannot go', async () => {
    await land.kubectl('delete', 'webhook', 'sealed', '--wait=false');
    await becomes('webhook/sealed', 'Terminating', 'Progressing');
    await eventually(async () =>
      expect(await land.kubectl('get', 'webhook', 'sealed', '-o', 'jsonpath={.status.conditions}')).toMatch('abandon'),
    );
    await becomes('webhook/sealed', 'Terminating', 'Progressing');
    await land.server.start();
    await land.kubectl('wait', 'webhook/sealed', '--for=delete', '--timeout=120s');
    await becomes('realm/acme', 'Current', 'Healthy');
  });

  test('a spec that was changed after the operator went is in progress, whatever the conditions of the former say', async () => {
    await land.operator.kill();
    await patch('realm/acme', { settings: { accessTokenTtlSeconds: 500 } });
    await becomes('realm/acme', 'InProgress', 'Progressing', 'latest observed generation');
  });
});
