// Two operators beside each other, and the leader killed again and again while people change what they declare.
// TAKEOVER_KILLS and TAKEOVER_RESOURCES make it longer: 50 and 200 are what is promised.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getSettings } from '../../server/contract/settings.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { type Cluster, clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource } from '../support/operator.ts';
import { createOperators, type Life, type Operators } from '../support/operators.ts';

const assets = await clusterAssets();
const KILLS = Number(process.env.TAKEOVER_KILLS ?? 5);
const RESOURCES = Number(process.env.TAKEOVER_RESOURCES ?? 24);
const HOOKS = 3;
/** The longest part of a round is the Lease, and on a busy machine whatever starts. */
const PATIENCE_MS = 240_000 + KILLS * 60_000;

interface Declared {
  displayName: string;
  /** URL by name. */
  hooks: Map<string, string>;
}

describe.skipIf(!assets.found)('two operators', () => {
  let land: Landscape<Cluster>;
  let operators: Operators;
  beforeAll(async () => {
    land = await startLandscape({ own: { audit: 'writes' } });
    await land.server.start();
    operators = await createOperators(land);
    await Promise.all([operators.begin(), operators.begin()]);
  });
  afterAll(async () => {
    await land?.stop();
    await operators?.stop();
  });

  const declared = new Map<string, Declared>();
  let made = 0;
  const manifestsOf = (name: string, { displayName, hooks }: Declared): Manifest[] => [
    resource('Realm', name, { realm: name, settings: { displayName } }),
    ...[...hooks].map(([hook, url]) => resource('Webhook', hook, { realm: name, url, eventTypes: ['KEY_DELETED'] })),
  ];
  async function apply(names: Iterable<string>): Promise<void> {
    const manifests = [...names].flatMap((name) =>
      manifestsOf(name, declared.get(name) ?? { displayName: '', hooks: new Map() }),
    );
    await land.apply(...manifests);
  }
  async function change(): Promise<void> {
    const touched: string[] = [];
    const going: string[] = [];
    const one = Math.floor(Math.random() * declared.size);
    for (const [n, [name, realm]] of [...declared].entries()) {
      if (n !== one && Math.random() < 0.6) continue;
      touched.push(name);
      realm.displayName = `Name ${++made}`;
      const [first = ''] = realm.hooks.keys();
      going.push(`webhook/${first}`);
      realm.hooks.delete(first);
      realm.hooks.set(`${name}-new-${++made}`, 'https://new.example/');
      for (const hook of realm.hooks.keys()) realm.hooks.set(hook, `https://host-${++made}.example/`);
    }
    await apply(touched);
    await land.kubectl('delete', '--wait=false', ...going);
  }

  /** Waits until it has begun with what it has to do. */
  const works = ({ name }: Life) =>
    eventually(async () => {
      const writes = (await land.cluster.requests()).filter(({ resource }) => resource !== 'leases');
      expect(writes.map(({ user }) => user)).toContain(name);
    });

  /** Everything is Ready of its spec as it is now, and the server holds what is declared, once. */
  async function converged(): Promise<void> {
    const { items } = JSON.parse(await land.kubectl('get', 'realms,webhooks', '-o', 'json'));
    const unready = items.filter(
      (item: { metadata: { generation: number }; status?: { conditions?: Record<string, unknown>[] } }) =>
        !item.status?.conditions?.some(
          (c) => c.type === 'Ready' && c.status === 'True' && c.observedGeneration === item.metadata.generation,
        ),
    );
    expect([unready.length, items.length]).toEqual([0, declared.size * (1 + HOOKS)]);
    for (const [realm, { displayName, hooks }] of declared) {
      const [settings, webhooks] = await Promise.all([
        land.client.call(getSettings, { params: { realm } }),
        land.client.call(listWebhooks, { params: { realm } }),
      ]);
      expect(settings.body?.displayName).toBe(displayName);
      const found = webhooks.body?.map(({ name, url }) => `${name} ${url}`).sort();
      expect(found).toEqual([...hooks].map(([name, url]) => `${name} ${url}`).sort());
    }
  }

  test(
    'one leads; however often it is killed, the other goes on, nothing is lost, nothing is doubled, and never do two act',
    async () => {
      for (let i = 1; i <= Math.ceil(RESOURCES / (1 + HOOKS)); i += 1) {
        const hooks = new Map(Array.from({ length: HOOKS }, (_, n) => [`acme-${i}-${n}`, 'https://old.example/']));
        declared.set(`acme-${i}`, { displayName: 'First', hooks });
      }
      await apply(declared.keys());
      const takeovers: number[] = [];
      for (let kills = 1; kills <= KILLS; kills += 1) {
        const leader = await operators.leader();
        await change();
        // every other one in any case
        if (kills % 2 === 1) await works(leader);
        await sleep(Math.random() * 2_500);
        if (kills % 4 === 2) await land.server.kill();
        if (kills % 4 === 3) await land.cluster.stopApiServer();
        await leader.program.kill();
        const killed = performance.now();
        if (kills % 4 === 2) await land.server.start();
        if (kills % 4 === 3) await land.cluster.startApiServer();
        await operators.leader(leader);
        takeovers.push(Math.round(performance.now() - killed));
        await operators.begin();
      }
      await eventually(converged, 100_000 + RESOURCES * 1_000);
      console.info(`takeovers after ms: ${takeovers.join(' ')}`);
      expect((await operators.lease()).leaseTransitions).toBeGreaterThanOrEqual(KILLS);
      const { server, cluster } = await operators.turns();
      for (const turns of [server, cluster]) {
        expect(turns.length).toBeGreaterThanOrEqual(Math.floor(KILLS / 2));
        expect(turns, 'somebody acted again after another had').toEqual([...new Set(turns)]);
      }
    },
    PATIENCE_MS,
  );
});
