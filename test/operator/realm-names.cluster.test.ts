// Who lies in wait for the name of somebody else's realm, on a real API server: they don't get it, in no order of things.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KindName } from '../../operator/resource.ts';
import { deleteRealm, getAdoption, getRealm } from '../../server/contract/realms.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const BANK = 'zz-bank';
const SHOP = 'a-shop';
const LABEL = 'identity.example.com/realms';

describe.skipIf(!assets.found)('someone who waits for the name of another namespace’s realm', () => {
  let land: Landscape;
  let operator: Program;
  beforeAll(async () => {
    land = await startLandscape();
    const args = ['--no-leader-elect', '--namespace', 'realmkeeper', '--undeclared-realms'];
    operator = land.operatorLike('guarded', { args });
    const namespace = (name: string, labels = {}) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    });
    await Promise.all([land.server.start(), operator.start()]);
    await land.apply(namespace('realmkeeper'), namespace(BANK), namespace(SHOP, { [LABEL]: 'shop' }));
  });
  afterAll(() => land?.stop());

  const realm = (namespace: string, of: string, spec: object = {}) =>
    resource('Realm', of, { realm: of, ...spec }, { namespace });
  const says = (kind: KindName, namespace: string, name: string, reason: string) =>
    eventually(async () => {
      const { metadata, status: { conditions = [] } = {} } = await land.object(kind, name, namespace);
      const found = conditions.find((c) => c.reason === reason && c.observedGeneration === metadata.generation);
      if (!found) throw new Error(`${kind} ${name} says ${JSON.stringify(conditions)}, not ${reason}`);
      return found.message;
    });
  const maker = async (of: string) =>
    (await land.client.call(getAdoption, { params: { realm: of } }).catch(() => undefined))?.body?.createdBy;
  const isOf = (namespace: string, of: string) =>
    eventually(async () => expect(await maker(of)).toContain(`/${namespace}/Realm/`));
  const drop = (namespace: string, name: string) =>
    land.kubectl('delete', 'realm', name, '-n', namespace, '--timeout=120s');

  test('doesn’t get it when it is deleted on the server, however often', async () => {
    await land.apply(realm(BANK, 'vault'));
    await says('Realm', BANK, 'vault', 'Applied');
    await land.apply(realm(SHOP, 'vault', { settings: { displayName: 'Mine' } }));
    await says('Realm', SHOP, 'vault', 'RealmExists');
    for (let times = 0; times < 4; times += 1) {
      const { body: before } = await land.client.call(getRealm, { params: { realm: 'vault' } });
      await land.client.call(deleteRealm, { params: { realm: 'vault' } });
      await eventually(async () => {
        const { body: after } = await land.client.call(getRealm, { params: { realm: 'vault' } });
        expect(after?.createdAt).not.toBe(before?.createdAt);
      });
      await isOf(BANK, 'vault');
      await says('Realm', SHOP, 'vault', 'RealmExists');
    }
  });

  test('doesn’t get it when its owner deletes it and applies it again, and is told no more than that it is another’s', async () => {
    const theirs = realm(BANK, 'ledger', { deletionPolicy: 'Delete' });
    await land.apply(theirs);
    await says('Realm', BANK, 'ledger', 'Applied');
    await land.apply(realm(SHOP, 'ledger'));
    for (let times = 0; times < 3; times += 1) {
      await drop(BANK, 'ledger');
      const message = await says('Realm', SHOP, 'ledger', 'RealmTaken');
      expect(message).not.toContain(BANK);
      expect(await maker('ledger')).toBeUndefined();
      await land.apply(theirs);
      await says('Realm', BANK, 'ledger', 'Applied');
      await isOf(BANK, 'ledger');
    }
  });

  test('doesn’t get it on an empty server, though it is listed first; it does when the older one goes before it made it', async () => {
    await operator.kill();
    await land.apply(realm(BANK, 'first'), realm(BANK, 'gone', { suspend: true }));
    await sleep(1_100);
    await land.apply(realm(SHOP, 'first'), realm(SHOP, 'gone'));
    await operator.start();
    await isOf(BANK, 'first');
    await says('Realm', SHOP, 'first', 'RealmExists');
    expect(await says('Realm', SHOP, 'gone', 'RealmTaken')).not.toContain(BANK);
    await drop(BANK, 'gone');
    await isOf(SHOP, 'gone');
  });

  test('attaches to no declared realm by --undeclared-realms', async () => {
    await land.apply(realm(BANK, 'closed', { clients: [{ clientId: 'app', grantTypes: ['client_credentials'] }] }));
    await says('Realm', BANK, 'closed', 'Incomplete');
    const spec = {
      realm: 'closed',
      issuer: 'https://evil.example.com',
      subject: 'me',
      audience: 'it',
      clientId: 'app',
    };
    await land.apply(
      resource(
        'Webhook',
        'listen',
        { realm: 'closed', url: 'https://evil.example.com/', eventTypes: ['*'] },
        { namespace: SHOP },
      ),
      resource('WorkloadIdentity', 'act', spec, { namespace: SHOP }),
    );
    await says('Webhook', SHOP, 'listen', 'RealmNotDeclared');
    await says('WorkloadIdentity', SHOP, 'act', 'RealmNotDeclared');
    const params = { realm: 'closed' };
    expect((await land.client.call(listWebhooks, { params })).body).toEqual([]);
    expect((await land.client.call(listWorkloadIdentities, { params })).body).toEqual([]);
  });

  test('can’t even ask for a name that its namespace’s label doesn’t give it', async () => {
    await operator.kill();
    const args = ['--no-leader-elect', '--namespace', 'realmkeeper', '--realm-names', `label:${LABEL}`];
    operator = land.operatorLike('naming', { args });
    await operator.start();
    await land.apply(realm(SHOP, 'shop-test'), realm(SHOP, 'treasury'), realm(BANK, 'treasury'));
    await says('Realm', SHOP, 'shop-test', 'Applied');
    expect(await says('Realm', SHOP, 'treasury', 'NamespaceNotAllowed')).toContain('shop-');
    await says('Realm', BANK, 'treasury', 'NamespaceNotAllowed');
    await land.kubectl('label', 'namespace', BANK, `${LABEL}=treasury`);
    await land.kubectl('annotate', 'realmkeeper', '--all', '-A', 'realmkeeper.dev/look=again', '--overwrite');
    await isOf(BANK, 'treasury');
  });
});
