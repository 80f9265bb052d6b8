// Everything is killed while people change what they declare, and others change what is live: in the end it is the same.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFailed, test } from 'vitest';
import { listFlows } from '../../server/contract/flows.ts';
import { listRealms } from '../../server/contract/realms.ts';
import { listRoles } from '../../server/contract/roles.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { deleteWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
/** One seed, one story; on failure it is printed, and CHAOS_SEED tells the same story again. */
const SEED = Number(process.env.CHAOS_SEED ?? 20_261_121);
const REALMS = 4;
const ROUNDS = 8;

/** What is declared about one realm. */
interface Declared {
  name: string;
  displayName: string;
  roles: string[];
  webhooks: Map<string, string>;
  flows: Set<string>;
  clientSecret: string;
}

const dice = (seed: number) => () => {
  // mulberry32
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

function manifestsOf({ name, displayName, roles, webhooks, flows, clientSecret }: Declared): Manifest[] {
  const client = {
    clientId: 'job',
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['client_credentials'],
    secretKeyRef: { name: `${name}-secrets`, key: 'job' },
  };
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  return [
    ...[...webhooks].map(([hook, url]) => resource('Webhook', hook, { realm: name, url, eventTypes: ['*'] })),
    ...[...flows].map((flow) => resource('Flow', flow, { realm: name, executions })),
    resource('Realm', name, {
      realm: name,
      deletionPolicy: 'Delete',
      settings: { displayName },
      roles: roles.map((role) => ({ name: role })),
      clients: [client],
    }),
    secret(`${name}-secrets`, { job: clientSecret }),
  ];
}

describe.skipIf(!assets.found)('while everything breaks', () => {
  const land = landscape({ own: {} });

  const random = dice(SEED);
  const pick = <T>(all: readonly T[]): T => {
    const one = all[Math.floor(random() * all.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  };
  let made = 0;
  const fresh = (kind: string) => `${kind}-${++made}`;
  const declared: Declared[] = [];
  const removed: string[] = [];

  const create = () => {
    const name = fresh('realm');
    const clientSecret = fresh('svc_cs_0123456789abcdefghijklmnopqrst');
    declared.push({ name, displayName: name, roles: ['a'], webhooks: new Map(), flows: new Set(), clientSecret });
  };
  /** Names of resources that have to go, as `kind/name`. */
  function change(): string[] {
    const realm = pick(declared);
    const hook = [...realm.webhooks.keys()][0];
    const flow = [...realm.flows][0];
    switch (pick(['name', 'role', 'hook', 'url', 'unhook', 'flow', 'unflow', 'secret', 'realm'])) {
      case 'name':
        realm.displayName = fresh('Name');
        return [];
      case 'role':
        realm.roles = [...realm.roles.filter(() => random() < 0.6), fresh('role')];
        return [];
      case 'hook':
        realm.webhooks.set(fresh('hook'), 'https://one.example/');
        return [];
      case 'url':
        if (hook) realm.webhooks.set(hook, `https://${fresh('other')}.example/`);
        return [];
      case 'unhook':
        if (hook) realm.webhooks.delete(hook);
        return hook ? [`webhook/${hook}`] : [];
      case 'flow':
        realm.flows.add(fresh('flow'));
        return [];
      case 'unflow':
        if (flow) realm.flows.delete(flow);
        return flow ? [`flow/${flow}`] : [];
      case 'secret':
        realm.clientSecret = fresh('svc_cs_0123456789abcdefghijklmnopqrst');
        return [];
      default:
        declared.splice(declared.indexOf(realm), 1);
        removed.push(realm.name);
        create();
        return [
          `realm/${realm.name}`,
          ...[...realm.webhooks.keys()].map((n) => `webhook/${n}`),
          ...[...realm.flows].map((n) => `flow/${n}`),
        ];
    }
  }

  /** People declare; the API server may be away, and then they try again. */
  async function declare(gone: string[]): Promise<void> {
    await eventually(async () => {
      await land.apply(...declared.flatMap(manifestsOf));
      if (gone.length > 0) await land.kubectl('delete', '--wait=false', '--ignore-not-found', ...gone);
    });
  }
  /** Somebody else changes what is live; the server may be away, and then they don't. */
  async function meddle(): Promise<void> {
    const params = { realm: pick(declared).name };
    const body = { displayName: fresh('Meddled') };
    try {
      await land.client.call(putSettings, { params, body });
      const [hook] = (await land.client.call(listWebhooks, { params })).body ?? [];
      if (hook) await land.client.call(deleteWebhook, { params: { ...params, id: hook.id } });
    } catch {
      // away, or the realm isn't there yet
    }
  }

  const disasters: Record<string, () => Promise<void>> = {
    'the server dies': async () => {
      await land.server.kill();
      await sleep(1_000);
      await land.server.start();
    },
    'the API server dies': async () => {
      await land.cluster.stopApiServer();
      await sleep(1_000);
      await land.cluster.startApiServer();
    },
    'the operator dies': async () => {
      await land.operator.kill();
      await sleep(500);
      await land.operator.start();
    },
    'everything dies': async () => {
      await Promise.all([land.cluster.stopApiServer(), land.server.kill(), land.operator.kill()]);
      await land.operator.start();
      await Promise.all([land.cluster.startApiServer(), land.server.start()]);
    },
  };

  /** What is live of a realm, in the words of what is declared. */
  async function live(name: string) {
    const params = { realm: name };
    const [settings, roles, webhooks, flows] = await Promise.all([
      land.client.call(getSettings, { params }),
      land.client.call(listRoles, { params, query: { limit: 1000 } }),
      land.client.call(listWebhooks, { params }),
      land.client.call(listFlows, { params }),
    ]);
    return {
      displayName: settings.body?.displayName,
      roles: roles.body
        ?.map((r) => r.name)
        .filter((role) => /^(a$|role-)/.test(role))
        .sort(),
      webhooks: webhooks.body?.map((w) => [w.name, w.url]).sort(),
      flows: flows.body
        ?.map((f) => f.alias)
        .filter((alias) => alias.startsWith('flow-'))
        .sort(),
    };
  }
  const wanted = ({ displayName, roles, webhooks, flows }: Declared) => ({
    displayName,
    roles: [...roles].sort(),
    webhooks: [...webhooks].sort(),
    flows: [...flows].sort(),
  });
  async function secretHolds({ name, clientSecret }: Declared): Promise<number> {
    const authorization = `Basic ${Buffer.from(`job:${clientSecret}`).toString('base64')}`;
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const init = { method: 'POST', headers: { authorization }, body };
    return (await fetch(`${land.serverUrl}/realms/${name}/oauth2/token`, init)).status;
  }
  const versions = () => land.kubectl('get', 'realmkeeper', '-o', 'jsonpath={.items[*].metadata.resourceVersion}');
  const revisions = async () => (await land.client.call(listRealms, { query: { limit: 1000 } })).body;

  test('what is live becomes what is declared, and then nothing is written any more', {
    timeout: 900_000,
  }, async () => {
    onTestFailed(async () => console.error(`seed ${SEED}\n${await land.operator.said()}\n${await land.server.said()}`));
    for (let i = 0; i < REALMS; i += 1) create();
    await declare([]);
    const names = Object.keys(disasters);
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = names[round % names.length] ?? '';
      await Promise.all([
        disasters[name]?.(),
        (async () => {
          for (let i = 0; i < 4; i += 1) {
            await declare([...change(), ...change()]);
            await meddle();
          }
        })(),
      ]);
    }
    const began = Date.now();
    for (const realm of declared) {
      await eventually(async () => expect(await live(realm.name), realm.name).toEqual(wanted(realm)));
      await eventually(
        async () => expect(await secretHolds(realm), `${realm.name} ${realm.clientSecret}`).toBe(200),
        20_000,
      );
    }
    await eventually(async () => {
      const known = (await revisions())?.map((r) => r.realm);
      expect(known?.sort()).toEqual(['master', ...declared.map((r) => r.name)].sort());
      const objects = (await land.kubectl('get', 'realmkeeper', '-o', 'name')).trim().split('\n');
      expect(objects).toHaveLength(declared.flatMap(manifestsOf).filter((m) => m.kind !== 'Secret').length);
    });
    await land.kubectl('wait', 'realmkeeper', '--all', '--for=condition=Ready', '--timeout=120s');
    console.log(`settled after ${Date.now() - began} ms; ${removed.length} realms deleted, ${made} things made`);

    await eventually(async () => {
      const before = [await versions(), await revisions()];
      await sleep(5_000);
      expect([await versions(), await revisions()]).toEqual(before);
    });
    const said = await land.operator.said();
    expect(said).not.toMatch(/svc_cs_|unhandled|TypeError|at .*\.ts:\d+/i);
  });
});
