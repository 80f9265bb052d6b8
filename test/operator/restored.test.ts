// The cluster's data are restored from a backup, and its versions begin again below those that were seen: what the backup
// holds counts, and whatever happens from then on is heard.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyOf } from '../../operator/resource.ts';
import { clusterSource } from '../../operator/source/cluster.ts';
import type { Source } from '../../operator/source/source.ts';
import { type Cluster, clusterAssets, startCluster } from '../kubernetes/cluster.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('after a restored backup', () => {
  let cluster: Cluster;
  let source: Source;
  beforeAll(async () => {
    cluster = await startCluster({ crds: ['crds'], controllers: [] });
    source = clusterSource({ kubeconfig: cluster.kubeconfig, log: () => {} });
  });
  afterAll(async () => {
    await source?.stop();
    await cluster?.stop();
  });

  const acme = (displayName: string) =>
    cluster.must(
      ['apply', '-f', '-'],
      JSON.stringify(resource('Realm', 'acme', { realm: 'acme', settings: { displayName } })),
    );
  const held = (displayName: string) =>
    eventually(() =>
      expect(source.get(keyOf('Realm', 'default', 'acme'))?.spec).toMatchObject({ settings: { displayName } }),
    );

  test('the older object counts, and so does the next change', async () => {
    await acme('kept');
    await source.start({ changed: () => {}, secretChanged: () => {} });
    await held('kept');
    const restore = await cluster.backup();
    for (const name of ['changed', 'again', 'lost']) await acme(name);
    await held('lost');
    await restore();
    await held('kept');
    await acme('new');
    await held('new');
  });
});
