// Owns: the chart, installed with helm on a node, and looking at what became of it.
// Does not own: what is proved with it (node.long.test.ts), who calls it meanwhile (callers.ts).
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { chart, helm, root } from '../charts/helm.ts';
import { IMAGE } from '../containers/images.ts';
import { eventually } from '../support/operator.ts';
import { startRelay } from '../support/relay.ts';
import { signedIn } from '../support/signed-in.ts';
import { POSTGRESQL } from './images.ts';
import type { Node } from './node.ts';
import { deployedImage, deployWords } from './readme.ts';
import { NODE_NAME } from './settings.ts';

const words = deployWords('helm', 'install');
const [NAME = '', CHART = ''] = words;
export const NAMESPACE = words[words.indexOf('-n') + 1] ?? '';
/** By the README, which builds the first version of it. */
export const imageOf = (version: string): string => `${deployedImage().name}:${version}`;
/** Of the server's Service; known before it is there, since the server's own address leads to it. */
const SERVICE = '10.0.0.80';
/** What a cluster has long enough for under load of others. */
export const PATIENCE_MS = 300_000;

const State = z.object({ terminated: z.object({ reason: z.string(), exitCode: z.number() }).optional() });
const Pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
    containerStatuses: z
      .array(z.object({ name: z.string(), restartCount: z.number(), state: State, lastState: State }))
      .default([]),
  }),
});
export type Pod = z.output<typeof Pod>;
export type Part = 'server' | 'operator' | 'postgresql';

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

function nameOf(pod: Pod | undefined): string {
  if (!pod) throw new Error('there is no such Pod');
  return pod.metadata.name;
}

/** Installs it by the README's own words, with the images that the node was given: it has no registry. */
export async function installRelease(node: Node) {
  const { kubectl, must, kubeconfig } = node.cluster;
  await node.load(IMAGE, imageOf(deployedImage().tag), imageOf('0.2.0'));
  await node.load(POSTGRESQL);
  const relay = await startRelay(80, undefined, SERVICE);
  const url = `http://127.0.0.1:${relay.port}`;
  await must(['apply', '-f', '-'], await makeVolume(node));
  const helmMust = async (...args: string[]) => {
    const there = args.includes('-n') ? args : [...args, '-n', NAMESPACE];
    const { code, stdout, stderr } = await helm(there, {
      KUBECONFIG: kubeconfig,
      HOME: node.folder,
    });
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  // what this node has in place of a registry and of a port-forward
  const values = {
    'postgresql.image': POSTGRESQL,
    'server.baseUrl': url,
    'server.service.extraSpec.clusterIP': SERVICE,
  };
  const own = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const settings = [...words.flatMap((word, i) => (words[i - 1] === '--set' ? ['--set', word] : [])), ...own];
  const podsOf = async (part: Part): Promise<Pod[]> => {
    const label = `app.kubernetes.io/component=${part}`;
    const found = await must(['get', 'pods', '-n', NAMESPACE, '-l', label, '-o', 'json']);
    return z.object({ items: z.array(Pod) }).parse(JSON.parse(found)).items;
  };
  const password = async () =>
    Buffer.from(
      await must(['get', 'secret', `${NAME}-admin`, '-n', NAMESPACE, '-o', 'jsonpath={.data.password}']),
      'base64',
    ).toString();
  /** What is going on, for whoever waits in vain. */
  const told = async () => {
    const looks = [
      ['get', 'pods', '-A', '-o', 'wide'],
      ['get', 'events', '-n', NAMESPACE, '--sort-by=.lastTimestamp'],
      ...['server', 'operator', 'postgresql'].map((part) => [
        ...['logs', '-n', NAMESPACE, '-l', `app.kubernetes.io/component=${part}`],
        ...['--all-containers', '--prefix', '--tail=15'],
      ]),
    ];
    const said = await Promise.all(looks.map((args) => kubectl(args)));
    return said.map(({ stdout, stderr }) => (stdout + stderr).slice(-6000)).join('\n');
  };
  const release = {
    node,
    url,
    must,
    helm: helmMust,
    podsOf,
    told,
    async install(): Promise<void> {
      await helmMust('install', ...words.map((word) => (word === CHART ? path.join(root, CHART) : word)), ...own);
      // as docs/install.md has it
      const restricted = 'pod-security.kubernetes.io/enforce=restricted';
      const { code, stderr } = await kubectl(['label', 'namespace', NAMESPACE, restricted]);
      expect([code, stderr]).toEqual([0, '']);
    },
    upgrade: (...args: string[]) => helmMust('upgrade', NAME, chart, ...settings, ...args),
    rollback: (revision: number) => helmMust('rollback', NAME, String(revision)),
    admin: async () => signedIn(url, { username: 'admin', password: await password() }),
    /** Waits until as many Pods of the part are ready as there should be, and no other is left. */
    async whole(part: Part, count: number, also: (pod: Pod) => boolean = () => true): Promise<Pod[]> {
      return eventually(async () => {
        const pods = await podsOf(part);
        const ready = pods.filter((pod) => isReady(pod) && also(pod));
        if (ready.length !== count || pods.length !== count)
          throw new Error(`${ready.length} of ${pods.length} Pods of ${part} are as they should be, not ${count}`);
        return pods;
      }, PATIENCE_MS).catch(async (error: Error) => {
        throw new Error(`${error.message}\n${await told()}`);
      });
    },
    async all(also?: (pod: Pod) => boolean): Promise<void> {
      await release.whole('postgresql', 1);
      await release.whole('server', 2, also);
      await release.whole('operator', 2, also);
    },
    /** Asks a Pod by the API server. */
    ask: (pod: string, port: number, at: string) =>
      must(['get', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/${pod}:${port}/proxy${at}`]),
    /** Ends a Pod's processes without a word to them. */
    kill: (pod: Pod | undefined) =>
      must(['delete', 'pod', nameOf(pod), '-n', NAMESPACE, '--grace-period=0', '--force']),
    /** Asks for a Pod to go, as a drain does; what the disruption budgets say to it. */
    async evict(pod: Pod | undefined): Promise<{ evicted: boolean; said: string }> {
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: nameOf(pod), namespace: NAMESPACE },
      };
      const at = `/api/v1/namespaces/${NAMESPACE}/pods/${nameOf(pod)}/eviction`;
      const { code, stdout, stderr } = await kubectl(['create', '--raw', at, '-f', '-'], JSON.stringify(eviction));
      return { evicted: code === 0, said: stdout + stderr };
    },
    /** No container of the release was ever ended by the kernel for its memory. */
    async expectNoneOutOfMemory(): Promise<void> {
      for (const part of ['server', 'operator', 'postgresql'] as const)
        for (const pod of await podsOf(part))
          for (const { name, lastState, state } of pod.status.containerStatuses)
            for (const end of [lastState.terminated, state.terminated])
              expect(end?.reason, `${name} of ${pod.metadata.name}`).not.toBe('OOMKilled');
    },
    stop: () => relay.stop(),
  };
  return release;
}
export type Release = Awaited<ReturnType<typeof installRelease>>;

/** A folder of the node, kept for the database: nothing here makes volumes as they are asked for. */
async function makeVolume(node: Node): Promise<string> {
  const folder = path.join(node.folder, 'postgresql');
  await mkdir(folder);
  await chmod(folder, 0o770);
  const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] };
  return stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'postgresql' },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: NAMESPACE, name: `data-${NAME}-postgresql-0` },
      local: { path: folder },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  });
}
