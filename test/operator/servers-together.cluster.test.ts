// One operator of several servers: each resource is kept on the server that it names, and each server has its own secret.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../server/contract/client.ts';
import { listClients } from '../../server/contract/clients.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const assets = await clusterAssets();
const EU_SECRET = 'svc_cs_operator-of-the-server-eu-0123456789';

describe.skipIf(!assets.found)('one operator of several servers', () => {
  let land: Landscape;
  let eu: TestServer;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-servers-'));
    const secretFile = path.join(folder, 'eu');
    await writeFile(secretFile, `${EU_SECRET}\n`);
    [land, eu] = await Promise.all([
      startLandscape(),
      startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: EU_SECRET } }),
    ]);
    await land.server.start();
    const euServer = `eu=${eu.baseUrl},client-secret-file=${secretFile}`;
    // nobody answers there
    const away = `away=http://127.0.0.1:9,client-secret-file=${secretFile}`;
    await land.operatorLike('several', { args: ['--no-leader-elect', '--server', euServer, '--server', away] }).start();
  });
  afterAll(async () => {
    await Promise.all([land?.stop(), eu?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const says = (name: string, reason: string) =>
    eventually(async () => {
      const { metadata, status } = await land.object('Realm', name);
      const { conditions = [] } = Object(status);
      const found = conditions.find(
        (c: { reason: string; observedGeneration: number }) =>
          c.reason === reason && c.observedGeneration === metadata.generation,
      );
      if (!found) throw new Error(`${name} says ${JSON.stringify(conditions)}, not ${reason}`);
      return found;
    });
  const has = (client: Client, realm: string) =>
    client.call(getRealm, { params: { realm } }).then(
      () => true,
      () => false,
    );
  const app = (clientId: string) => ({
    clientId,
    tokenEndpointAuthMethod: 'none',
    redirectUris: ['https://app.example.com/'],
  });
  const clientsOf = async (client: Client, realm: string) =>
    (await client.call(listClients, { params: { realm } })).body?.map(({ clientId }) => clientId);

  test('each resource is kept on the server that it names, while another of them is away', async () => {
    await land.apply(
      resource('Realm', 'home', { realm: 'home' }),
      resource('Realm', 'europe', { realm: 'europe', serverRef: 'eu', deletionPolicy: 'Delete' }),
      resource('Realm', 'lost', { realm: 'lost', serverRef: 'away' }),
      resource('Realm', 'unknown', { realm: 'unknown', serverRef: 'nowhere' }),
    );
    await says('home', 'Applied');
    await says('europe', 'Applied');
    await says('lost', 'ServerUnreachable');
    expect((await says('unknown', 'ServerUnknown')).message).toContain('an operator that serves nowhere');
    expect([await has(land.client, 'home'), await has(land.client, 'europe')]).toEqual([true, false]);
    expect([await has(eu.admin, 'home'), await has(eu.admin, 'europe')]).toEqual([false, true]);
  });

  test('two realms of one name on two servers have nothing to do with each other', async () => {
    const part = (name: string, clients: string[], more: object = {}) =>
      resource('Realm', name, { realm: 'twin', clients: clients.map(app), ...more });
    await land.apply(part('twin-home', ['web', 'base']), part('twin-eu', ['web'], { serverRef: 'eu' }));
    await says('twin-home', 'Applied');
    await says('twin-eu', 'Applied');
    await land.apply(part('twin-home', ['base']));
    await eventually(async () => expect(await clientsOf(land.client, 'twin')).not.toContain('web'));
    await says('twin-home', 'Applied');
    expect(await clientsOf(eu.admin, 'twin')).toContain('web');
  });

  test('what is deleted goes at its own server, and nothing else', async () => {
    await land.apply(
      resource('Realm', 'europe', {
        realm: 'europe',
        serverRef: 'eu',
        deletionPolicy: 'Delete',
        clients: [app('web')],
      }),
    );
    await eventually(async () => expect(await clientsOf(eu.admin, 'europe')).toContain('web'));
    await land.kubectl('delete', 'realm', 'europe', '--timeout=120s');
    expect([await has(eu.admin, 'europe'), await has(eu.admin, 'twin')]).toEqual([false, true]);
  });
});
