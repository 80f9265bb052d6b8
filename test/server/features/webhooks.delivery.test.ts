import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bySystem } from '../../../server/contract/events.ts';
import type { Delivery, WebhookInput } from '../../../server/contract/webhooks.ts';
import { DELIVERY_JOB } from '../../../server/features/configuration/webhooks/delivery.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type Deliveries, spawnDeliveries, startDeliveries } from '../../support/deliveries.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const SECRET = 'a-secret-of-the-receiver';
/** An answer that no test waits for. */
const NEVER_MS = 600_000;
let receiver: Receiver;
let database: TestDatabase;
const running: Deliveries[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answer = () => ({});
  database = await createDatabase();
  await connectedCluster(database.url, (client) =>
    client.query(`insert into realm (realm_id, created_at) values ('acme', now()), ('other', now())`),
  );
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((deliveries) => deliveries.stop()));
  await database.drop();
});

const reach = () => ({ allow: ['127.0.0.1'], caFile: receiver.caFile });
async function started(options: Partial<Parameters<typeof startDeliveries>[0]> = {}): Promise<Deliveries> {
  const deliveries = await startDeliveries({ url: database.url, outbound: reach(), ...options });
  running.push(deliveries);
  return deliveries;
}
const subscribe = (deliveries: Deliveries, input: Partial<WebhookInput> = {}, realm = 'acme') =>
  deliveries.webhooks.create(realm, {
    name: 'hook',
    url: `${receiver.url}/in`,
    eventTypes: 'USER_LOCKED',
    enabled: true,
    secret: SECRET,
    ...input,
  });
const until = async <T>(what: () => T | undefined | Promise<T | undefined>, ms = 100_000): Promise<T> => {
  const end = Date.now() + ms;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error('it did not happen in time');
    await sleep(20);
  }
};
const settled = (deliveries: Deliveries, webhook: { id: string }, status: Delivery['status'], attempts?: number) =>
  until(async () => {
    const [delivery] = await deliveries.webhooks.deliveries('acme', webhook.id, undefined, 1);
    return delivery?.status === status && (attempts ?? delivery.attempts) === delivery.attempts ? delivery : undefined;
  });
const hex = (body: Buffer) => createHmac('sha256', SECRET).update(body).digest('hex');

