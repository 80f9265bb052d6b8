// The operator is away while people go on: what they changed, deleted and made anew is found when it is back, and done once.
import { describe, expect, test } from 'vitest';
import { getRealm } from '../../server/contract/realms.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('an operator that was away', () => {
  const land = landscape();

  const params = { realm: 'acme' };
  const acme = (displayName: string) => resource('Realm', 'acme', { realm: 'acme', settings: { displayName } });
  const hook = (name: string, url: string) =>
    resource('Webhook', name, { realm: 'acme', url, eventTypes: ['KEY_DELETED'] });
  const revision = async () => (await land.client.call(getRealm, { params })).body?.revision ?? 0;
  const hooks = async () =>
    new Map((await land.client.call(listWebhooks, { params })).body?.map(({ name, url }) => [name, url]));
  const ready = () => land.kubectl('wait', 'realm,webhook', '--all', '--for=condition=Ready', '--timeout=120s');

  test('finds what changed, what goes and what was made anew under an old name, and does each once', async () => {
    await land.apply(acme('One'), hook('stays', 'https://a.example/'), hook('changes', 'https://a.example/'));
    await land.apply(hook('goes', 'https://a.example/'), hook('again', 'https://a.example/'));
    await ready();
    const before = await revision();

    await land.operator.kill();
    await land.apply(hook('changes', 'https://b.example/'), hook('comes', 'https://c.example/'));
    await land.kubectl('delete', 'webhook/goes', '--wait=false');
    // somebody forces a resource out, and makes another one of the same name
    await land.kubectl('patch', 'webhook/again', '--type=merge', '-p', '{"metadata":{"finalizers":[]}}');
    await land.kubectl('delete', 'webhook/again');
    await land.apply(hook('again', 'https://d.example/'));
    await land.operator.start();

    await eventually(async () => {
      expect(await land.kubectl('get', 'webhooks', '-o', 'name')).not.toContain('goes');
      await ready();
      expect(await hooks()).toEqual(
        new Map([
          ['stays', 'https://a.example/'],
          ['changes', 'https://b.example/'],
          ['comes', 'https://c.example/'],
          ['again', 'https://d.example/'],
        ]),
      );
    });
    // one write for each of the four
    expect(await revision()).toBe(before + 4);
  });
});
