// docs/clients-without-secrets.md as it stands, on a real API server: the Realm that names a ServiceAccount, the token that the API
// server makes for it, and the program of the page, which signs a person in. No Secret exists at any time.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { serverSession } from '../../operator/session.ts';
import { clusterSource, clusterUid } from '../../operator/source/cluster.ts';
import { type Operator, startOperator } from '../../operator/start.ts';
import { createClient } from '../../server/contract/client.ts';
import { listEvents } from '../../server/contract/events.ts';
import { createUser } from '../../server/contract/users.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { PASSWORD } from '../support/applications.ts';
import { ASSERTION } from '../support/bank.ts';
import { type Answer, post } from '../support/clients.ts';
import { docPage } from '../support/doc-page.ts';
import { freePort } from '../support/free-port.ts';
import { eventually, type Manifest, OPERATOR_SECRET } from '../support/operator.ts';
import { createPerson } from '../support/person.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { clusterAssets } from './cluster.ts';
import { type SharedCluster, shareCluster } from './shared-cluster.ts';

const assets = await clusterAssets();
const { block } = await docPage('clients-without-secrets.md');
const realm = 'shop';
const params = { realm };
const root = path.resolve(import.meta.dirname, '../..');

describe.skipIf(!assets.found)('a client that names a ServiceAccount', () => {
  let cluster: SharedCluster;
  let server: TestServer;
  let operator: Operator;
  let folder: string;
  let port: number;
  let program: ChildProcess | undefined;
  let issuer: string;
  const kubectl = async (args: string[], input?: string) => (await cluster.must(args, input)).trim();
  const apply = (...items: object[]) =>
    kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const account = (name: string, namespace = realm) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace },
  });
  /** The Realm of the page, at this test's addresses. */
  const documented = (): Manifest & { spec: { clients: { serviceAccounts?: object[] }[] } } =>
    parse(
      block('yaml', 'serviceAccounts:')
        .replaceAll('https://iam.example.com/realms/shop', issuer)
        .replaceAll('https://shop.example.com', `http://localhost:${port}`),
    );
  const token = (name: string, { audience = issuer, namespace = realm } = {}) =>
    kubectl(['create', 'token', name, '-n', namespace, '--audience', audience, '--duration', '10m']);
  const refreshes = (assertion: string): Promise<Answer> =>
    post(server, realm, 'introspect', {
      client_id: 'web',
      client_assertion_type: ASSERTION,
      client_assertion: assertion,
      token: 'x',
    });
  const identities = async () => (await server.admin.call(listWorkloadIdentities, { params })).body ?? [];
  const ready = () => kubectl(['wait', '-n', realm, '--for=condition=Ready', '--timeout=120s', 'realm/shop']);

  beforeAll(async () => {
    [cluster, folder, port] = await Promise.all([
      shareCluster(),
      mkdtemp(path.join(root, 'node_modules/.documented-')),
      freePort(),
    ]);
    await apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: realm } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'else' } },
    );
    await apply(account('web'), account('web-2'), account('server'), account('web', 'else'));
    await writeFile(path.join(folder, 'ca.crt'), cluster.ca);
    await writeFile(path.join(folder, 'cluster-token'), await kubectl(['create', 'token', 'server', '-n', realm]));
    server = await startTestServer({
      env: {
        SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
        SVC_CLUSTER_CA_FILE: path.join(folder, 'ca.crt'),
        SVC_CLUSTER_TOKEN_FILE: path.join(folder, 'cluster-token'),
        SVC_OUTBOUND_ALLOW: 'nobody.example',
      },
    });
    issuer = `${server.baseUrl}/realms/${realm}`;
    const options = { kubeconfig: cluster.kubeconfig, log: () => undefined };
    const authorize = serverSession({ serverUrl: server.baseUrl, credential: { secret: OPERATOR_SECRET }, fetch });
    operator = await startOperator({
      source: clusterSource(options),
      client: createClient({ baseUrl: server.baseUrl, fetch, authorize }),
      clusterName: await clusterUid(options),
      log: () => undefined,
    });
    await apply(documented());
    await ready();
    await server.admin.call(createUser, {
      params,
      body: { username: 'ana', email: 'ana@example.com', password: PASSWORD },
    });
  });
  afterAll(async () => {
    program?.kill();
    await operator?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  test('signs a person in by the file of its token, read for each request, and no Secret is made', async () => {
    await eventually(async () => expect((await refreshes(await token('web'))).status).toBe(200));
    const file = path.join(folder, 'token');
    await writeFile(file, `${await token('web')}\n`);
    const code = path.join(folder, 'pod.mjs');
    await writeFile(code, block('js', '// pod.mjs'));
    program = spawn(process.execPath, [code], {
      env: { PATH: process.env.PATH, ISSUER: issuer, CLIENT_ID: 'web', TOKEN_FILE: file, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(program.stdout ?? program, 'data');
    const begun = await fetch(`http://localhost:${port}/`, { redirect: 'manual' });
    const to = new URL(begun.headers.get('location') ?? '');
    const ana = createPerson(server.baseUrl);
    const { url } = await ana.fill(await ana.open(to.pathname + to.search), { username: 'ana', password: PASSWORD });
    const cookie = (begun.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    // As the kubelet does before the old one expires.
    await writeFile(file, await token('web'));
    const page = await fetch(url, { headers: { cookie } });
    expect(await page.text()).toBe('Hello ana\n');
    const { body: events } = await server.admin.call(listEvents, {
      params,
      query: { type: 'TOKEN_REFRESHED', limit: 1 },
    });
    expect(events?.[0]?.data).toMatchObject({ workloadIdentity: 'web shop:web' });
    expect(await kubectl(['get', 'secrets', '-n', realm, '-o', 'name'])).toBe('');
  });

  test('has the identity that the operator keeps, from the issuer and the subject of the API server’s own token', async () => {
    const { iss, sub, aud, jti, 'kubernetes.io': claims } = decodeJwt(await token('web'));
    expect({ aud, claims }).toMatchObject({
      aud: [issuer],
      claims: { namespace: realm, serviceaccount: { name: 'web' } },
    });
    expect(jti).toEqual(expect.any(String));
    expect(await identities()).toMatchObject([
      {
        name: 'web shop:web',
        issuer: iss,
        subject: sub,
        audience: issuer,
        clientId: 'web',
        use: 'authentication',
        adminAccess: false,
      },
    ]);
  });

  test('is not another account, one of another namespace, nor the account with a token for another audience', async () => {
    const wrong = await Promise.all([
      token('web-2'),
      token('server'),
      token('web', { namespace: 'else' }),
      token('web', { audience: cluster.server }),
      token('web', { audience: 'realmkeeper' }),
    ]);
    const answers = await Promise.all(wrong.map(refreshes));
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 401));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await refreshes(await token('web'))).status).toBe(200);
  });

  test('lets an account go that the Realm no longer names, and says what is wrong with what it names', async () => {
    const manifest = documented();
    const [client] = manifest.spec.clients;
    await apply({
      ...manifest,
      spec: { ...manifest.spec, clients: [{ ...client, tokenEndpointAuthMethod: 'client_secret_basic' }] },
    });
    const condition = '{.status.conditions[?(@.type=="Stalled")].message}';
    await eventually(async () =>
      expect(await kubectl(['get', 'realm/shop', '-n', realm, '-o', `jsonpath=${condition}`])).toContain(
        'web has serviceAccounts, so its tokenEndpointAuthMethod must be federated_jwt',
      ),
    );
    expect((await refreshes(await token('web'))).status).toBe(200);
    await apply({
      ...manifest,
      spec: { ...manifest.spec, clients: [{ ...client, serviceAccounts: [{ name: 'web-2', audience: issuer }] }] },
    });
    await eventually(async () => expect((await refreshes(await token('web-2'))).status).toBe(200));
    expect((await refreshes(await token('web'))).status).toBe(401);
    expect((await identities()).map(({ name }) => name)).toEqual(['web shop:web-2']);
  });
});
