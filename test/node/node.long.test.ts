// The image on a real node: Pods that kubelet runs, Services and their names.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { buildImage, IMAGE } from '../containers/images.ts';
import { eventually } from '../support/operator.ts';
import { type Node, startNode } from './node.ts';

// what takes several rounds of Pods takes minutes where the processors are shared
vi.setConfig({ testTimeout: 900_000, hookTimeout: 1_200_000 });

/** Of a machine that does other things as well. */
const PATIENCE_MS = 300_000;

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
