// deploy/install.yaml is what the chart renders for whoever has no Helm, and the CRDs as they are generated: `npm test -- test/charts/install-manifest.test.ts -u` writes it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CRDS, withCrds } from '../../operator/chart-readme.ts';
import { renderCrds } from '../../operator/crd.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { shareCluster } from '../kubernetes/shared-cluster.ts';
import { chart, helm, helmAssets, objectsOf, root } from './helm.ts';

const [found, helmFound] = [await clusterAssets(), await helmAssets()];
const NAMESPACE = 'realmkeeper';
const HEAD = `# Realmkeeper without Helm: servers and operators, for a PostgreSQL of yours. Printed from the chart; change server.baseUrl's
# address (http://localhost:8080) and the image everywhere first, and make the Secrets that it names:
#   kubectl create namespace ${NAMESPACE}
#   kubectl -n ${NAMESPACE} create secret generic realmkeeper-master-key --from-literal=master-key="$(openssl rand -base64 32)"
#   kubectl -n ${NAMESPACE} create secret generic realmkeeper-admin --from-literal=password="$(openssl rand -base64 18)"
#   kubectl -n ${NAMESPACE} create secret generic realmkeeper-database --from-literal=uri='postgres://…?sslmode=verify-full'
#   kubectl apply --server-side -f deploy/install.yaml
# Keep a copy of the master key: without it nobody can read what is sealed. Where several clusters declare on one server, give each a name
# of its own in place of --cluster-name=production: who has the same name owns the same objects.
apiVersion: v1
kind: Namespace
metadata:
  name: ${NAMESPACE}
  labels: { pod-security.kubernetes.io/enforce: restricted }
---
`;
const values = [
  'masterKey.existingSecret=realmkeeper-master-key',
  'bootstrapAdmin.existingSecret=realmkeeper-admin',
  'database.existingSecret=realmkeeper-database',
  'database.urlKey=uri',
  'postgresql.enabled=false',
  'operator.clusterName=production',
  'tests.enabled=false',
  'crds.install=false',
];

async function rendered(): Promise<string> {
  const args = ['template', 'realmkeeper', chart, '-n', NAMESPACE, '--set', values.join(',')];
  const { code, stdout, stderr } = await helm(args);
  if (code !== 0) throw new Error(stderr);
  const text = HEAD + stdout.replace(/^# Source: .*\n/gm, '').replace(/^---\n/, '');
  return `${withCrds(
    `${text}---\n${CRDS}`,
    [...renderCrds().values()].map((crd) => crd.trimEnd()),
  )}\n`;
}

describe.skipIf(!helmFound.found)('the plain manifest', () => {
  test('is what the chart renders, and holds no Secret', async () => {
    const text = await rendered();
    expect(objectsOf(text).filter(({ kind }) => kind === 'Secret')).toEqual([]);
    await expect(text).toMatchFileSnapshot(path.join(root, 'deploy/install.yaml'));
  });

  test.skipIf(!found.found)('is taken by an API server, strictly', async () => {
    const cluster = await shareCluster();
    const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-install-'));
    try {
      const file = path.join(folder, 'install.yaml');
      // the namespace must be there for a dry run of what is in it
      await cluster.must(['create', 'namespace', NAMESPACE]);
      await writeFile(file, await rendered());
      const { code, stderr } = await cluster.kubectl([
        ...['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', file],
      ]);
      expect([code, stderr]).toEqual([0, '']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
