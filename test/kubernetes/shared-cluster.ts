// Owns: one cluster for all test files of a worker that let it run, and making it as new for the next of them.
// Does not own: starting it; a cluster that a file has to itself, to stop it or to change its settings (cluster.ts).
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Cluster, startCluster } from './cluster.ts';

/** With the CRDs, and without what the next test file would suffer from. */
export type SharedCluster = Pick<Cluster, 'kubeconfig' | 'server' | 'ca' | 'kubectl' | 'must' | 'read' | 'user'>;

const crds = path.resolve(import.meta.dirname, '../../crds');

/** Ends with the worker, whose guard ends its programs. Taken again, it is as new: what was made since is gone. */
export async function shareCluster(): Promise<SharedCluster> {
  if (shared) await renew(await shared);
  shared ??= begin();
  return (await shared).cluster;
}

interface Shared {
  cluster: Cluster;
  /** The uids of what a new cluster has. */
  original: ReadonlySet<string>;
}
let shared: Promise<Shared> | undefined;

const Found = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string(),
    finalizers: z.array(z.string()).default([]),
  }),
});
type Found = z.infer<typeof Found>;
const List = z.object({ items: z.array(Found) });

async function begin(): Promise<Shared> {
  const cluster = await startCluster({ crds: [crds] });
  return { cluster, original: new Set((await everything(cluster)).map(({ metadata }) => metadata.uid)) };
}

/** Every object of every kind that can be deleted. */
async function everything({ must }: Cluster): Promise<Found[]> {
  const kinds = (await must(['api-resources', '--verbs=list,delete', '-o', 'name'])).trim().split('\n');
  return List.parse(JSON.parse(await must(['get', kinds.join(','), '-A', '-o', 'json']))).items;
}

async function renew({ cluster, original }: Shared): Promise<void> {
  for (const until = Date.now() + 120_000; ; await sleep(100)) {
    const left = (await everything(cluster)).filter(({ metadata }) => !original.has(metadata.uid));
    if (left.length === 0) return;
    const names = left.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    if (Date.now() > until) throw new Error(`the cluster that is shared keeps ${names.join(', ')}`);
    await remove(cluster, left);
  }
}

/** Whoever would have looked after the finalizers has ended with its test file. */
async function remove({ kubectl }: Cluster, objects: Found[]): Promise<void> {
  const finalized = objects.filter(({ metadata }) => metadata.finalizers.length > 0);
  // what is gone meanwhile is no failure, and what is still there is seen at the next look
  const none = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
  if (finalized.length > 0) await kubectl(['patch', '-f', '-', ...none], listOf(finalized));
  await kubectl(['delete', '-f', '-', '--wait=false', '--ignore-not-found', '--now'], listOf(objects));
}

const listOf = (objects: Found[]): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: objects.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
      apiVersion,
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
    })),
  });
