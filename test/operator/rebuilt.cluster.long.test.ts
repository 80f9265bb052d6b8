// Whole clusters come and go, and the server's database stays: manifests of Git on a new API server find what they declared
// before, and two clusters keep their own on one server.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listHistory } from '../../server/contract/history.ts';
import { moveManagers } from '../../server/contract/transfer.ts';
import { type Cluster, clusterAssets, startCluster } from '../kubernetes/cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const REALM = 'kept';
const inGit: Manifest[] = [
  secret('web', { secret: 'a-secret-of-the-client-0123456789' }),
  resource('Flow', 'steps', {
    realm: REALM,
    alias: 'steps',
    executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }],
  }),
  resource('Realm', REALM, {
    realm: REALM,
    settings: { displayName: 'Kept', browserFlow: 'steps' },
    roles: [{ name: 'editor' }],
    clients: [
      {
        clientId: 'web',
        grantTypes: ['client_credentials'],
        flowOverride: 'steps',
        secretKeyRef: { name: 'web', key: 'secret' },
      },
    ],
  }),
  resource('Webhook', 'audit', { realm: REALM, url: 'https://receiver.example.com/', eventTypes: ['*'] }),
  resource('WorkloadIdentity', 'job', {
    realm: REALM,
    clientId: 'web',
    issuer: 'https://issuer.example.com',
    subject: 'system:serviceaccount:default:job',
    audience: 'https://id.example.com',
  }),
];
const KINDS = ['realm', 'flow', 'webhook', 'workloadidentity'];

describe.skipIf(!assets.found)('a server whose clusters come and go', () => {
  let land: Landscape<Cluster>;
  const others: Cluster[] = [];
  let operators = 0;
  beforeAll(async () => {
    land = await startLandscape({ own: {} });
    await land.server.start();
  });
  afterAll(async () => {
    await land?.stop();
    await Promise.all(others.map((one) => one.stop()));
  });

  async function newCluster(): Promise<Cluster> {
    const cluster = await startCluster({ crds: [path.resolve(import.meta.dirname, '../../crds')] });
    others.push(cluster);
    return cluster;
  }
  async function operatorOn(cluster: Cluster, ...args: string[]): Promise<Program> {
    operators += 1;
    const operator = land.operatorLike(`operator-${operators}`, {
      args: ['--no-leader-elect', ...args],
      env: { KUBECONFIG: cluster.kubeconfig },
    });
    await operator.start();
    return operator;
  }
  const apply = (cluster: Cluster, items: readonly Manifest[]) =>
    cluster.must(['apply', '--server-side', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  /** `Kind/name: reason` of each resource. */
  const reasons = async (cluster: Cluster): Promise<string[]> => {
    const { items } = JSON.parse(await cluster.must(['get', KINDS.join(','), '-o', 'json']));
    return items.map(
      ({
        kind,
        metadata,
        status = {},
      }: {
        kind: string;
        metadata: { name: string };
        status?: Record<string, unknown>;
      }) => {
        const conditions = (status.conditions ?? []) as { type: string; reason: string }[];
        return `${kind}/${metadata.name}: ${conditions.find(({ type }) => type === 'Ready')?.reason}`;
      },
    );
  };
  const all = (reason: string) =>
    ['Flow/steps', 'Realm/kept', 'Webhook/audit', 'WorkloadIdentity/job'].map((name) => `${name}: ${reason}`);
  const ready = (cluster: Cluster) =>
    eventually(async () => expect((await reasons(cluster)).sort()).toEqual(all('Applied')));
  const history = async () =>
    (await land.client.call(listHistory, { params: { realm: REALM }, query: {} })).body?.map(
      ({ revision }) => revision,
    );

  test('under its name a new cluster finds everything as it declares it, and changes nothing', async () => {
    const first = await operatorOn(land.cluster, '--cluster-name', 'production');
    await apply(land.cluster, inGit);
    await ready(land.cluster);
    const applied = await history();
    await first.kill();

    const second = await newCluster();
    const operator = await operatorOn(second, '--cluster-name', 'production');
    await apply(second, inGit);
    await ready(second);
    expect(await history()).toEqual(applied);
    await operator.kill();
  });

  test('without one it is told whose things they are, and has them once they were moved to it', async () => {
    const third = await newCluster();
    await operatorOn(third);
    await apply(third, inGit);
    const told = await eventually(async () => {
      // the others wait for it, and say so
      const { status = {} } = JSON.parse(await third.must(['get', 'realm', REALM, '-o', 'json']));
      const said = JSON.stringify(status);
      expect(said).toContain('managers move');
      return said;
    });
    expect(told).toContain('the same resource on the cluster production');
    const uid = (await third.must(['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}'])).trim();
    expect(told).toContain(`realmctl managers move k8s:production k8s:${uid}`);
    await land.client.call(moveManagers, { body: { from: 'k8s:production', to: `k8s:${uid}` } });
    await ready(third);
  });

  test('two clusters keep realms of their own on one server, and neither takes the other’s', async () => {
    const [here, there] = await Promise.all([newCluster(), newCluster()]);
    await Promise.all([operatorOn(here, '--cluster-name', 'here'), operatorOn(there, '--cluster-name', 'there')]);
    const realm = (name: string, displayName: string) =>
      resource('Realm', name, { realm: name, settings: { displayName } });
    await Promise.all([
      apply(here, [realm('of-here', 'Here'), realm('both', 'Here')]),
      apply(there, [realm('of-there', 'There')]),
    ]);
    await eventually(async () =>
      expect([...(await reasons(here)), ...(await reasons(there))].sort()).toEqual([
        'Realm/both: Applied',
        'Realm/of-here: Applied',
        'Realm/of-there: Applied',
      ]),
    );
    await apply(there, [realm('both', 'There')]);
    await eventually(async () =>
      expect((await reasons(there)).find((one) => one.startsWith('Realm/both'))).not.toContain('Applied'),
    );
    const { stdout } = await there.kubectl(['get', 'realm', 'both', '-o', 'json']);
    expect(stdout).toContain('here');
    expect((await reasons(here)).sort()).toEqual(['Realm/both: Applied', 'Realm/of-here: Applied']);
  });
});
