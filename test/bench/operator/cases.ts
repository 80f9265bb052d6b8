// What is measured of the operator: cold convergence, apply-to-live, rest; and kubectl's plain list as the yardstick.
// It drives and times; it starts nothing (site.ts) and prints nothing (main.ts).
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { getSettings } from '../../../server/contract/settings.ts';
import { type Series, sumOf } from '../../support/series.ts';
import { processorSeconds, residentMiB } from '../machine.ts';
import { startWorker } from '../processes.ts';
import { type FleetOptions, type Member, namespacesOf, realmOf, realmPath, resourcesOf, secretsOf } from './fleet.ts';
import type { Site } from './site.ts';

const READY = /^svc_operator_resources\{.*state="Ready"/;
const WRITERS = 8;
const SETTLING_MS = 60_000;

/** @returns seconds that writing the resources alone took */
export async function declare({ api }: Site, fleet: FleetOptions): Promise<number> {
  const create = async (members: Member[]) => {
    const left = members.values();
    const writer = async () => {
      for (const { collection, object } of left) await api.call('POST', collection, { body: object });
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
  };
  await create(namespacesOf(fleet));
  await create(secretsOf(fleet));
  const began = performance.now();
  await create(resourcesOf(fleet));
  return (performance.now() - began) / 1000;
}

/** Seconds until everything is Ready, counted from now. */
export async function converged(site: Site, total: number, say: (line: string) => void): Promise<number> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  for (let told = 0; ; ) {
    // seldom: each look costs the operator a walk over all resources
    await sleep(500);
    const metrics = await site.operatorMetrics().catch((): Series => new Map());
    const ready = sumOf(metrics, READY);
    if (ready >= total) return seconds();
    if (seconds() - told < 10) continue;
    told = seconds();
    const waiting = sumOf(metrics, /^svc_operator_queue_depth/);
    say(`  ${ready} of ${total} Ready after ${told.toFixed(0)} s, ${waiting} waiting for their turn`);
    if (told > 3_600) throw new Error('not converged within an hour');
  }
}

/** Milliseconds from a change in the Kubernetes API until the server serves it, one change after another. */
export async function applyToLive({ api, client }: Site, { realms }: FleetOptions, changes: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < changes; n += 1) {
    const index = Math.floor((n * realms) / changes) % realms;
    const displayName = `Changed ${n}`;
    const began = performance.now();
    await api.call('PATCH', realmPath(index), {
      contentType: 'application/merge-patch+json',
      body: { spec: { settings: { displayName } } },
    });
    const params = { realm: realmOf(index) };
    while ((await client.call(getSettings, { params })).body?.displayName !== displayName) {
      if (performance.now() - began > 60_000) throw new Error(`${realmOf(index)} did not follow within a minute`);
      await sleep(2);
    }
    times.push(performance.now() - began);
  }
  return times;
}

/** What one signature takes on this machine as it is now. */
export async function signature(): Promise<{ seconds: number; cpuSeconds: number }> {
  const worker = startWorker<{ seconds: number }, number>('yardsticks/signing.ts');
  try {
    await worker.ask({ seconds: 1 });
    const before = processorSeconds(worker.pid) ?? Number.NaN;
    const seconds = 3;
    const rate = await worker.ask({ seconds });
    return {
      seconds: 1 / rate,
      cpuSeconds: ((processorSeconds(worker.pid) ?? Number.NaN) - before) / (rate * seconds),
    };
  } finally {
    await worker.stop();
  }
}

/** Of the operator. */
export async function chartLimitMiB(): Promise<number> {
  const Values = z.object({
    operator: z.object({ resources: z.object({ limits: z.object({ memory: z.string().regex(/^\d+Mi$/) }) }) }),
  });
  const file = path.resolve(import.meta.dirname, '../../../charts/realmkeeper/values.yaml');
  return Number.parseInt(Values.parse(parse(await readFile(file, 'utf8'))).operator.resources.limits.memory, 10);
}

/** What was done goes on costing for a while: memory is given back, code that was hot is dropped. */
export const settle = (): Promise<void> => sleep(SETTLING_MS);

export interface Rest {
  serverPerMinute: number;
  kubernetesPerMinute: number;
  passesPerMinute: number;
  /** Share of one core, in percent. */
  operatorCpu: number;
  serverCpu: number;
  operatorMiB: number;
  serverMiB: number;
  /** Resources whose resourceVersion changed meanwhile. */
  written: number;
}

/** Nobody changes anything for so long. */
export async function rest(site: Site, operatorPid: number, seconds: number): Promise<Rest> {
  const look = async () => ({
    versions: await versionsOf(site),
    passes: sumOf(await site.operatorMetrics(), /^svc_operator_reconciles_total/),
    kubernetes: await site.kubernetesRequests(),
    server: await site.serverRequests(),
    operatorSeconds: processorSeconds(operatorPid) ?? Number.NaN,
    serverSeconds: processorSeconds(site.serverPid) ?? Number.NaN,
    at: performance.now(),
  });
  const before = await look();
  await sleep(seconds * 1000);
  const after = await look();
  const minutes = (after.at - before.at) / 60_000;
  const share = (used: number) => (100 * used) / (minutes * 60);
  return {
    serverPerMinute: (after.server - before.server) / minutes,
    // the second look lists the four kinds and asks for the figures themselves
    kubernetesPerMinute: Math.max(0, after.kubernetes - before.kubernetes - LOOK) / minutes,
    passesPerMinute: (after.passes - before.passes) / minutes,
    operatorCpu: share(after.operatorSeconds - before.operatorSeconds),
    serverCpu: share(after.serverSeconds - before.serverSeconds),
    operatorMiB: residentMiB(operatorPid) ?? Number.NaN,
    serverMiB: residentMiB(site.serverPid) ?? Number.NaN,
    written: [...after.versions].filter(([name, version]) => before.versions.get(name) !== version).length,
  };
}

const collections = ['realms', 'flows', 'webhooks', 'workloadidentities'];
const LOOK = collections.length;

async function versionsOf({ cluster }: Site): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const collection of collections) {
    const { stdout } = await cluster.kubectl(['get', '--raw', `/apis/realmkeeper.dev/v1alpha1/${collection}`]);
    const { items }: { items: { metadata: { namespace: string; name: string; resourceVersion: string } }[] } =
      JSON.parse(stdout);
    for (const { metadata } of items)
      found.set(`${collection}/${metadata.namespace}/${metadata.name}`, metadata.resourceVersion);
  }
  return found;
}

/** Seconds for `kubectl get realms -A`: median of some. */
export async function plainList({ cluster }: Site): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const began = performance.now();
    await cluster.must(['get', 'realms', '-A']);
    times.push((performance.now() - began) / 1000);
  }
  return quantile(times, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
