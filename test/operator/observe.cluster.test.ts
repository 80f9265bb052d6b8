// managementPolicy: Observe on a real API server: no finalizer, a status alone, and nothing on the server.
import { describe, expect, test } from 'vitest';
import { getRealm } from '../../server/contract/realms.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('a resource that only looks', () => {
  const land = landscape();

  test('is given a status and no finalizer, is deleted at once, and leaves nothing on the server', async () => {
    const spec = { realm: 'looked-at', managementPolicy: 'Observe', deletionPolicy: 'Delete' };
    await land.apply(resource('Realm', 'looker', spec));
    const found = await eventually(async () => {
      const { metadata, status } = await land.object('Realm', 'looker');
      expect(status).toMatchObject({ lastPlan: { changes: ['realm looked-at: create'] } });
      return { metadata, status };
    });
    expect(found.metadata).not.toHaveProperty('finalizers');
    expect(found.status).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Observed' },
        { type: 'Drifted', status: 'True', reason: 'DriftFound' },
      ],
    });
    await land.kubectl('delete', 'realm', 'looker', '--timeout=60s');
    await expect(land.client.call(getRealm, { params: { realm: 'looked-at' } })).rejects.toMatchObject({ status: 404 });
  });

  test('is refused with a policy that there is not', async () => {
    const apply = land.apply(resource('Realm', 'odd', { realm: 'odd', managementPolicy: 'Look' }));
    await expect(apply).rejects.toThrow(/managementPolicy.*Observe/s);
  });
});
