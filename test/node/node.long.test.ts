// The image and the chart on a real node: Pods that kubelet runs, Services, probes, the operator's projected token, upgrades,
// evictions and deaths. The tests build on each other, on one node and one release.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { listEvents } from '../../server/contract/events.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { root } from '../charts/helm.ts';
import { buildImage, IMAGE } from '../containers/images.ts';
import { eventually } from '../support/operator.ts';
import { type Called, makeCallers, startCallers } from './callers.ts';
import { type Node, startNode } from './node.ts';
import { imageOf, installRelease, NAMESPACE, PATIENCE_MS, type Pod, type Release } from './release.ts';

// what takes several rounds of Pods takes minutes where the processors are shared
vi.setConfig({ testTimeout: 900_000, hookTimeout: 1_200_000 });

/** Takes more memory than it may. */
const GREEDY = JSON.stringify({
  spec: {
    containers: [
      {
        name: 'greedy',
        image: IMAGE,
        args: ['-e', 'const taken = []; for (;;) taken.push(Buffer.alloc(1 << 20, 1));'],
        resources: { limits: { memory: '128Mi' } },
      },
    ],
  },
});

let node: Node;

beforeAll(async () => {
  await buildImage();
  node = await startNode();
  await node.load(IMAGE);
});
afterAll(async () => {
  await node?.stop();
  vi.resetConfig();
});

const podOf = (name: string, script: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'first', labels: { app: name } },
  spec: {
    restartPolicy: 'OnFailure',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name,
        image: IMAGE,
        args: ['-e', script],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        ...more,
      },
    ],
  },
});

test('a Pod of the restricted profile runs, and another reaches it by a Service’s name', async () => {
  const { must } = node.cluster;
  const apply = (...objects: object[]) =>
    must(['apply', '-f', '-'], objects.map((each) => stringify(each)).join('---\n'));
  const waitFor = (state: string, name: string) =>
    must(['wait', `--for=${state}`, `pod/${name}`, '-n', 'first', `--timeout=${PATIENCE_MS / 1000}s`]);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'first', labels } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'greeting', namespace: 'first' },
      spec: { selector: { app: 'greets' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  );
  await eventually(() => must(['get', 'serviceaccount/default', '-n', 'first']), PATIENCE_MS);
  await apply(
    podOf('greets', "require('http').createServer((_, answer) => answer.end('good day')).listen(8080)", {
      readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
    }),
    // it fails until the Service has an end, and kubelet begins it anew
    podOf('asks', "fetch('http://greeting').then((a) => a.text()).then((said) => console.log('it said: ' + said))"),
  );
  await waitFor('condition=Ready', 'greets');
  await waitFor('jsonpath={.status.phase}=Succeeded', 'asks');
  expect(await must(['logs', 'asks', '-n', 'first'])).toContain('it said: good day');
  await must(['delete', 'namespace', 'first']);
});

