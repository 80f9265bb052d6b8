// Everything on a real API server: the examples applied by kubectl, as a person would, against a real server.
// The folder's tests (reconcile*.test.ts) hold the rules; these hold what only Kubernetes can show.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { managerOf, resourceOf } from '../../operator/resource.ts';
import { serverSession } from '../../operator/session.ts';
import { clusterSource, clusterUid } from '../../operator/source/cluster.ts';
import { type Operator, startOperator } from '../../operator/start.ts';
import { createClient } from '../../server/contract/client.ts';
import { listEvents } from '../../server/contract/events.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { type Cluster, clusterAssets, startCluster } from '../kubernetes/cluster.ts';
import { eventually, OPERATOR_SECRET } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const assets = await clusterAssets();
const root = path.resolve(import.meta.dirname, '../..');
const examples = path.join(root, 'crds/examples');
const params = { realm: 'demo' };

describe.skipIf(!assets.found)('the operator on a cluster', () => {
  let cluster: Cluster;
  let server: TestServer;
  let operator: Operator;
  const lines: string[] = [];

  const kubectl = (args: string[], input?: string) => cluster.must(args, input);
  const refusal = async (args: string[], input?: string) => {
    const { code, stderr } = await cluster.kubectl(args, input);
    expect(code).not.toBe(0);
    return stderr;
  };
  /** Of the spec as it is now: a condition may be of the one before. */
  async function ready(...names: string[]): Promise<void> {
    for (const name of names) {
      await eventually(async () => {
        const { metadata, status } = JSON.parse(await kubectl(['get', name, '-o', 'json']));
        expect(status.observedGeneration).toBe(metadata.generation);
      });
    }
    await kubectl(['wait', '--for=condition=Ready', '--timeout=120s', ...names]);
  }
  const everything = () => ready('realm/demo', 'flow/demo-browser', 'webhook/demo-audit', 'workloadidentity/demo-ci');
  const condition = (name: string, type: string, field = 'message') =>
    kubectl(['get', name, '-o', `jsonpath={.status.conditions[?(@.type=="${type}")].${field}}`]);
  const settings = async () => (await server.admin.call(getSettings, { params })).body;
  const webhooks = async () => (await server.admin.call(listWebhooks, { params })).body ?? [];
  const versions = () =>
    kubectl([
      'get',
      'realmkeeper',
      '-A',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}',
    ]);
  const webhook = (name: string, subscription: string) =>
    JSON.stringify({
      apiVersion: 'realmkeeper.dev/v1alpha1',
      kind: 'Webhook',
      metadata: { name },
      spec: {
        realm: 'demo',
        name: subscription,
        url: 'https://receiver.example.com/',
        eventTypes: ['*'],
        enabled: false,
      },
    });

  async function startIt(): Promise<Operator> {
    const log = (message: string) => void lines.push(message);
    const options = { kubeconfig: cluster.kubeconfig, log };
    const credential = { secret: OPERATOR_SECRET };
    const authorize = serverSession({ serverUrl: server.baseUrl, credential, fetch });
    return startOperator({
      source: clusterSource(options),
      client: createClient({ baseUrl: server.baseUrl, fetch, authorize }),
      clusterName: await clusterUid(options),
      log: ({ resource, message }) => log(resource ? `${resource}: ${message}` : message),
    });
  }

  beforeAll(async () => {
    [cluster, server] = await Promise.all([
      startCluster({ crds: [path.join(root, 'crds')] }),
      startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } }),
    ]);
    operator = await startIt();
  });
  afterAll(async () => {
    await operator?.stop();
    await server?.stop();
    await cluster?.stop();
  });

  test('the examples come alive', async () => {
    await kubectl(['apply', '-f', examples]);
    await everything();
    expect(await settings()).toMatchObject({ displayName: 'Demonstration', browserFlow: 'demo-browser' });
    const table = await kubectl(['get', 'realmkeeper']);
    expect(table).toMatch(/NAME +REALM +READY +REASON +STATUS +AGE/);
    expect(await kubectl(['get', 'realm', 'demo', '-o', 'jsonpath={.status.issuer}'])).toBe(
      `${server.baseUrl}/realms/demo`,
    );
    expect(await kubectl(['get', 'flows', '--field-selector', 'spec.realm=demo', '-o', 'name'])).toContain(
      'demo-browser',
    );
    const said = await kubectl([
      'get',
      'events',
      '--field-selector',
      'involvedObject.kind=Realm,reason=Applied',
      '-o',
      'jsonpath={.items[*].message}',
    ]);
    expect(said).toContain('create');
  });

  test('a pass over what is in sync writes nothing, neither to Kubernetes nor to the server', async () => {
    await everything();
    await operator.idle();
    const newest = async () => (await server.admin.call(listEvents, { params, query: { limit: 1 } })).body?.[0]?.id;
    const revision = async () => (await server.admin.call(getRealm, { params })).body?.revision;
    const before = [await versions(), await newest(), await revision()];
    await operator.stop();
    operator = await startIt();
    await operator.idle();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await operator.idle();
    expect([await versions(), await newest(), await revision()]).toEqual(before);
  });

  test('a change through the admin API is repaired within seconds', async () => {
    await everything();
    await server.admin.call(putSettings, { params, body: { accessTokenTtlSeconds: 30 } });
    await eventually(async () => expect((await settings())?.accessTokenTtlSeconds).toBe(600));
  });

  test('under Report drift is said and left', async () => {
    await kubectl(['patch', 'realm', 'demo', '--type=merge', '-p', '{"spec":{"driftPolicy":"Report"}}']);
    await everything();
    await server.admin.call(putSettings, { params, body: { accessTokenTtlSeconds: 30 } });
    await kubectl(['wait', '--for=condition=Drifted', '--timeout=120s', 'realm/demo']);
    expect(await kubectl(['get', 'realm', 'demo', '-o', 'jsonpath={.status.lastPlan.changes}'])).toContain(
      'accessTokenTtlSeconds',
    );
    expect((await settings())?.accessTokenTtlSeconds).toBe(30);
    await kubectl(['patch', 'realm', 'demo', '--type=merge', '-p', '{"spec":{"driftPolicy":"Correct"}}']);
    await eventually(async () => expect((await settings())?.accessTokenTtlSeconds).toBe(600));
    await everything();
    expect(await condition('realm/demo', 'Drifted')).toBe('');
  });

  test('a rotated Secret reaches the server', async () => {
    const fresh = 'a-fresh-secret-of-the-demonstration-0003';
    await kubectl([
      'patch',
      'secret',
      'demo-secrets',
      '--type=merge',
      '-p',
      JSON.stringify({ stringData: { 'demo-service': fresh } }),
    ]);
    await eventually(async () => {
      const response = await fetch(`${server.baseUrl}/realms/demo/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`demo-service:${fresh}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      expect(response.status).toBe(200);
    });
    expect(lines.join('\n')).not.toContain(fresh);
  });

  test('the second of two resources that claim one webhook is stalled and names the first, and goes on without it', async () => {
    await kubectl(['apply', '-f', '-'], webhook('first', 'contested'));
    await ready('webhook/first');
    await kubectl(['apply', '-f', '-'], webhook('second', 'contested'));
    await kubectl(['wait', '--for=condition=Stalled', '--timeout=120s', 'webhook/second']);
    const first = resourceOf('Webhook', JSON.parse(await kubectl(['get', 'webhook', 'first', '-o', 'json'])));
    const options = { kubeconfig: cluster.kubeconfig, log: () => undefined };
    expect(await condition('webhook/second', 'Stalled')).toContain(managerOf(await clusterUid(options), first));
    await kubectl(['delete', 'webhook', 'first', '--timeout=120s']);
    await ready('webhook/second');
    await kubectl(['delete', 'webhook', 'second', '--timeout=120s']);
    expect((await webhooks()).map((hook) => hook.name)).toEqual(['demo-audit']);
  });

  test('what is deleted goes, what is made again comes back', async () => {
    await kubectl(['delete', '-f', examples, '--timeout=120s']);
    expect(await webhooks()).toEqual([]);
    const { body: managers } = await server.admin.call(listManagers, { params });
    expect(managers).toEqual([]);
    expect(await settings()).toMatchObject({ displayName: 'Demonstration' });
    await kubectl(['apply', '-f', examples]);
    await everything();
    expect(await webhooks()).toMatchObject([{ name: 'demo-audit' }]);
  });

  test('the API server killed and back: what changed since is seen', async () => {
    await cluster.stopApiServer();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await cluster.startApiServer();
    // it is ready a moment before it tells again which kinds there are
    const changed = '{"spec":{"settings":{"accessTokenTtlSeconds":450}}}';
    await eventually(() => kubectl(['patch', 'realm', 'demo', '--type=merge', '-p', changed]));
    await eventually(async () => expect((await settings())?.accessTokenTtlSeconds).toBe(450));
    await kubectl(['apply', '-f', examples]);
    await eventually(async () => expect((await settings())?.accessTokenTtlSeconds).toBe(600));
  });

  test('what can’t be is refused by the API server itself, in words', async () => {
    expect(await refusal(['patch', 'realm', 'demo', '--type=merge', '-p', '{"spec":{"realm":"other"}}'])).toContain(
      'realm is immutable',
    );
    const literal = webhook('literal', 'literal').replace('"enabled"', '"secret":"0123456789abcdef","enabled"');
    expect(await refusal(['apply', '-f', '-'], literal)).toContain('unknown field "spec.secret"');
    const flow = (execution: object) =>
      JSON.stringify({
        apiVersion: 'realmkeeper.dev/v1alpha1',
        kind: 'Flow',
        metadata: { name: 'unsound' },
        spec: { realm: 'demo', executions: [execution] },
      });
    const both = { authenticatorId: 'otp', requirement: 'REQUIRED', executions: [] };
    expect(await refusal(['apply', '-f', '-'], flow(both))).toMatch(/spec\.executions\[0\].*exactly one of the two/s);
  });

  test('kubectl explain teaches', async () => {
    const explained = await kubectl(['explain', 'realm.spec.deletionPolicy']);
    expect(explained.replace(/\s+/g, ' ')).toContain('releases ownership and keeps the realm');
    expect(
      await kubectl(['explain', 'flow.spec.executions.executions.executions.executions.authenticatorId']),
    ).toContain('registry');
  });
});
