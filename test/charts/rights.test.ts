// The chart's own words in force: the operator's process runs with the arguments, the account and the rights that the
// chart gives it, signs in as the chart tells the server, does its work, and may do nothing else.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type SharedCluster, shareCluster } from '../kubernetes/shared-cluster.ts';
import { compileCache } from '../support/compile-cache.ts';
import { eventually, type Manifest, resource } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type AnyObject, helmAssets, render, root } from './helm.ts';

const [found, helmFound] = [await clusterAssets(), await helmAssets()];
const ACCOUNT = 'system:serviceaccount:identity:realmkeeper-operator';
const Deployment = z.object({
  spec: z.object({
    template: z.object({ spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()) })]) }) }),
  }),
});
const Config = z.object({ data: z.record(z.string(), z.string()) });

describe.skipIf(!found.found || !helmFound.found)('the operator with what the chart gives it', () => {
  let cluster: SharedCluster;
  let server: TestServer;
  let folder: string;
  let running: { child: ChildProcess; said(): string } | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-rights-'));
    cluster = await shareCluster();
    for (const name of ['identity', 'team-a', 'team-b', 'team-c']) await kubectl('create', 'namespace', name);
    await kubectl('create', 'serviceaccount', 'realmkeeper-server', '-n', 'identity');
    const file = async (name: string, content: string) => {
      await writeFile(path.join(folder, name), content);
      return path.join(folder, name);
    };
    const { data } = Config.parse(pick(await render(), 'ConfigMap', 'realmkeeper-server'));
    const { SVC_OPERATOR_SUBJECT = '', SVC_OPERATOR_AUDIENCE = '' } = data;
    server = await startTestServer({
      env: {
        SVC_OPERATOR_SUBJECT,
        SVC_OPERATOR_AUDIENCE,
        // what the chart projects
        SVC_CLUSTER_CA_FILE: await file('ca.crt', cluster.ca),
        SVC_CLUSTER_TOKEN_FILE: await file(
          'server',
          await kubectl('create', 'token', 'realmkeeper-server', '-n', 'identity'),
        ),
      },
    });
  });
  afterEach(async () => {
    if (!running) return;
    const ended = once(running.child, 'exit');
    running.child.kill('SIGTERM');
    await ended;
    running = undefined;
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const kubectl = async (...args: string[]) => (await cluster.must(args)).trim();
  async function apply(...objects: (AnyObject | Manifest)[]): Promise<void> {
    const text = objects.map((object) => stringify(object)).join('---\n');
    await cluster.must(['apply', '--server-side', '--force-conflicts', '-f', '-'], text);
  }
  const pick = (objects: AnyObject[], kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name);

  /** Puts the chart's account and rights in force, and starts the operator as its Pod would. */
  async function start(values: string[]): Promise<void> {
    const objects = await render(values);
    const kinds = /^(Role|RoleBinding|ClusterRole|ClusterRoleBinding)$/;
    const account = pick(objects, 'ServiceAccount', 'realmkeeper-operator');
    if (!account) throw new Error('the chart makes no ServiceAccount for the operator');
    await apply(account, ...objects.filter(({ kind }) => kinds.test(kind)));
    // a right counts a moment after it was given
    for (const [what, namespace] of [
      ['list realms.realmkeeper.dev', 'team-a'],
      ['create leases.coordination.k8s.io', 'identity'],
    ] as const)
      await eventually(() => kubectl('auth', 'can-i', ...what.split(' '), '-n', namespace, '--as', ACCOUNT));
    const token = (...more: string[]) => kubectl('create', 'token', 'realmkeeper-operator', '-n', 'identity', ...more);
    const kubeconfig = path.join(folder, 'kubeconfig');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [
        {
          name: 'c',
          cluster: { server: cluster.server, 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') },
        },
      ],
      users: [{ name: 'u', user: { token: await token() } }],
    };
    await writeFile(kubeconfig, stringify(config));
    const tokenFile = path.join(folder, 'operator');
    await writeFile(tokenFile, await token('--audience=realmkeeper'));
    const [{ args }] = Deployment.parse(pick(objects, 'Deployment', 'realmkeeper-operator')).spec.template.spec
      .containers;
    const child = spawn(process.execPath, [path.join(root, 'operator/main.ts'), ...args.slice(1)], {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        POD_NAMESPACE: 'identity',
        KUBECONFIG: kubeconfig,
        ...compileCache(),
        SVC_SERVER_URL: server.baseUrl,
        SVC_OPERATOR_TOKEN_FILE: tokenFile,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    running = { child, said: () => said };
  }
  const ready = (namespace: string, ...names: string[]) =>
    eventually(async () => {
      const told = await kubectl('get', 'realmkeeper', '-n', namespace, '-o', 'name');
      for (const name of names) expect(told).toContain(name);
      await kubectl('wait', '-n', namespace, '--for=condition=Ready', '--timeout=5s', 'realmkeeper', '--all').catch(
        (error) => {
          throw new Error(`${error}\n${running?.said()}`);
        },
      );
    });
  /** Everything it may do in a namespace, besides what every account may. */
  async function rights(namespace: string): Promise<string[]> {
    const told = await kubectl(
      'auth',
      'can-i',
      '--list',
      '--no-headers',
      '-n',
      namespace,
      '--as',
      ACCOUNT,
      '--as-group',
      'system:serviceaccounts',
      '--as-group',
      'system:authenticated',
    );
    return told
      .split('\n')
      .map((line) => {
        const [, what = '', urls, names = '', verbs = ''] =
          /^(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]$/.exec(line.trimEnd()) ?? [];
        return urls === '' ? `${what}${names && ` ${names}`}: ${verbs}` : '';
      })
      .filter((line) => line !== '' && !/^self\w+reviews\./.test(line))
      .sort();
  }

  const kinds = ['flows', 'realms', 'webhooks', 'workloadidentities'];
  const work = [
    'events: create patch',
    ...kinds.map((kind) => `${kind}.realmkeeper.dev/status: patch`),
    ...kinds.map((kind) => `${kind}.realmkeeper.dev: get list watch patch`),
    'configmaps: get list watch',
    'secrets: get list watch',
  ].sort();
  const lease = ['leases.coordination.k8s.io realmkeeper-operator: get update', 'leases.coordination.k8s.io: create'];
  const hook = (realm: string, namespace: string) =>
    resource(
      'Webhook',
      'listen',
      {
        realm,
        url: 'https://receiver.example.com/',
        eventTypes: ['KEY_DELETED'],
        secretKeyRef: { name: 'signing', key: 'secret' },
      },
      { namespace },
    );
  const secret = (namespace: string): Manifest => ({
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'signing', namespace },
    stringData: { secret: 'a secret of good length' },
  });
  const noRefusals = () =>
    expect(running?.said()).not.toMatch(/forbidden|cannot (get|list|watch|create|patch|update)/i);

  test('for a whole cluster: realms, a Secret, events and a lease, and no right more than that takes', async () => {
    await start([]);
    await apply(
      resource('Realm', 'acme', { realm: 'acme' }, { namespace: 'team-a' }),
      secret('team-a'),
      hook('acme', 'team-a'),
    );
    await ready('team-a', 'realm', 'webhook');
    await eventually(async () => expect(await kubectl('get', 'events', '-n', 'team-a', '-o', 'name')).not.toBe(''));
    expect(
      await kubectl('get', 'lease', 'realmkeeper-operator', '-n', 'identity', '-o', 'jsonpath={.spec.holderIdentity}'),
    ).not.toBe('');
    await kubectl('delete', 'realmkeeper', '--all', '-n', 'team-a', '--timeout=120s');
    noRefusals();
    const everywhere = [...work, 'namespaces: get list watch'].sort();
    expect(await rights('team-a')).toEqual(everywhere);
    expect(await rights('identity')).toEqual([...everywhere, ...lease].sort());
    await kubectl('delete', 'clusterrolebinding', '-l', 'app.kubernetes.io/part-of=realmkeeper');
  });

  test('to write Secrets in one namespace: there a client gets its Secret, elsewhere the condition names the right', async () => {
    await start(['--set', 'operator.writeSecretNamespaces={team-b}']);
    const client = { clientId: 'app', grantTypes: ['client_credentials'], secretOutput: { name: 'app-oidc' } };
    for (const team of ['team-a', 'team-b'])
      await apply(resource('Realm', 'own', { realm: `own-${team}`, clients: [client] }, { namespace: team }));
    await ready('team-b', 'realm');
    const secrets = async (team: string) => kubectl('get', 'secret', 'app-oidc', '-n', team, '-o', 'name');
    expect(await secrets('team-b')).toBe('secret/app-oidc');
    const stalled = await eventually(async () => {
      const message = '{.status.conditions[?(@.reason=="SecretForbidden")].message}';
      const told = await kubectl('get', 'realm/own', '-n', 'team-a', '-o', `jsonpath=${message}`);
      expect(told).not.toBe('');
      return told;
    });
    expect(stalled).toContain('operator.writeSecretNamespaces gives it for team-a');
    await expect(secrets('team-a')).rejects.toThrow();
    expect(await rights('team-a')).toContain('secrets: get list watch');
    expect((await rights('team-b')).filter((line) => line.startsWith('secrets')).join()).toMatch(/create patch delete/);
    for (const team of ['team-a', 'team-b'])
      await kubectl('delete', 'realmkeeper', '--all', '-n', team, '--timeout=120s');
    await kubectl('delete', 'rolebinding', '-n', 'team-b', '-l', 'app.kubernetes.io/part-of=realmkeeper');
    await kubectl('delete', 'clusterrolebinding', '-l', 'app.kubernetes.io/part-of=realmkeeper');
  });

  test('for two namespaces: it works there, and other namespaces are closed to it', async () => {
    await start(['--set', 'operator.watchNamespaces={team-a,team-b},operator.clusterName=here']);
    for (const team of ['team-a', 'team-b', 'team-c'])
      await apply(resource('Realm', team, { realm: team }, { namespace: team }), secret(team), hook(team, team));
    await ready('team-a', 'realm', 'webhook');
    await ready('team-b', 'realm', 'webhook');
    expect(await kubectl('get', 'realm/team-c', '-n', 'team-c', '-o', 'jsonpath={.status.conditions}')).toBe('');
    for (const team of ['team-a', 'team-b'])
      await kubectl('delete', 'realmkeeper', '--all', '-n', team, '--timeout=120s');
    noRefusals();
    expect(await rights('team-a')).toEqual(work);
    expect(await rights('team-c')).toEqual([]);
    expect(await rights('identity')).toEqual(lease.toSorted());
  });
});
