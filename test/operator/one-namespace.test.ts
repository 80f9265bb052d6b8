// The operator for one namespace alone: whoever runs it has rights there and nowhere else, and nothing that it does needs more.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { getSettings } from '../../server/contract/settings.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { type Cluster, clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const HOME = 'shop';
const USER = 'shop-operator';

/** Rights in one namespace; no ClusterRole is bound to this user. */
const rights = [
  {
    kind: 'Role',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: USER, namespace: HOME },
    rules: [
      { apiGroups: ['realmkeeper.dev'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
    ],
  },
  {
    kind: 'RoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: USER, namespace: HOME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: USER },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER }],
  },
];

describe.skipIf(!assets.found)('an operator with rights in one namespace', () => {
  let land: Landscape<Cluster>;
  let operator: Program;
  beforeAll(async () => {
    land = await startLandscape({ own: { audit: 'everything' } });
    for (const name of [HOME, 'elsewhere']) await land.kubectl('create', 'namespace', name);
    await land.cluster.kubectl(['apply', '-f', '-'], rights.map((one) => stringify(one)).join('---\n'));
    await land.server.start();
    operator = land.operatorLike('operator-of-one', {
      args: ['--watch-namespace', HOME, '--namespace', HOME, '--cluster-name', 'prod'],
      env: { KUBECONFIG: await land.cluster.user(USER) },
    });
    await operator.start();
  });
  afterAll(() => land?.stop());

  const at = { namespace: HOME };
  const ready = (name: string) => land.kubectl('wait', name, '-n', HOME, '--for=condition=Ready', '--timeout=120s');
  const job = {
    clientId: 'job',
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['client_credentials'],
    secretKeyRef: { name: 'job', key: 'secret' },
  };

  test('leads, applies, reads Secrets, tells events and lets go, all within that namespace', async () => {
    const spec = { realm: 'shop', settings: { displayName: 'Shop' }, clients: [job] };
    await land.apply(resource('Realm', 'shop', spec, at));
    await eventually(async () => {
      const conditions = await land.kubectl('get', 'realm/shop', '-n', HOME, '-o', 'jsonpath={.status.conditions}');
      expect(conditions).toContain('SecretMissing');
    });
    await land.apply(
      secret('job', { secret: 'svc_cs_0123456789abcdefghijklmnopqrstuv' }, HOME),
      resource('Webhook', 'hook', { realm: 'shop', url: 'https://one.example/', eventTypes: ['KEY_DELETED'] }, at),
    );
    await ready('realm/shop');
    await ready('webhook/hook');
    expect(await land.kubectl('get', 'events', '-n', HOME, '-o', 'jsonpath={.items[*].reason}')).toContain('Applied');
    await land.kubectl('delete', 'webhook/hook', '-n', HOME, '--timeout=120s');
    expect((await land.client.call(listWebhooks, { params: { realm: 'shop' } })).body).toEqual([]);
    const { body } = await land.client.call(getSettings, { params: { realm: 'shop' } });
    expect(body?.displayName).toBe('Shop');
  });

  test('a selector of namespaces is refused in words, and opens the realm to nobody', async () => {
    const selector = { matchLabels: { team: 'a' } };
    const allowedNamespaces = { from: 'Selector', selector };
    await land.apply(
      resource('Realm', 'chosen', { realm: 'chosen', allowedNamespaces }, at),
      resource('Webhook', 'chosen', { realm: 'chosen', url: 'https://one.example/', eventTypes: ['*'] }, at),
    );
    const conditions = (name: string) => land.kubectl('get', name, '-n', HOME, '-o', 'jsonpath={.status.conditions}');
    await eventually(async () => {
      expect(await conditions('realm/chosen')).toMatch(/--watch-namespace.*let it say Same or All/);
      expect(await conditions('webhook/chosen')).toContain('RealmNotDeclared');
    });
  });

  test('what is in another namespace is not seen', async () => {
    await land.apply(resource('Realm', 'other', { realm: 'other' }, { namespace: 'elsewhere' }));
    // the next one is seen, and so this one would have been
    await land.apply(resource('Realm', 'later', { realm: 'later' }, at));
    await ready('realm/later');
    const text = await land.kubectl('get', 'realm/other', '-n', 'elsewhere', '-o', 'json');
    expect(JSON.parse(text).status).toEqual({ observedGeneration: -1 });
  });

  test('in all this it asked for nothing outside of that namespace, and was refused nothing', async () => {
    const asked = (await land.cluster.requests()).filter(({ user }) => user === USER);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter(({ namespace }) => namespace !== HOME)).toEqual([]);
    expect(asked.filter(({ status }) => status === 403)).toEqual([]);
  });
});