describe('the chart', () => {
  let release: Release;
  beforeAll(async () => {
    release = await installRelease(node);
    await release.install();
  });
  afterAll(() => release?.stop());

  test('two servers, two operators and the bundled PostgreSQL become ready by the probes that kubelet asks', async () => {
    await release.all();
    for (const part of ['server', 'operator', 'postgresql'] as const)
      for (const { status } of await release.podsOf(part))
        expect(status.containerStatuses.map(({ name, restartCount }) => [name, restartCount])).toEqual([[part, 0]]);
  });

  test('helm’s own test finds the server by the name of its Service', async () => {
    expect(await release.helm('test', 'realmkeeper', '--timeout', '5m')).toMatch(/Phase:\s+Succeeded/);
  });

  test('the operator signs in by the token that kubelet projects, and has no other secret', async () => {
    await eventually(async () => {
      const told = await Promise.all(
        (await release.podsOf('operator')).map(({ metadata }) => release.ask(metadata.name, 8081, '/metrics')),
      );
      expect(told.join('\n')).toMatch(/^svc_operator_server_up(\{.*\})? 1$/m);
    }, PATIENCE_MS);
    const client = await release.admin();
    const { body: events = [] } = await client.call(listEvents, {
      params: { realm: 'master' },
      query: { type: 'WORKLOAD_TOKEN_ISSUED' },
    });
    expect(events).not.toEqual([]);
    expect(events[0]?.data).toMatchObject({ subject: `system:serviceaccount:${NAMESPACE}:realmkeeper-operator` });
    const deployment = await release.must(['get', 'deployment/realmkeeper-operator', '-n', NAMESPACE, '-o', 'yaml']);
    expect(deployment).not.toMatch(/secretKeyRef|CLIENT_SECRET/);
  });

  test('kubectl apply of the examples makes a realm whose service gets tokens', async () => {
    await release.must(['apply', '-n', 'default', '-f', path.join(root, 'crds/examples')]);
    await release.must(['wait', '--for=condition=Ready', 'realmkeeper', '--all', '-n', 'default', '--timeout=120s']);
    const secret = 'for-a-demonstration-only-replace-me-0001';
    const answer = await fetch(`${release.url}/realms/demo/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`demo-service:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ token_type: 'Bearer' })]);
  });

  test('migrations run as the Job of docs/upgrade.md', async () => {
    const guide = await readFile(path.join(root, 'docs/upgrade.md'), 'utf8');
    const [, job = ''] = /```yaml\n(apiVersion: batch\/v1\n[\s\S]*?)```/.exec(guide) ?? [];
    expect(job).toContain(`namespace: ${NAMESPACE}`);
    const here = job.replace(imageOf('NEW'), imageOf('0.2.0'));
    await release.must(['apply', '-f', '-'], here);
    await release.must([
      'wait',
      '--for=condition=Complete',
      'job/migrations',
      '-n',
      NAMESPACE,
      `--timeout=${PATIENCE_MS / 1000}s`,
    ]);
    expect(await release.must(['logs', 'job/migrations', '-n', NAMESPACE])).toContain('The database is up to date');
  });

  describe('while people sign in and services ask for tokens', () => {
    beforeAll(() => makeCallers(release));

    /** Does something while they call, and goes on a little; gives what they saw. */
    async function meanwhile(work: () => Promise<void>): Promise<Called> {
      const { called, stop } = startCallers(release);
      const enough = async (more: number) => {
        const { signIns, tokens } = called;
        await eventually(() => {
          expect(Math.min(called.signIns - signIns, called.tokens - tokens)).toBeGreaterThanOrEqual(more);
        }, PATIENCE_MS);
      };
      try {
        await enough(10);
        await work();
        await enough(10);
      } finally {
        await stop();
      }
      return called;
    }
    const ofVersion = (version: string) => (pod: Pod) =>
      pod.spec.containers.every(({ image }) => image === imageOf(version));

    test('an upgrade replaces every Pod, and nobody sees a fault', async () => {
      const { faults } = await meanwhile(async () => {
        await release.upgrade('--set', 'image.tag=0.2.0');
        await release.all(ofVersion('0.2.0'));
      });
      expect(faults).toEqual([]);
    });

    test('a rollback puts the first version back, and nobody sees a fault', async () => {
      const { faults } = await meanwhile(async () => {
        await release.rollback(1);
        await release.all(ofVersion('0.1.0'));
      });
      expect(faults).toEqual([]);
    });

    test('a drain gets one Pod of a part at a time, and nobody sees a fault', async () => {
      const { faults } = await meanwhile(async () => {
        for (const part of ['server', 'operator'] as const) {
          const [first, second] = await release.whole(part, 2);
          expect(await release.evict(first)).toMatchObject({ evicted: true });
          expect(await release.evict(second)).toMatchObject({
            evicted: false,
            said: expect.stringContaining('disruption budget'),
          });
          await release.whole(part, 2, (pod) => pod.metadata.uid !== first?.metadata.uid);
          // the budget counts the new Pod a moment after it is ready
          await eventually(
            async () => expect(await release.evict(second)).toMatchObject({ evicted: true }),
            PATIENCE_MS,
          );
          await release.whole(part, 2, (pod) => pod.metadata.uid !== second?.metadata.uid);
        }
      });
      expect(faults).toEqual([]);
    });

    test('a server Pod that is killed is replaced, and after that nobody sees a fault', async () => {
      const [first] = await release.whole('server', 2);
      await release.kill(first);
      await release.whole('server', 2, ({ metadata }) => metadata.uid !== first?.metadata.uid);
      const { faults } = await meanwhile(async () => {});
      expect(faults).toEqual([]);
    });

    test('another operator leads when the leader is killed, and does what is declared then', async () => {
      const lease = ['get', 'lease/realmkeeper-operator', '-n', NAMESPACE, '-o', 'jsonpath={.spec.holderIdentity}'];
      const pods = await release.whole('operator', 2);
      const holder = await release.must(lease);
      const leader = pods.find(({ metadata }) => holder.startsWith(metadata.name));
      expect(leader, holder).toBeDefined();
      await release.kill(leader);
      const change = JSON.stringify({ spec: { settings: { displayName: 'After the death' } } });
      await release.must(['patch', 'realm/callers', '-n', NAMESPACE, '--type=merge', '-p', change]);
      const client = await release.admin();
      await eventually(async () => {
        const { body } = await client.call(getSettings, { params: { realm: 'callers' } });
        expect(body?.displayName).toBe('After the death');
      }, PATIENCE_MS);
      expect(await release.must(lease)).not.toBe(holder);
      await release.whole('operator', 2);
    });

    test('the database’s Pod is killed: it comes back with its data, and the servers were never ended for it', async () => {
      const before = await release.whole('server', 2);
      const [database] = await release.whole('postgresql', 1);
      await release.kill(database);
      await release.whole('postgresql', 1, ({ metadata }) => metadata.uid !== database?.metadata.uid);
      const after = await release.whole('server', 2);
      const lives = (pods: Pod[]) =>
        pods.map(({ metadata, status }) => [metadata.uid, status.containerStatuses[0]?.restartCount]).sort();
      expect(lives(after)).toEqual(lives(before));
      const { faults } = await meanwhile(async () => {});
      expect(faults).toEqual([]);
    });

    test('no container was ended for its memory by the limits, which hold on this node', async () => {
      await release.all();
      await release.expectNoneOutOfMemory();
      await release.must(['run', 'greedy', '--image', IMAGE, '--restart=Never', '--overrides', GREEDY]);
      const ended = 'jsonpath={.status.containerStatuses[0].state.terminated.reason}=OOMKilled';
      await release.must(['wait', `--for=${ended}`, 'pod/greedy', `--timeout=${PATIENCE_MS / 1000}s`]);
    });
  });
});
