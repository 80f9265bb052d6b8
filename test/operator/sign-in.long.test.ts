// The operator in a cluster, without a stored secret: its ServiceAccount token is all it has, and all the server knows is which
// ServiceAccount that is. Whole processes; the token is what `kubectl create token` gives, as a pod would find it.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serverSession } from '../../operator/session.ts';
import { type Client, createClient } from '../../server/contract/client.ts';
import { listClients } from '../../server/contract/clients.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import type { SharedCluster } from '../kubernetes/shared-cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const AUDIENCE = 'realmkeeper';
/** The shortest that a realm can set; the operator renews after half of it. */
const TTL_SECONDS = 30;
const master = { realm: 'master' };

describe.skipIf(!assets.found)('an operator that has nothing but its ServiceAccount token', () => {
  let land: Landscape<Cluster>;
  let folder: string;
  let operator: Program;
  let client: Client;
  const file = (name: string) => path.join(folder, name);

  /** As the kubelet does: the new one takes the old one's place at once. */
  async function project(name: string, content: string): Promise<void> {
    await writeFile(file(`${name}.new`), content);
    await rename(file(`${name}.new`), file(name));
  }
  async function token(cluster: SharedCluster, account: string, ...more: string[]): Promise<string> {
    return (await cluster.must(['create', 'token', account, ...more])).trim();
  }
  const operatorToken = (audience = AUDIENCE) => token(land.cluster, 'operator', '--audience', audience);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-sign-in-'));
    land = await startLandscape({
      own: {},
      async serverEnv(cluster) {
        for (const name of ['operator', 'server']) await cluster.kubectl(['create', 'serviceaccount', name]);
        await project('ca.crt', cluster.ca);
        await project('server-token', await token(cluster, 'server'));
        return {
          SVC_OPERATOR_CLIENT_SECRET: '',
          SVC_OPERATOR_SUBJECT: 'system:serviceaccount:default:operator',
          SVC_OPERATOR_AUDIENCE: AUDIENCE,
          SVC_CLUSTER_CA_FILE: file('ca.crt'),
          SVC_CLUSTER_TOKEN_FILE: file('server-token'),
        };
      },
    });
    await project('token', await operatorToken());
    await land.server.start();
    const credential = { tokenFile: file('own-token') };
    const authorize = serverSession({ serverUrl: land.serverUrl, credential, fetch });
    client = createClient({ baseUrl: land.serverUrl, fetch, authorize });
    await project('own-token', await operatorToken());
    // keys that come late are there at the next try
    const { body: settings } = await eventually(() => client.call(getSettings, { params: master }));
    if (!settings) throw new Error('no settings');
    await client.call(putSettings, { params: master, body: { ...settings, workloadTokenTtlSeconds: TTL_SECONDS } });
    operator = land.operatorLike('operator-by-token', {
      args: ['--no-leader-elect'],
      env: { SVC_OPERATOR_TOKEN_FILE: file('token') },
    });
    await operator.start();
  });
  afterAll(async () => {
    await land?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  let made = 0;
  async function reconciles(): Promise<void> {
    const displayName = `Name ${++made}`;
    await land.apply(resource('Realm', 'acme', { realm: 'acme', settings: { displayName } }));
    await eventually(async () => {
      const { body } = await client.call(getSettings, { params: { realm: 'acme' } });
      expect(body?.displayName).toBe(displayName);
    });
    await land.kubectl('wait', 'realm/acme', '--for=condition=Ready', '--timeout=120s');
  }
  const saysOfRealm = (words: RegExp) =>
    eventually(async () => {
      await land.kubectl('annotate', 'realm/acme', `look-again=${++made}`, '--overwrite');
      expect(await land.kubectl('get', 'realm/acme', '-o', 'jsonpath={.status.conditions}')).toMatch(words);
    });

  test('reconciles, and nowhere is a secret of it, nor an issuer that anybody typed', async () => {
    await reconciles();
    const { body: clients } = await client.call(listClients, { params: master });
    const own = clients?.find(({ clientId }) => clientId === 'operator');
    expect(own).toMatchObject({ enabled: true });
    expect(await operator.said()).not.toContain('refused');
  });

  test('reads the token anew when it renews: a bad one is refused in words that help, the next one is taken', async () => {
    const wrong = await operatorToken('somebody-else');
    await project('token', wrong);
    await saysOfRealm(/SignInRefused/);
    const said = await operator.said();
    expect(said).toContain('SVC_OPERATOR_SUBJECT=system:serviceaccount:default:operator');
    expect(said).toContain('SVC_OPERATOR_AUDIENCE=somebody-else');
    expect(said).toContain(`SVC_OPERATOR_ISSUER=${land.cluster.server}`);
    expect(said).not.toContain(wrong.split('.')[2]);
    await project('token', await operatorToken());
    await reconciles();
  });

  test('goes on when the cluster signs with another key, and when the old one is forgotten', async () => {
    await land.cluster.rotateAccountKey({ forget: false });
    await project('token', await operatorToken());
    await project('own-token', await operatorToken());
    await reconciles();
    await land.cluster.rotateAccountKey({ forget: true });
    await project('server-token', await token(land.cluster, 'server'));
    await project('token', await operatorToken());
    await project('own-token', await operatorToken());
    // longer than any token of before lives
    await new Promise((resolve) => setTimeout(resolve, TTL_SECONDS * 1000));
    await reconciles();
  });

  test('whose ServiceAccount token is of another account gets nothing', async () => {
    await land.kubectl('create', 'serviceaccount', 'stranger');
    const response = await fetch(`${land.serverUrl}/realms/master/workload-identity/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: await token(land.cluster, 'stranger', '--audience', AUDIENCE),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        resource: `${land.serverUrl}/admin`,
      }),
    });
    expect(response.status).toBe(401);
  });
});
