// `helm install` on a real API server, into a namespace that takes nothing below the restricted profile; controllers run.
// No kubelet: Pods are made, admitted and stored, but none of them starts.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Cluster, clusterAssets, startCluster } from '../kubernetes/cluster.ts';
import { deployedImage, deployWords } from '../node/readme.ts';
import { eventually } from '../support/operator.ts';
import { AnyObject, chart, helm, helmAssets, objectsOf, render, valueSets } from './helm.ts';

const [cluster, helmFound] = [await clusterAssets(), await helmAssets()];
const controllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'disruption-controller',
  'clusterrole-aggregation-controller',
];
const restricted = (name: string) =>
  stringify({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
      },
    },
  });
const Workload = z.object({
  spec: z.object({
    template: z.object({ metadata: z.looseObject({}), spec: z.looseObject({ volumes: z.array(z.unknown()) }) }),
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
});
const rare: Record<string, string[]> = {
  'of next to nothing': [
    ...['--set', 'operator.enabled=false,networkPolicy.enabled=false,tests.enabled=false,crds.install=false'],
    ...['--set', 'postgresql.storage.ephemeral=true,server.podDisruptionBudget.enabled=false'],
  ],
  'of closed networks': [
    ...['--set', 'networkPolicy.apiServer.cidrs={10.9.0.1/32},networkPolicy.databaseCidrs={10.8.0.0/24}'],
    ...['--set', 'networkPolicy.extraEgress[0].ports[0].port=8443,operator.serverUrl=https://id.example.com:8443'],
    ...['--set', 'networkPolicy.ingressFrom[0].podSelector.matchLabels.app=edge'],
    ...['--set', 'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus'],
    ...['--set', 'postgresql.enabled=false,database.existingSecret=mine,database.urlKey=uri'],
  ],
};
const List = z.object({ items: z.array(AnyObject) });

describe.skipIf(!cluster.found || !helmFound.found)('on an API server', () => {
  let there: Cluster;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-chart-'));
    there = await startCluster({ controllers, crds: [path.join(import.meta.dirname, 'crds')] });
    for (const name of ['identity', 'team-a', 'team-b']) await kubectl(['apply', '-f', '-'], restricted(name));
  });
  afterAll(async () => {
    await there?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function kubectl(args: string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await there.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout + stderr;
  }
  async function helmMust(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await helm(args, { KUBECONFIG: there.kubeconfig, HOME: folder });
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
  const list = async (what: string, ...args: string[]) =>
    List.parse(JSON.parse(await kubectl(['get', what, '-n', 'identity', '-o', 'json', ...args]))).items;
  const namesOf = async (what: string, ...args: string[]) =>
    (await list(what, ...args)).map(({ metadata }) => metadata.name).sort();

  test.each(Object.entries({ ...valueSets, ...rare }))(
    'the API server takes every object, and every Pod as restricted, with the values %s',
    async (_, args) => {
      const objects = await render(args);
      // `kubectl apply` validates strictly: a field that isn't known is an error, and PodSecurity's warnings are printed
      const said = await kubectl(
        ['apply', '--dry-run=server', '-f', '-'],
        objects.map((each) => stringify(each)).join('---\n'),
      );
      expect(said).not.toMatch(/warning/i);
      expect(said.match(/\(server dry run\)/g)?.length).toBe(objects.length);
      // a Deployment is taken whatever its Pods are: only creating the Pod itself makes the admission decide
      const pods = objects
        .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
        .map((object) => {
          const { template, volumeClaimTemplates } = Workload.parse(object).spec;
          // the controller would put a claim's volume here
          const claimed = volumeClaimTemplates.map(({ metadata: { name } }) => ({ name, emptyDir: {} }));
          const metadata = { ...template.metadata, name: object.metadata.name, namespace: 'identity' };
          const spec = { ...template.spec, volumes: [...template.spec.volumes, ...claimed] };
          return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
        });
      expect(pods.length).toBeGreaterThanOrEqual(2);
      for (const pod of pods)
        expect(await kubectl(['create', '--dry-run=server', '-f', '-'], stringify(pod))).toContain('created');
    },
  );

  test('the namespace’s admission is awake: a Pod of the usual kind is refused', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'usual', namespace: 'identity' },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    };
    await expect(kubectl(['create', '--dry-run=server', '-f', '-'], stringify(pod))).rejects.toThrow(
      'violates PodSecurity',
    );
  });

  test('install, upgrade with a newer CRD, uninstall: Pods come, the key stays the same, and what holds data stays', async () => {
    const copy = path.join(folder, 'chart');
    await cp(chart, copy, { recursive: true });
    const notes = await helmMust('install', 'realmkeeper', copy, '-n', 'identity');
    for (const word of ['port-forward', 'realmkeeper-admin', 'KEEP A COPY', 'FOR TRIALS ONLY'])
      expect(notes).toContain(word);
    // pasted into a shell, an indented end is none
    expect(notes).toMatch(/^EOF$/m);
    await eventually(async () => {
      const pods = await namesOf('pods');
      const of = (part: string) => pods.filter((name) => name.startsWith(`realmkeeper-${part}`)).length;
      expect([of('server'), of('operator'), of('postgresql')]).toEqual([2, 2, 1]);
    });
    expect(await kubectl(['get', 'events', '-n', 'identity', '--field-selector', 'type=Warning'])).not.toMatch(
      /forbidden|FailedCreate/i,
    );
    // who may edit a namespace may declare there, by Kubernetes' own role
    await kubectl(['create', 'rolebinding', 'editors', '-n', 'team-a', '--clusterrole=edit', '--user=alice']);
    const may = (at: string) =>
      there.kubectl(['auth', 'can-i', 'create', 'realms.realmkeeper.dev', '-n', at, '--as=alice']);
    await eventually(async () => expect((await may('team-a')).stdout.trim()).toBe('yes'));
    expect((await may('team-b')).stdout.trim()).toBe('no');

    const key = async () =>
      (await list('secrets', '--field-selector', 'metadata.name=realmkeeper-master-key'))[0]?.data;
    const before = await key();
    expect(before).toBeDefined();
    const crd = path.join(copy, 'files/crds/realmkeeper.dev_webhooks.yaml');
    await writeFile(crd, (await readFile(crd, 'utf8')).replace('- whk', '- whk\n      - newname'));
    const about = path.join(copy, 'Chart.yaml');
    await writeFile(about, (await readFile(about, 'utf8')).replaceAll(/ersion: 0\.1\.0$/gm, 'ersion: 0.2.0'));
    const revision = async () =>
      kubectl([
        'get',
        'statefulset/realmkeeper-postgresql',
        '-n',
        'identity',
        '-o',
        'jsonpath={.status.updateRevision}',
      ]);
    const database = await revision();
    await helmMust('upgrade', 'realmkeeper', copy, '-n', 'identity', '--set', 'server.replicas=3');
    expect(
      await kubectl(['get', 'crd', 'webhooks.realmkeeper.dev', '-o', 'jsonpath={.spec.names.shortNames}']),
    ).toContain('newname');
    expect(await key()).toEqual(before);
    // a release that changes nothing about the database doesn't restart it
    expect(await kubectl(['get', 'deployment', '-n', 'identity', '-o', 'jsonpath={..image}'])).toContain(
      'realmkeeper:0.2.0',
    );
    expect([database, await revision()]).toEqual([expect.stringMatching(/./), database]);
    // three of before and a new one: no Pod ends before another is ready, which none becomes here
    await eventually(async () =>
      expect((await namesOf('pods')).filter((name) => /-server-/.test(name))).toHaveLength(4),
    );

    await helmMust('uninstall', 'realmkeeper', '-n', 'identity');
    await eventually(async () => expect(await namesOf('pods')).toEqual([]));
    const left =
      'deployments,statefulsets,services,configmaps,secrets,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,persistentvolumeclaims';
    expect(await namesOf(left)).toEqual([
      'data-realmkeeper-postgresql-0',
      'default',
      'kube-root-ca.crt',
      'realmkeeper-admin',
      'realmkeeper-master-key',
      'realmkeeper-postgresql',
    ]);
    expect(
      await kubectl([
        'get',
        'clusterroles,clusterrolebindings',
        '-l',
        'app.kubernetes.io/part-of=realmkeeper',
        '-o',
        'name',
      ]),
    ).toBe('');
    expect(
      (await kubectl(['get', 'crds', '-l', 'app.kubernetes.io/part-of=realmkeeper', '-o', 'name'])).trim().split('\n'),
    ).toHaveLength(4);

    // what stayed fits the next installation
    await helmMust('install', 'realmkeeper', copy, '-n', 'identity');
    expect(await key()).toEqual(before);
    await helmMust('uninstall', 'realmkeeper', '-n', 'identity');
  });

  test.each(['production', 'one namespace'])('installs with the values %s, and its Pods are let in', async (set) => {
    const args = valueSets[set] ?? [];
    await helmMust('install', 'realmkeeper', chart, '-n', 'identity', ...args);
    await eventually(async () => {
      const pods = await namesOf('pods');
      for (const part of ['server', 'operator'])
        expect(pods.some((name) => name.startsWith(`realmkeeper-${part}-`))).toBe(true);
    });
    const refused = await kubectl([
      'get',
      'events',
      '-n',
      'identity',
      '--field-selector',
      'reason=FailedCreate',
      '-o',
      'name',
    ]);
    expect(refused).toBe('');
    await helmMust('uninstall', 'realmkeeper', '-n', 'identity');
    await eventually(async () => expect(await namesOf('pods')).toEqual([]));
    for (const team of ['team-a', 'team-b']) expect(await kubectl(['get', 'roles', '-n', team, '-o', 'name'])).toBe('');
  });

  test('a rendering that knows nothing of the generated key can’t replace it', async () => {
    const rendered = (await render()).filter(({ kind }) => kind === 'Secret').map((each) => stringify(each));
    await expect(
      kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], rendered.join('---\n')),
    ).rejects.toThrow('immutable');
  });

  test('the README’s own words install it, in a namespace that they make and that can be restricted afterwards', async () => {
    const words = deployWords('helm', 'install').map((word) => (word === 'charts/realmkeeper' ? chart : word));
    // the CRDs are those that former releases left here
    await helmMust('install', ...words, '--take-ownership');
    const namespace = words[words.indexOf('-n') + 1] ?? '';
    await eventually(async () => {
      const pods = List.parse(JSON.parse(await kubectl(['get', 'pods', '-n', namespace, '-o', 'json']))).items;
      expect(pods).toHaveLength(5);
    });
    const image = await kubectl(['get', 'deployment/realmkeeper-server', '-n', namespace, '-o', 'jsonpath={..image}']);
    expect(image).toContain(`${deployedImage().name}:${deployedImage().tag}`);
    // Pods that are there and aren't as restricted as that would be warned of
    const restricted = 'pod-security.kubernetes.io/enforce=restricted';
    expect(await kubectl(['label', 'namespace', namespace, restricted])).not.toMatch(/warning/i);
    await helmMust('uninstall', 'realmkeeper', '-n', namespace);
  });

  test('helm’s own test Pod is admitted', async () => {
    await helmMust('install', 'tested', chart, '-n', 'identity', '--set', 'crds.install=false');
    const [pod] = objectsOf(await helmMust('get', 'hooks', 'tested', '-n', 'identity'));
    expect(await kubectl(['create', '--dry-run=server', '-f', '-'], stringify(pod))).toContain('created');
    await helmMust('uninstall', 'tested', '-n', 'identity');
  });
});