describe('a delivery', () => {
  test('is the stored event, signed over its raw bytes in both manners', async () => {
    const deliveries = await started();
    const webhook = await subscribe(deliveries);
    await deliveries.happen(1);
    const delivery = await settled(deliveries, webhook, 'succeeded');
    const [got] = receiver.received;
    const { headers, raw } = got!;
    expect([got?.method, got?.url]).toEqual(['POST', '/in']);
    const body = JSON.parse(raw.toString());
    expect(body).toEqual({
      id: delivery.eventId,
      type: 'USER_LOCKED',
      realmId: 'acme',
      occurredAt: delivery.createdAt,
      actor: { type: 'system', id: null, name: 'server' },
      subject: null,
      data: { n: 1, outcome: 'success' },
    });
    expect(headers['x-svc-event']).toBe('USER_LOCKED');
    expect(headers['x-svc-delivery']).toBe(delivery.id);
    expect(headers['x-svc-timestamp']).toMatch(/^\d{13}$/);
    expect(headers['x-svc-signature']).toBe(hex(raw));
    expect(headers['webhook-id']).toBe(delivery.id);
    const signed = `${delivery.id}.${headers['webhook-timestamp']}.${raw}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`);
    expect(Math.floor(Number(headers['x-svc-timestamp']) / 1000)).toBe(Number(headers['webhook-timestamp']));
    expect(delivery).toMatchObject({ attempts: 1, responseStatus: 200, error: null, webhookId: webhook.id });
  });

  test('that is answered 500 twice is tried three times, with the same id and the same bytes', async () => {
    const deliveries = await started();
    const webhook = await subscribe(deliveries);
    receiver.answer = () => ({ status: receiver.received.length < 3 ? 500 : 200 });
    await deliveries.happen(1);
    expect(await settled(deliveries, webhook, 'succeeded')).toMatchObject({ attempts: 3, responseStatus: 200 });
    expect(new Set(receiver.received.map((r) => r.headers['x-svc-delivery'])).size).toBe(1);
    expect(new Set(receiver.received.map((r) => r.raw.toString())).size).toBe(1);
    await sleep(1_500);
    expect(receiver.received).toHaveLength(3);
  });

  test('is given up after its last try, and sent again by hand with all of its tries', async () => {
    const deliveries = await started();
    const webhook = await subscribe(deliveries);
    receiver.answer = () => ({ status: 503 });
    await deliveries.happen(1);
    const dead = await settled(deliveries, webhook, 'dead');
    expect(dead).toMatchObject({ attempts: 3, responseStatus: 503, error: 'answered 503' });
    expect(deliveries.givenUp).toEqual(['acme']);
    const before = receiver.received.length;
    await deliveries.webhooks.redeliver(bySystem, 'acme', webhook.id, dead.id);
    expect(await settled(deliveries, webhook, 'dead', 6)).toMatchObject({ id: dead.id });
    expect(receiver.received.length - before).toBe(3);
    receiver.answer = () => ({ status: 204 });
    await deliveries.webhooks.redeliver(bySystem, 'acme', webhook.id, dead.id);
    expect(await settled(deliveries, webhook, 'succeeded', 7)).toMatchObject({ id: dead.id, error: null });
    expect(new Set(receiver.received.map((r) => r.headers['x-svc-delivery']))).toEqual(new Set([dead.id]));
  });

  test('without a secret carries no signature', async () => {
    const deliveries = await started();
    const webhook = await subscribe(deliveries, { secret: null });
    await deliveries.happen(1);
    await settled(deliveries, webhook, 'succeeded');
    const { headers } = receiver.received[0]!;
    expect(headers['x-svc-signature']).toBeUndefined();
    expect(headers['webhook-signature']).toBeUndefined();
    expect(headers['webhook-id']).toBe(headers['x-svc-delivery']);
  });

  test('uses the bytes of a Standard Webhooks secret for its header, and the text for ours', async () => {
    const deliveries = await started();
    const key = Buffer.alloc(24, 9);
    const secret = `whsec_${key.toString('base64')}`;
    const webhook = await subscribe(deliveries, { secret });
    await deliveries.happen(1);
    await settled(deliveries, webhook, 'succeeded');
    const { headers, raw } = receiver.received[0]!;
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    expect(headers['x-svc-signature']).toBe(createHmac('sha256', secret).update(raw).digest('hex'));
  });

  test('does not follow a redirect', async () => {
    const deliveries = await started({ retryDelaysSeconds: [] });
    const webhook = await subscribe(deliveries);
    receiver.answer = () => ({ status: 307, headers: { location: `${receiver.url}/else` } });
    await deliveries.happen(1);
    const delivery = await settled(deliveries, webhook, 'dead');
    expect(delivery.error).toBe('answered 307; redirects are not followed');
    expect(receiver.received.map((r) => r.url)).toEqual(['/in']);
  });

  test('to a private address is refused, and its row says why', async () => {
    const deliveries = await started({ outbound: { caFile: receiver.caFile }, retryDelaysSeconds: [] });
    const webhook = await subscribe(deliveries);
    await deliveries.happen(1);
    const delivery = await settled(deliveries, webhook, 'dead');
    expect(delivery.error).toContain('127.0.0.1 does not answer, or is at no public address');
    expect(receiver.received).toEqual([]);
  });

  test('succeeds whatever a 2xx answer holds', async () => {
    const deliveries = await started();
    const webhook = await subscribe(deliveries);
    receiver.answer = () => ({ status: 202, body: Buffer.alloc(3_000_000, 'x') });
    await deliveries.happen(1);
    expect(await settled(deliveries, webhook, 'succeeded')).toMatchObject({ attempts: 1, responseStatus: 202 });
  });

  test('waits between its tries as the schedule says', async () => {
    const deliveries = await started({ retryDelaysSeconds: [2] });
    const webhook = await subscribe(deliveries);
    receiver.answer = () => ({ status: receiver.received.length < 2 ? 500 : 200 });
    await deliveries.happen(1);
    await settled(deliveries, webhook, 'succeeded');
    const [first, second] = receiver.received;
    expect(second!.at - first!.at).toBeGreaterThan(1_500);
  });
});

