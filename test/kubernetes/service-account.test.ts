// serviceAccountRef from end to end: a pod's ServiceAccount trades its token, and nobody has typed an issuer. On a cluster
// that keeps its issuer to itself, and on one whose issuer everybody can ask.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serverSession } from '../../operator/session.ts';
import { clusterSource, clusterUid } from '../../operator/source/cluster.ts';
import { type Operator, startOperator } from '../../operator/start.ts';
import { createClient } from '../../server/contract/client.ts';
import { TOKEN_EXCHANGE } from '../../server/contract/oauth.ts';
import { JWT_TOKEN_TYPE } from '../../server/contract/workload-exchange.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { eventually, type Manifest, OPERATOR_SECRET, resource } from '../support/operator.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { clusterAssets, startCluster } from './cluster.ts';

const assets = await clusterAssets();
const crds = path.resolve(import.meta.dirname, '../../crds');
const AUDIENCE = 'realmkeeper';
const MINUTE = 60_000;
const realm = 'shop';

const manifests: Manifest[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: realm } },
  ...['job', 'other', 'server'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: realm },
  })),
  resource(
    'Realm',
    realm,
    { realm, clients: [{ clientId: 'job', grantTypes: ['client_credentials'] }] },
    { namespace: realm },
  ),
  resource(
    'WorkloadIdentity',
    'job',
    { realm, clientId: 'job', audience: AUDIENCE, serviceAccountRef: { name: 'job' } },
    { namespace: realm },
  ),
];

/** A cluster, a server that knows it by files alone, and an operator between them. */
async function start(issuer?: Receiver) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-accounts-'));
  const cluster = await startCluster({ crds: [crds], controllers: [], ...(issuer && { issuer: issuer.url }) });
  let ahead = 0;
  let server: TestServer | undefined;
  let operator: Operator | undefined;
  const kubectl = async (args: string[], input?: string) => (await cluster.must(args, input)).trim();
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
  await writeFile(path.join(folder, 'ca.crt'), cluster.ca);
  const own = await kubectl(['create', 'token', 'server', '-n', realm]);
  await writeFile(path.join(folder, 'token'), own);
  server = await startTestServer({
    now: () => new Date(Date.now() + ahead),
    env: {
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      SVC_CLUSTER_CA_FILE: path.join(folder, 'ca.crt'),
      SVC_CLUSTER_TOKEN_FILE: path.join(folder, 'token'),
      // stands for a public authority and a public address
      ...(issuer ? { SVC_OUTBOUND_CA_FILE: issuer.caFile } : { SVC_OUTBOUND_ALLOW: 'nobody.example' }),
    },
  });
  const { baseUrl } = server;
  const options = { kubeconfig: cluster.kubeconfig, log: () => undefined };
  const authorize = serverSession({ serverUrl: baseUrl, credential: { secret: OPERATOR_SECRET }, fetch });
  operator = await startOperator({
    source: clusterSource(options),
    client: createClient({ baseUrl, fetch, authorize }),
    clusterName: await clusterUid(options),
    log: () => undefined,
  });
  await kubectl(['wait', '-n', realm, '--for=condition=Ready', '--timeout=120s', 'workloadidentity/job']);
  return {
    cluster,
    server,
    kubectl,
    own,
    token: (account: string, audience = AUDIENCE) =>
      kubectl(['create', 'token', account, '-n', realm, '--audience', audience, '--duration', '10m']),
    exchange: (subject_token: string) =>
      fetch(`${baseUrl}/realms/${realm}/workload-identity/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: TOKEN_EXCHANGE, subject_token, subject_token_type: JWT_TOKEN_TYPE }),
      }),
    pass: (ms: number) => {
      ahead += ms;
    },
    async stop() {
      await operator?.stop();
      await server?.stop();
      await cluster.stop();
      await rm(folder, { recursive: true });
    },
  };
}
type World = Awaited<ReturnType<typeof start>>;

async function worksFor({ server, token, exchange }: World, issuer: string): Promise<void> {
  const { body } = await server.admin.call(listWorkloadIdentities, { params: { realm } });
  expect(body).toMatchObject([{ issuer, subject: 'system:serviceaccount:shop:job', jwksUri: null }]);
  // keys that come late are there at the next try
  const response = await eventually(async () => {
    const answer = await exchange(await token('job'));
    expect(answer.status).toBe(200);
    return answer;
  });
  const { access_token: minted } = Object(await response.json());
  const keys = createRemoteJWKSet(new URL(`${server.baseUrl}/realms/${realm}/oauth2/jwks`));
  const { payload } = await jwtVerify(minted, keys, { issuer: `${server.baseUrl}/realms/${realm}` });
  expect(payload).toMatchObject({ client_id: 'job', workload: { issuer, subject: 'system:serviceaccount:shop:job' } });
}

/** Status, headers and bytes, less what differs between any two answers. */
async function answer(response: Response): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return [
    response.status,
    headers.filter(([name]) => !name.startsWith('x-ratelimit') && name !== 'retry-after'),
    await response.text(),
  ];
}

describe.skipIf(!assets.found)('a ServiceAccount on a cluster that keeps its issuer to itself', () => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world?.stop());

  test('trades its token for one of the realm', () => worksFor(world, world.cluster.server));

  test('is refused, always by the same answer, as somebody else, for somebody else, and once it is gone', async () => {
    const { token, exchange, kubectl, pass } = world;
    const good = await token('job');
    const answers = [
      await answer(await exchange(await token('other'))),
      await answer(await exchange(await token('job', 'somebody-else'))),
      await answer(await exchange(await kubectl(['create', 'token', 'job', '-n', realm]))),
      await answer(await exchange(`${good.slice(0, -6)}AAAAAA`)),
    ];
    await kubectl(['delete', 'serviceaccount', 'job', '-n', realm]);
    // The signature still holds, and nobody asks the cluster: that is why such tokens live for minutes.
    expect((await exchange(good)).status).toBe(200);
    expect((await world.cluster.kubectl(['create', 'token', 'job', '-n', realm])).stderr).toContain('not found');
    pass(12 * MINUTE);
    answers.push(await answer(await exchange(good)));
    expect(answers[0]).toMatchObject([401, expect.anything(), expect.stringContaining('invalid_grant')]);
    for (const one of answers) expect(one).toEqual(answers[0]);
  });
});

describe.skipIf(!assets.found)('a ServiceAccount on a cluster whose issuer is public', () => {
  let world: World;
  let issuer: Receiver;
  beforeAll(async () => {
    issuer = await startReceiver();
    world = await start(issuer);
    // what a cloud publishes for its clusters: their own documents, at an address of its own
    const jwks = await world.kubectl(['get', '--raw', '/openid/v1/jwks']);
    issuer.answer = ({ url }) => {
      if (url === '/keys') return { body: jwks };
      if (url !== '/.well-known/openid-configuration') return { status: 404 };
      return { body: JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }) };
    };
  });
  afterAll(async () => {
    await world?.stop();
    await issuer?.stop();
  });

  test('trades its token too, and the issuer is not sent the server’s own', async () => {
    await worksFor(world, issuer.url);
    expect(issuer.received.map(({ url }) => url)).toEqual(['/.well-known/openid-configuration', '/keys']);
    for (const { headers } of issuer.received) expect(headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(issuer.received)).not.toContain(world.own);
  });
});
