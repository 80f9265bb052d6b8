// A hold on a real API server: the condition Held passes the CRD, the event is there, and kstatus still counts the resource as current.
import { describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../server/contract/clients.ts';
import { endHold, placeHold } from '../../server/contract/holds.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const realm = 'held';
const params = { realm };

describe.skipIf(!assets.found)('an emergency edit on a cluster', () => {
  const land = landscape();
  const shop = async () => {
    const { body } = await land.client.call(listClients, { params });
    return body?.find(({ clientId }) => clientId === 'shop');
  };
  const held = (namespace?: string) =>
    eventually(async () => {
      const { status } = await land.object('Realm', 'keeper', namespace);
      const conditions: { type: string; reason: string; message: string }[] = Object(status).conditions ?? [];
      const condition = conditions.find(({ type }) => type === 'Held');
      if (!condition) throw new Error(`no condition Held: ${JSON.stringify(conditions)}`);
      return condition;
    });

  test('is reported with who, why and until when, stays, and is repaired when the hold ends', async () => {
    await land.apply(resource('Realm', 'keeper', { realm, clients: [{ clientId: 'shop', name: 'Shop' }] }));
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'realm/keeper');
    const until = Date.now() + 3_600_000;
    const { body: hold } = await land.client.call(placeHold, {
      params,
      body: { what: [{ kind: 'client', key: 'shop' }], reason: 'the shop is down', until },
    });
    await land.client.call(putClient, { params: { realm, id: (await shop())?.id ?? '' }, body: { name: 'By hand' } });
    const { reason, message } = await held();
    expect(reason).toBe('Held');
    expect(message).toMatch(/^client shop is held by \S+ until [-0-9T:]+Z: the shop is down; it differs in name$/);
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=60s', 'realm/keeper');
    expect((await shop())?.name).toBe('By hand');
    const events = await eventually(async () => {
      const said = await land.kubectl(
        'get',
        'events',
        '-o',
        'jsonpath={range .items[*]}{.type} {.reason}: {.message}{"\\n"}{end}',
      );
      expect(said).toMatch(/^Warning Held: client shop is held by/m);
      return said;
    });
    expect(events.match(/Held: /g)).toHaveLength(1);
    await land.client.call(endHold, { params: { realm, id: hold?.id ?? '' } });
    await eventually(async () => expect((await shop())?.name).toBe('Shop'));
    await eventually(async () => {
      const { status } = await land.object('Realm', 'keeper');
      expect(JSON.stringify(status)).not.toContain('"Held"');
    });
  });
});
