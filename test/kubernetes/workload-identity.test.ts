import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOKEN_EXCHANGE } from '../../server/contract/oauth.ts';
import { JWT_TOKEN_TYPE } from '../../server/contract/workload-exchange.ts';
import { eventually } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { clusterAssets } from './cluster.ts';
import { type SharedCluster, shareCluster } from './shared-cluster.ts';

const assets = await clusterAssets();
const AUDIENCE = 'realmkeeper';

describe.skipIf(!assets.found)('a server beside a cluster', () => {
  let cluster: SharedCluster;
  let server: TestServer;
  let folder: string;

  beforeAll(async () => {
    cluster = await shareCluster();
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-cluster-'));
    for (const name of ['operator', 'server', 'other']) await kubectl('create', 'serviceaccount', name);
    await writeFile(path.join(folder, 'ca.crt'), cluster.ca);
    await writeFile(path.join(folder, 'token'), await kubectl('create', 'token', 'server'));
    server = await startTestServer({
      env: {
        // The issuer is at a private address, and only its keys may be asked for there.
        SVC_OUTBOUND_ALLOW: 'nobody.example',
        SVC_CLUSTER_CA_FILE: path.join(folder, 'ca.crt'),
        SVC_CLUSTER_TOKEN_FILE: path.join(folder, 'token'),
        SVC_OPERATOR_ISSUER: cluster.server,
        SVC_OPERATOR_SUBJECT: 'system:serviceaccount:default:operator',
        SVC_OPERATOR_AUDIENCE: AUDIENCE,
      },
    });
  });
  afterAll(async () => {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(args);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  };
  const exchange = async (subject_token: string): Promise<Response> =>
    fetch(`${server.baseUrl}/realms/master/workload-identity/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: TOKEN_EXCHANGE,
        subject_token,
        subject_token_type: JWT_TOKEN_TYPE,
        resource: `${server.baseUrl}/admin`,
      }),
    });

  test('lets the operator in by the token that the cluster projects for it, and by no other', async () => {
    const token = (account: string, audience: string) => kubectl('create', 'token', account, '--audience', audience);
    // keys that come late are there at the next try
    const response = await eventually(async () => {
      const answer = await exchange(await token('operator', AUDIENCE));
      expect(answer.status).toBe(200);
      return answer;
    });
    const { access_token: bearer } = Object(await response.json());
    const realms = await fetch(`${server.baseUrl}/admin/realms`, { headers: { authorization: `Bearer ${bearer}` } });
    expect([realms.status, await realms.json()]).toMatchObject([200, [{ realm: 'master' }]]);
    const refused = await Promise.all([
      token('other', AUDIENCE).then(exchange),
      token('operator', 'else').then(exchange),
      token('operator', cluster.server).then(exchange),
    ]);
    expect(refused.map((r) => r.status)).toEqual([401, 401, 401]);
  });
});
