import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, clusterAssets, startCluster } from './cluster.ts';

const assets = await clusterAssets();

const widget = (name: string, spec: object, uid?: string) => ({
  apiVersion: 'test.realmkeeper/v1',
  kind: 'Widget',
  metadata: {
    name,
    ...(uid && { ownerReferences: [{ apiVersion: 'test.realmkeeper/v1', kind: 'Widget', name, uid }] }),
  },
  spec,
});

describe.skipIf(!assets.found)('a cluster of one test file', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ crds: [path.join(import.meta.dirname, 'widgets.yaml')] });
  });
  afterAll(() => cluster?.stop());

  const kubectl = (...args: string[]) => cluster.must(args);
  const apply = (object: object) => cluster.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object));

  test('runs the pinned version', async () => {
    const { serverVersion, clientVersion } = JSON.parse(await kubectl('version', '-o', 'json'));
    expect([serverVersion.gitVersion, clientVersion.gitVersion]).toEqual(['v1.36.3', 'v1.36.3']);
  });

  test('an immutable field is accepted once and then refused by its CEL rule', async () => {
    expect(await apply(widget('ruled', { realm: 'acme' }))).toMatchObject({ code: 0 });
    expect(await apply(widget('ruled', { realm: 'acme', size: 2 }))).toMatchObject({ code: 0 });
    const refused = await apply(widget('ruled', { realm: 'other', size: 2 }));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/spec\.realm: Invalid value: .*realm is immutable/);
    expect(await kubectl('get', 'widget', 'ruled', '-o', 'jsonpath={.spec.realm} {.status.observedGeneration}')).toBe(
      'acme -1',
    );
  });

  test('an unknown field is an error before anything is stored', async () => {
    const refused = await apply(widget('strict', { realm: 'acme', secret: 'x' }));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('.spec.secret') });
    expect(await kubectl('get', 'widgets', '--field-selector', 'metadata.name=strict', '-o', 'name')).toBe('');
  });

  test('a selectable field selects', async () => {
    await apply(widget('here', { realm: 'selected' }));
    expect(await kubectl('get', 'widgets', '--field-selector', 'spec.realm=selected', '-o', 'name')).toBe(
      'widget.test.realmkeeper/here\n',
    );
  });

  test('what a deleted owner owned is collected', async () => {
    await apply(widget('owner', { realm: 'acme' }));
    const uid = await kubectl('get', 'widget', 'owner', '-o', 'jsonpath={.metadata.uid}');
    const { metadata } = widget('owner', {}, uid);
    const owned = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: 'owned' } };
    expect(await apply(owned)).toMatchObject({ code: 0 });
    await kubectl('delete', 'widget', 'owner');
    await kubectl('wait', '--for=delete', 'secret/owned', '--timeout=120s');
  });

  test('a deleted namespace goes, with all that is in it', async () => {
    await kubectl('create', 'namespace', 'gone');
    await kubectl('create', 'configmap', 'inside', '--namespace', 'gone');
    await kubectl('delete', 'namespace', 'gone', '--timeout=120s');
    expect(await kubectl('get', 'configmaps', '--all-namespaces', '-o', 'name')).not.toContain('configmap/inside');
  });

  test('a ServiceAccount token is verified by the discovery of its issuer', async () => {
    await kubectl('create', 'serviceaccount', 'operator');
    const token = (await kubectl('create', 'token', 'operator', '--audience=realmkeeper')).trim();
    // the API server itself accepts only tokens that are meant for it, which is what no --audience means
    const caller = (await kubectl('create', 'token', 'operator')).trim();
    const get = (url: string) => fetchJson(cluster, url, caller);
    const discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });
    const { issuer, jwks_uri } = discovery.parse(await get(`${cluster.server}/.well-known/openid-configuration`));
    expect(issuer).toBe(cluster.server);
    const keys = createLocalJWKSet(
      z.object({ keys: z.array(z.looseObject({ kty: z.string() })) }).parse(await get(jwks_uri)),
    );
    const { payload } = await jwtVerify(token, keys, { issuer, audience: 'realmkeeper', algorithms: ['RS256'] });
    expect(payload.sub).toBe('system:serviceaccount:default:operator');
  });

  test('another user may do what is granted, to the name or to the group, and nothing else', async () => {
    const kubeconfig = await cluster.user('jane', ['readers']);
    const asJane = (...args: string[]) => cluster.kubectl(['--kubeconfig', kubeconfig, ...args]);
    expect(await asJane('get', 'configmaps')).toMatchObject({ code: 1, stderr: expect.stringContaining('Forbidden') });
    await kubectl('create', 'clusterrole', 'reader', '--verb=list', '--resource=configmaps');
    await kubectl('create', 'clusterrolebinding', 'readers', '--clusterrole=reader', '--group=readers');
    await expect.poll(() => asJane('get', 'configmaps')).toMatchObject({ code: 0 });
    expect(await asJane('get', 'secrets')).toMatchObject({ code: 1 });
  });

  test('the API server comes back at the same address with the same data', async () => {
    await kubectl('create', 'configmap', 'kept');
    await cluster.stopApiServer();
    const refused = await cluster.kubectl(['get', 'configmap', 'kept']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('was refused') });
    await cluster.startApiServer();
    expect(await kubectl('get', 'configmap', 'kept', '-o', 'name')).toBe('configmap/kept\n');
  });
});

describe.skipIf(!assets.found)('the end of a cluster', () => {
  const gone = (file: string) =>
    access(file).then(
      () => false,
      () => true,
    );

  test('it ends with its process, also when that is killed', async () => {
    const script = `
      import { startCluster } from ${JSON.stringify(path.join(import.meta.dirname, 'cluster.ts'))};
      const { kubeconfig, server } = await startCluster({ controllers: [] });
      console.log(JSON.stringify({ kubeconfig, server }));
      setInterval(() => {}, 1000);`;
    const args = ['--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(child.stdout), 'line');
    const { kubeconfig, server } = z
      .object({ kubeconfig: z.string(), server: z.url() })
      .parse(JSON.parse(String(line)));
    expect(await gone(kubeconfig)).toBe(false);
    child.kill('SIGKILL');
    await expect.poll(() => gone(kubeconfig)).toBe(true);
    // one that was just being accepted is reset; then they are refused
    const refusal = () => fetch(server).catch((error: Error) => error.cause);
    await expect.poll(refusal).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

function fetchJson(cluster: Cluster, url: string, token: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const headers = { authorization: `Bearer ${token}` };
  const request = https.get(url, { ca: cluster.ca, headers }, async (response) => {
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    resolve(JSON.parse(body));
  });
  request.on('error', reject);
  return promise;
}
