// What locks people out is told as a warning on a real API server before anything of it is written, also by a resource that is
// applied for the first time; and whoever only looks sees it, and nothing is written.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getClient, listClients, putClient } from '../../server/contract/clients.ts';
import { getFlow } from '../../server/contract/flows.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { createUser } from '../../server/contract/users.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { authorizePath, CALLBACK, newVerifier, PASSWORD } from '../support/applications.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource } from '../support/operator.ts';
import { createPerson } from '../support/person.ts';

const assets = await clusterAssets();
const realm = 'shop';
const params = { realm };
const ELSEWHERE = ['https://shop.example.com/callback'];

describe.skipIf(!assets.found)('what locks people out', () => {
  let land: Landscape;
  let database: pg.Client;
  beforeAll(async () => {
    land = await startLandscape();
    await land.start();
    database = new pg.Client({ connectionString: land.databaseUrl });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await land?.stop();
  });

  const spa = { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] };
  const shop = (client: object = {}, more: object = {}) =>
    resource('Realm', 'shop', { realm, clients: [{ ...spa, ...client }], ...more });
  const passkeysAlone = resource('Flow', 'browser', {
    realm,
    alias: 'browser',
    executions: [{ authenticatorId: 'webauthn', requirement: 'REQUIRED' }],
  });

  async function ready({ kind, metadata: { name } }: Manifest): Promise<void> {
    await land.kubectl('wait', '--for=condition=Ready', `${kind}/${name}`, '--timeout=60s');
  }
  async function signIn(clientId: string, of = realm): Promise<void> {
    const alice = createPerson(land.serverUrl);
    const page = await alice.open(authorizePath(of, clientId, newVerifier()));
    expect((await alice.fill(page, { username: 'alice', password: PASSWORD })).url).toContain('code=');
  }
  const stored = async () => {
    const { body = [] } = await land.client.call(listClients, { params });
    const { id = '' } = body.find(({ clientId }) => clientId === 'spa') ?? {};
    return (await land.client.call(getClient, { params: { ...params, id } })).body;
  };
  const warnings = async (name: string): Promise<string[]> => {
    const of = `reason=LocksOut,regarding.name=${name}`;
    const { items } = JSON.parse(
      await land.kubectl('get', 'events.events.k8s.io', '--field-selector', of, '-o', 'json'),
    );
    return items.map(({ type, note }: { type: string; note: string }) => `${type}: ${note}`);
  };
  /** While nobody can write to the table, though everybody can read it. */
  async function heldUp(table: 'client' | 'flow_execution' | 'realm', work: () => Promise<void>): Promise<void> {
    await database.query('begin');
    try {
      await database.query(`lock table ${table} in share row exclusive mode`);
      await work();
    } finally {
      await database.query('rollback');
    }
  }

  test('by a changed resource is warned of before it is written', async () => {
    await land.apply(shop());
    await ready(shop());
    await land.client.call(createUser, { params, body: { username: 'alice', password: PASSWORD } });
    await signIn('spa');

    const told = `Warning: client spa: sign-ins no longer return to ${CALLBACK} (1 live session, 1 person, 1 client)`;
    const elsewhere = { redirectUris: ELSEWHERE };
    await heldUp('client', async () => {
      await land.apply(shop(elsewhere));
      await eventually(async () => expect(await warnings('shop')).toEqual([told]));
      expect((await stored())?.redirectUris).toEqual([CALLBACK]);
    });
    await eventually(async () => expect((await stored())?.redirectUris).toEqual(ELSEWHERE));
  });

  test('by a resource that is deleted is warned of before it goes', async () => {
    const app = { ...spa, clientId: 'app' };
    const more = resource('Realm', 'more', { realm, clients: [app], deletionPolicy: 'Delete' });
    await land.apply(more);
    await ready(more);
    await signIn('app');
    const clients = async () =>
      (await land.client.call(listClients, { params })).body?.map(({ clientId }) => clientId) ?? [];
    await heldUp('client', async () => {
      await land.kubectl('delete', 'realm', 'more', '--wait=false');
      const told = 'Warning: client app: goes, with all its tokens (1 live session, 1 person, 1 client)';
      await eventually(async () => expect(await warnings('more')).toEqual([told]));
      expect(await clients()).toContain('app');
    });
    await eventually(async () => expect(await clients()).not.toContain('app'));
  });

  test('by a resource that takes over what is there is warned of at its first pass, too', async () => {
    const steps = async () =>
      (await land.client.call(getFlow, { params: { ...params, alias: 'browser' } })).body?.executions;
    const before = await steps();
    await heldUp('flow_execution', async () => {
      await land.apply(passkeysAlone);
      const told =
        /^Warning: flow browser: nobody signs in by username-password.* \(2 live sessions, 1 person, 1 client\)$/;
      await eventually(async () => expect((await warnings('browser')).join()).toMatch(told));
      expect(await steps()).toEqual(before);
    });
    await ready(passkeysAlone);
    expect(await steps()).toMatchObject([{ authenticatorId: 'webauthn' }]);
  });

  test('is seen in the status of a resource that only looks, and not done', async () => {
    await land.apply(shop({ redirectUris: ELSEWHERE, enabled: false }, { managementPolicy: 'Observe' }));
    await eventually(async () => {
      const { status } = await land.object('Realm', 'shop');
      expect(status).toMatchObject({
        lastPlan: { consequences: [expect.stringContaining('gets no tokens any more, and nobody signs in to it')] },
      });
    });
    expect((await stored())?.enabled).toBe(true);
    expect(await warnings('shop')).toHaveLength(1);
  });

  test('by the repair of what a person changed is warned of before it is written', async () => {
    const drifting = { realm: 'drifting' };
    const declared = { ...spa, clientId: 'kept', redirectUris: ELSEWHERE };
    const unchanged = resource('Realm', 'unchanged', { ...drifting, clients: [declared] });
    const kept = async () => (await land.client.call(listClients, { params: drifting })).body?.[0];
    await land.apply(unchanged);
    await ready(unchanged);
    await land.client.call(createUser, { params: drifting, body: { username: 'alice', password: PASSWORD } });
    await land.operator.kill();
    const id = (await kept())?.id ?? '';
    const body = { redirectUris: [...ELSEWHERE, CALLBACK] };
    await land.client.call(putClient, { params: { ...drifting, id }, body });
    await signIn('kept', 'drifting');
    await heldUp('client', async () => {
      await land.operator.start();
      const told = `Warning: client kept: sign-ins no longer return to ${CALLBACK} (1 live session, 1 person, 1 client)`;
      await eventually(async () => expect(await warnings('unchanged')).toEqual([told]));
      expect((await kept())?.redirectUris).toContain(CALLBACK);
    });
    await eventually(async () => expect((await kept())?.redirectUris).toEqual(ELSEWHERE));
  });

  test('by a Realm with deletionPolicy Delete is warned of before the whole realm goes', async () => {
    const brief = { realm: 'brief' };
    const app = { ...spa, clientId: 'last' };
    const whole = resource('Realm', 'whole', { ...brief, clients: [app], deletionPolicy: 'Delete' });
    await land.apply(whole);
    await ready(whole);
    await land.client.call(createUser, { params: brief, body: { username: 'alice', password: PASSWORD } });
    await signIn('last', 'brief');
    // the realm is marked as deleted first
    await heldUp('realm', async () => {
      await land.kubectl('delete', 'realm', 'whole', '--wait=false');
      const told = 'Warning: client last: goes, with all its tokens (1 live session, 1 person, 1 client)';
      await eventually(async () => expect(await warnings('whole')).toEqual([told]));
      await land.client.call(getRealm, { params: brief });
    });
    await eventually(() =>
      expect(land.client.call(getRealm, { params: brief })).rejects.toMatchObject({ status: 404 }),
    );
  });
});