describe('who gets a delivery', () => {
  test('each subscription of that realm and type, or of *; no disabled one, none of another realm', async () => {
    const deliveries = await started();
    const { webhooks } = deliveries;
    const make = (realm: string, name: string, eventTypes: string, enabled = true) =>
      webhooks.create(realm, { name, url: `${receiver.url}/${name}`, eventTypes, enabled });
    await make('acme', 'one', 'USER_LOCKED,LOGOUT');
    await make('acme', 'two', 'LOGOUT');
    await make('acme', 'three', 'USER_LOCKED', false);
    await make('other', 'four', '*');
    await make('acme', 'five', '*');
    await until(() => receiver.received.length === 2 || undefined);
    receiver.received.length = 0;
    await deliveries.happen(1);
    await until(() => receiver.received.length === 2 || undefined);
    await sleep(300);
    expect(receiver.received.map((r) => r.url).toSorted()).toEqual(['/five', '/one']);
  });

  test('a test goes to that subscription alone, even while it is disabled', async () => {
    const deliveries = await started();
    const other = await subscribe(deliveries, {
      name: 'other',
      url: `${receiver.url}/other`,
      eventTypes: 'WEBHOOK_TEST',
    });
    const webhook = await subscribe(deliveries, { enabled: false });
    const delivery = await deliveries.webhooks.test(bySystem, 'acme', webhook.id);
    expect(await settled(deliveries, webhook, 'succeeded')).toMatchObject({
      id: delivery.id,
      eventType: 'WEBHOOK_TEST',
    });
    expect(receiver.received.map((r) => r.url)).toEqual(['/in']);
    expect(await deliveries.webhooks.deliveries('acme', other.id, undefined, 10)).toEqual([]);
  });

  test('nobody, once the subscription is gone or disabled', async () => {
    const deliveries = await started({ retryDelaysSeconds: [3_600] });
    const gone = await subscribe(deliveries, { name: 'gone' });
    const off = await subscribe(deliveries, { name: 'off' });
    receiver.answer = () => ({ status: 500 });
    await deliveries.happen(1);
    await settled(deliveries, gone, 'retrying');
    await settled(deliveries, off, 'retrying');
    await deliveries.webhooks.remove('acme', gone.id);
    const { id, realmId, createdAt, secretSet, secret, ...fields } = off;
    await deliveries.webhooks.update('acme', off.id, { ...fields, enabled: false });
    receiver.received.length = 0;
    const { sql } = deliveries;
    await sql`update pgboss.job set start_after = now() where name = ${DELIVERY_JOB}`;
    expect(await settled(deliveries, off, 'dead')).toMatchObject({ error: 'the webhook is disabled' });
    const waiting = () => sql`select from pgboss.job where name = ${DELIVERY_JOB} and state < 'completed'`;
    await until(async () => (await waiting()).length === 0 || undefined);
    // nobody is to be woken for what somebody switched off
    expect(deliveries.givenUp).toEqual([]);
    expect(receiver.received).toEqual([]);
  });

  test('a receiver that hangs does not hold up the others', async () => {
    const deliveries = await started({ timeoutMs: NEVER_MS });
    const slow = await subscribe(deliveries, { name: 'slow', url: `${receiver.url}/slow` });
    receiver.answer = ({ url }) => ({ afterMs: url === '/slow' ? NEVER_MS : 0 });
    const received = (url: string) => receiver.received.filter((r) => r.url === url).length;
    for (let n = 0; n < 15; n += 1) await deliveries.happen(n);
    await until(() => received('/slow') === 2 || undefined);
    await subscribe(deliveries, { name: 'quick', url: `${receiver.url}/quick` });
    for (let n = 0; n < 5; n += 1) await deliveries.happen(n);
    await until(() => received('/quick') === 5 || undefined);
    // none of the slow ones has been answered yet
    expect(received('/slow')).toBe(2);
    await deliveries.webhooks.remove('acme', slow.id);
  });

  test('a realm with many receivers that hang does not hold up another realm, nor all of its own', async () => {
    const deliveries = await started({ timeoutMs: NEVER_MS });
    receiver.answer = ({ url }) => ({ afterMs: url.startsWith('/slow') ? NEVER_MS : 0 });
    const received = (start: string) => receiver.received.filter((r) => r.url.startsWith(start)).length;
    for (let n = 0; n < 30; n += 1)
      await subscribe(deliveries, { name: `slow-${n}`, url: `${receiver.url}/slow-${n}` });
    await subscribe(deliveries, { name: 'quick', url: `${receiver.url}/quick` }, 'other');
    await deliveries.happen(0);
    await until(() => received('/slow') === 8 || undefined);
    for (let n = 0; n < 10; n += 1) await deliveries.happen(n, 'other');
    await until(() => received('/quick') === 10 || undefined);
    expect(received('/slow')).toBe(8);
  });

  test('what a realm must wait for is sent when its places are free again', async () => {
    const deliveries = await started();
    const urls = Array.from({ length: 12 }, (_, n) => `/hook-${n}`);
    for (const url of urls) await subscribe(deliveries, { name: url.slice(1), url: receiver.url + url });
    receiver.answer = () => ({ afterMs: 1_000 });
    await deliveries.happen(0);
    await until(() => receiver.received.length >= 8 || undefined);
    const told = () => receiver.received.map((r) => r.url).sort();
    await until(() => told().length === 12 || undefined);
    expect(told()).toEqual(urls.sort());
  });
});

describe('a process that is killed', () => {
  test('right after it committed loses no event', async () => {
    const first = await started();
    const webhook = await subscribe(first);
    await first.stop();
    running.length = 0;
    const child = spawnDeliveries({ url: database.url, outbound: reach(), expireSeconds: 5 }, { count: 20, die: true });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    const deliveries = await started({ expireSeconds: 5 });
    const numbers = () => new Set(receiver.received.map((r) => JSON.parse(r.raw.toString()).data.n));
    await until(() => numbers().size === 20 || undefined);
    await until(async () => {
      const rows = await deliveries.webhooks.deliveries('acme', webhook.id, undefined, 100);
      return (rows.length === 20 && rows.every((row) => row.status === 'succeeded')) || undefined;
    });
  });

  test('while it sends sends again in the next one, with the same id', async () => {
    const first = await started();
    const webhook = await subscribe(first);
    await first.stop();
    running.length = 0;
    receiver.answer = () => ({ afterMs: receiver.received.length === 1 ? NEVER_MS : 0 });
    const child = spawnDeliveries({ url: database.url, outbound: reach(), expireSeconds: 5 }, { count: 1, die: false });
    await until(() => receiver.received.length === 1 || undefined);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const deliveries = await started({ expireSeconds: 5 });
    const delivery = await settled(deliveries, webhook, 'succeeded');
    expect(receiver.received.map((r) => r.headers['x-svc-delivery'])).toEqual([delivery.id, delivery.id]);
  });
});
