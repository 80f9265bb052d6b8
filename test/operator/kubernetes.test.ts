// The real operator process on a real API server: what only namespaces, finalizers and a server that is gone can show.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { getRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { atRest, eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('the operator’s own process', () => {
  const land = landscape();

  const kubectl = (...args: string[]) => land.kubectl(...args);
  const namespace = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  // nothing that happens here: a delivery would rightly show in the status
  const eventTypes = ['KEY_DELETED'];
  const hook = (realm: string, at: { namespace?: string }, more: object = {}) =>
    resource('Webhook', 'listen', { realm, url: 'https://receiver.example.com/', eventTypes, ...more }, at);
  const ready = (name: string, at = 'default') =>
    kubectl('wait', name, '-n', at, '--for=condition=Ready', '--timeout=120s');
  const says = (name: string, at: string, words: string | RegExp) =>
    eventually(async () => {
      const conditions = await kubectl('get', name, '-n', at, '-o', 'jsonpath={.status.conditions}');
      expect(conditions).toMatch(words);
    });
  const webhooks = async (realm: string) =>
    (await land.client.call(listWebhooks, { params: { realm } })).body?.map(({ name }) => name);

  test('a namespace that is deleted goes whole, and takes its own objects from the server', async () => {
    await land.apply(
      namespace('team'),
      resource('Realm', 'team', { realm: 'team', roles: [{ name: 'kept' }] }, { namespace: 'team' }),
      hook('team', { namespace: 'team' }),
    );
    await ready('realm/team', 'team');
    await ready('webhook/listen', 'team');
    await kubectl('delete', 'namespace', 'team', '--timeout=120s');
    expect(await webhooks('team')).toEqual([]);
    expect((await land.client.call(listManagers, { params: { realm: 'team' } })).body).toEqual([]);
    expect((await land.client.call(getRealm, { params: { realm: 'team' } })).body?.realm).toBe('team');
  });

  test('a Realm with deletionPolicy Delete and all that attaches go in any order, and no finalizer stays', async () => {
    const at = { namespace: 'default' };
    await land.apply(hook('brief', at), resource('Realm', 'brief', { realm: 'brief', deletionPolicy: 'Delete' }, at));
    await ready('realm/brief');
    await ready('webhook/listen');
    const finalizers = await kubectl('get', 'realm/brief', '-o', 'jsonpath={.metadata.finalizers}');
    expect(finalizers).toContain('realmkeeper.dev/release');
    await kubectl('delete', 'realm/brief', 'webhook/listen', '--timeout=120s');
    expect(await kubectl('get', 'realm/brief', 'webhook/listen', '--ignore-not-found', '-o', 'name')).toBe('');
    await expect(land.client.call(getRealm, { params: { realm: 'brief' } })).rejects.toMatchObject({ status: 404 });
  });

  test('what changes while the server is away waits, says so, and is applied when it is back', async () => {
    const acme = (displayName: string) => resource('Realm', 'acme', { realm: 'acme', settings: { displayName } });
    await land.apply(acme('One'));
    await ready('realm/acme');
    await land.server.kill();
    await land.apply(acme('Two'));
    await says('realm/acme', 'default', /Waiting.*ServerUnreachable|ServerUnreachable.*Waiting/s);
    await land.server.start();
    await eventually(async () => {
      const { body } = await land.client.call(getSettings, { params: { realm: 'acme' } });
      expect(body?.displayName).toBe('Two');
    });
    await ready('realm/acme');
  });

  test('a resource whose server is gone for good says how to let it go, and the annotation does', async () => {
    await land.apply(resource('Realm', 'lost', { realm: 'lost' }));
    await ready('realm/lost');
    await land.server.kill();
    await kubectl('delete', 'realm/lost', '--wait=false');
    await says(
      'realm/lost',
      'default',
      'kubectl annotate realm.realmkeeper.dev lost -n default realmkeeper.dev/abandon=true',
    );
    await kubectl('annotate', 'realm.realmkeeper.dev', 'lost', 'realmkeeper.dev/abandon=true');
    await kubectl('wait', 'realm/lost', '--for=delete', '--timeout=120s');
    await land.server.start();
  });

  test('a namespace that gets the label which a Realm asks for may attach', async () => {
    const selector = { matchLabels: { tenant: 'yes' } };
    await land.apply(
      namespace('shop'),
      resource('Realm', 'open', { realm: 'open', allowedNamespaces: { from: 'Selector', selector } }),
      hook('open', { namespace: 'shop' }, { name: 'from-the-shop' }),
    );
    await says('webhook/listen', 'shop', 'RealmNotDeclared');
    expect(await webhooks('open').catch(() => [])).toEqual([]);
    await kubectl('label', 'namespace', 'shop', 'tenant=yes');
    await ready('webhook/listen', 'shop');
    expect(await webhooks('open')).toEqual(['from-the-shop']);
  });

  test('a Secret that comes late is enough', async () => {
    await land.apply(hook('acme', {}, { secretKeyRef: { name: 'late', key: 'signing' } }));
    await says('webhook/listen', 'default', 'waiting for the Secret late');
    await land.apply(secret('late', { signing: 'a secret of good length' }));
    await ready('webhook/listen');
    expect(await kubectl('get', 'webhook/listen', '-o', 'yaml')).not.toContain('a secret of good length');
  });

  test('an operator that starts again finds everything in sync and writes nothing', async () => {
    // whole, so that a failure shows what was written
    const everything = () => kubectl('get', 'realmkeeper', '-A', '-o', 'json');
    const before = await atRest(everything);
    await land.operator.kill();
    await land.operator.start();
    await sleep(5_000);
    expect(await everything()).toBe(before);
    expect(await land.operator.said()).not.toMatch(/unhandled|TypeError|a secret of good length/i);
  });
});
