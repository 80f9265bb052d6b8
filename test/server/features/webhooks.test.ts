import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import * as api from '../../../server/contract/webhooks.ts';
import { administrator } from '../../support/administrators.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let receiver: Receiver;
const params = { realm: 'acme' };
const SECRET = 'a-secret-that-nobody-sees';

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [0, 0] });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
  await server.admin.call(createRealm, { body: { realm: 'other' } });
});
afterAll(async () => {
  await server?.stop();
  await receiver.stop();
});

const input = (name: string, more: object = {}) => ({
  name,
  url: `${receiver.url}/${name}`,
  eventTypes: 'LOGOUT,WEBHOOK_TEST',
  enabled: true,
  ...more,
});
const create = async (name: string, more: object = {}) =>
  (await server.admin.call(api.createWebhook, { params, body: input(name, more) })).body!;
const at = (id: string, realm = 'acme') => ({ params: { realm, id } });
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );

describe('a subscription', () => {
  test('has the fields of 2.7; its secret is never shown', async () => {
    const made = await create('shape', { secret: SECRET });
    expect(made).toEqual({
      id: made.id,
      realmId: 'acme',
      name: 'shape',
      url: `${receiver.url}/shape`,
      eventTypes: 'LOGOUT,WEBHOOK_TEST',
      secret: null,
      secretSet: true,
      enabled: true,
      createdAt: made.createdAt,
    });
    expect((await server.admin.call(api.getWebhook, at(made.id))).body).toEqual(made);
    const list = await server.admin.call(api.listWebhooks, { params });
    expect(list.body).toContainEqual(made);
    expect((await create('no-secret')).secretSet).toBe(false);
    const rows = await server.pool.query('select secret from webhook where secret is not null');
    expect(Buffer.from(rows.rows[0].secret).includes(SECRET)).toBe(false);
  });

  test('put back as it was read keeps its secret', async () => {
    const made = await create('same', { secret: SECRET });
    expect((await server.admin.call(api.putWebhook, { ...at(made.id), body: made })).body).toEqual(made);
    const renamed = await server.admin.call(api.putWebhook, { ...at(made.id), body: input('same-2') });
    expect(renamed.body).toMatchObject({ name: 'same-2', secretSet: true });
  });

  test.each([
    ['url', { url: 'http://receiver.example' }],
    ['url', { url: 'nonsense' }],
    ['eventTypes', { eventTypes: 'NO_SUCH_TYPE' }],
    ['eventTypes', { eventTypes: ' , ' }],
    ['secret', { secret: '' }],
    ['name', { name: '' }],
    ['unknown', { unknown: true }],
  ])('with a bad %s is refused by its name', async (path, more) => {
    const refused = await problem(create('bad', more));
    expect([refused.status, refused.problem?.errors?.map((e) => e.path)]).toEqual([400, [path]]);
  });

  test('has a name of its own', async () => {
    await create('taken');
    const other = await create('free');
    expect(await problem(create('taken'))).toMatchObject({ status: 409 });
    expect(await problem(server.admin.call(api.putWebhook, { ...at(other.id), body: input('taken') }))).toMatchObject({
      status: 409,
    });
  });

  test('is changed only as it was read, and gone once it is deleted', async () => {
    const made = await create('conditional');
    const { etag = '' } = await server.admin.call(api.getWebhook, at(made.id));
    await server.admin.call(api.putWebhook, { ...at(made.id), body: input('conditional', { enabled: false }) });
    const headers = { 'if-match': etag };
    const late = server.admin.call(api.putWebhook, { ...at(made.id), body: input('conditional'), headers });
    expect(await problem(late)).toMatchObject({ status: 412 });
    expect((await server.admin.call(api.deleteWebhook, at(made.id))).status).toBe(204);
    expect(await problem(server.admin.call(api.getWebhook, at(made.id)))).toMatchObject({ status: 404 });
  });

  test('of one realm is not found in another, nor are its deliveries', async () => {
    const { id } = await create('mine');
    const delivery = (await server.admin.call(api.testWebhook, at(id))).body!;
    const { admin } = server;
    const refusals = await Promise.all([
      problem(admin.call(api.getWebhook, at(id, 'other'))),
      problem(admin.call(api.deleteWebhook, at(id, 'other'))),
      problem(admin.call(api.putWebhook, { ...at(id, 'other'), body: input('mine') })),
      problem(admin.call(api.testWebhook, at(id, 'other'))),
      problem(admin.call(api.listDeliveries, at(id, 'other'))),
      problem(admin.call(api.redeliver, { params: { realm: 'other', id, deliveryId: delivery.id } })),
    ]);
    expect(refusals.map((r) => r.status)).toEqual([404, 404, 404, 404, 404, 404]);
  });

  test('leaves an audit event of each change, without its address and secret', async () => {
    const made = await create('audited', { secret: SECRET });
    await server.admin.call(api.putWebhook, { ...at(made.id), body: input('audited', { secret: `${SECRET}-2` }) });
    await server.admin.call(api.deleteWebhook, at(made.id));
    const events = await server.admin.call(listEvents, { params, query: { limit: 50 } });
    const mine = events.body!.filter((e) => e.subject?.id === made.id);
    expect(mine.map((e) => e.type)).toEqual(['WEBHOOK_DELETED', 'WEBHOOK_UPDATED', 'WEBHOOK_CREATED']);
    expect(mine[1]?.data).toMatchObject({ fields: ['secret'] });
    expect(JSON.stringify(mine)).not.toMatch(/secret-that|127\.0\.0\.1:/);
  });
});

describe('an administrator with webhooks:write who may not read events', () => {
  const holding = (...more: Permission[]) =>
    administrator(server, { target: 'acme', permissions: ['webhooks:read', 'webhooks:write', ...more] });
  const refusal = {
    status: 403,
    problem: { type: 'urn:svc:problem:privilege-escalation', permission: 'events:read' },
  };

  test('cannot make, redirect, widen or enable a subscription, by API or by document', async () => {
    const writer = await holding();
    const off = await create('off', { enabled: false });
    const on = await create('on');
    const put = (id: string, body: api.WebhookInput) => writer.call(api.putWebhook, { ...at(id), body });
    const apply = (webhook: api.WebhookInput, dryRun: 'true' | 'false') =>
      writer.call(importRealm, { params, query: { manager: 'writer', dryRun }, body: { webhooks: [webhook] } });
    const attempts = [
      writer.call(api.createWebhook, { params, body: input('made') }),
      writer.call(api.createWebhook, { params, body: input('made', { enabled: false }) }),
      put(off.id, input('off')),
      put(on.id, input('on', { url: `${receiver.url}/elsewhere` })),
      put(on.id, input('on', { eventTypes: '*' })),
      apply(input('made'), 'true'),
      apply(input('made'), 'false'),
      apply(input('on', { eventTypes: '*' }), 'false'),
    ];
    for (const answer of await Promise.all(attempts.map(problem))) expect(answer).toMatchObject(refusal);
    const { body: left = [] } = await server.admin.call(api.listWebhooks, { params });
    expect(left.some(({ name }) => name === 'made')).toBe(false);
    expect(left).toContainEqual(on);
  });

  test('can still rename, switch off, test and delete one', async () => {
    const writer = await holding();
    const { id, url } = await create('kept');
    await writer.call(api.putWebhook, { ...at(id), body: input('kept-2', { url, secret: SECRET }) });
    await writer.call(api.testWebhook, at(id));
    await writer.call(api.putWebhook, { ...at(id), body: input('kept-2', { url, enabled: false }) });
    expect((await writer.call(api.deleteWebhook, at(id))).status).toBe(204);
    const reader = await holding('events:read');
    expect((await reader.call(api.createWebhook, { params, body: input('by-reader') })).status).toBe(201);
  });
});

describe('its deliveries', () => {
  const until = async (id: string, status: string) => {
    const latest = async () => (await server.admin.call(api.listDeliveries, at(id))).body?.[0];
    await expect.poll(latest).toMatchObject({ status });
    return latest();
  };

  test('of ADMIN_WRITE are all administrative changes, each by its own name', async () => {
    const { id } = await create('umbrella', { eventTypes: 'ADMIN_WRITE' });
    await create('another');
    const { body = [] } = await server.admin.call(api.listDeliveries, at(id));
    expect(body.map((d) => d.eventType)).toEqual(['WEBHOOK_CREATED', 'WEBHOOK_CREATED']);
    const all = await server.admin.call(listEvents, { params, query: { type: 'ADMIN_WRITE', limit: 1 } });
    expect(all.body?.map((e) => e.type)).toEqual(['WEBHOOK_CREATED']);
  });

  test('are listed newest first, page by page', async () => {
    const { id } = await create('listed');
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift((await server.admin.call(api.testWebhook, at(id))).body!.id);
    const first = await server.admin.call(api.listDeliveries, { ...at(id), query: { limit: 3 } });
    const cursor = first.nextCursor ?? '';
    const second = await server.admin.call(api.listDeliveries, { ...at(id), query: { limit: 3, cursor } });
    expect([...first.body!, ...second.body!].map((d) => d.id)).toEqual(ids);
    expect(second.nextCursor).toBeUndefined();
    const forged = { ...at(id), query: { cursor: Buffer.from('["x"]').toString('base64url') } };
    expect(await problem(server.admin.call(api.listDeliveries, forged))).toMatchObject({ status: 400 });
  });

  test('of all webhooks are one list, by status and page by page', async () => {
    const realm = 'several';
    const { admin } = server;
    await admin.call(createRealm, { body: { realm } });
    const several = { params: { realm } };
    const [one = '', two = ''] = await Promise.all(
      ['one', 'two'].map(
        async (name) => (await admin.call(api.createWebhook, { ...several, body: input(name) })).body!.id,
      ),
    );
    receiver.answer = ({ url }) => ({ status: url === '/one' ? 500 : 200 });
    for (const id of [one, two, one]) await admin.call(api.testWebhook, at(id, realm));
    const list = async (query: object) => (await admin.call(api.listAllDeliveries, { ...several, query })).body ?? [];
    await expect.poll(async () => (await list({ status: 'dead' })).length).toBe(2);
    const all = await list({});
    expect(all.map(({ webhookId }) => webhookId)).toEqual([one, two, one]);
    expect((await list({ status: 'succeeded' })).map(({ webhookId }) => webhookId)).toEqual([two]);
    expect(await list({ status: 'pending' })).toEqual([]);
    const ofOne = await admin.call(api.listDeliveries, { ...at(two, realm), query: { status: 'dead' } });
    expect(ofOne.body).toEqual([]);
    const first = await admin.call(api.listAllDeliveries, { ...several, query: { limit: 2 } });
    const cursor = first.nextCursor ?? '';
    const rest = await admin.call(api.listAllDeliveries, { ...several, query: { limit: 2, cursor } });
    expect([...first.body!, ...rest.body!].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const forged = { ...several, query: { cursor: Buffer.from('["x","y"]').toString('base64url') } };
    expect(await problem(admin.call(api.listAllDeliveries, forged))).toMatchObject({ status: 400 });
    const stranger = await administrator(server, { target: realm, permissions: ['events:read'] });
    expect(await problem(stranger.call(api.listAllDeliveries, several))).toMatchObject({ status: 403 });
  });

  test('of one event to several webhooks are all on the pages', async () => {
    const realm = 'same-event';
    const { admin } = server;
    await admin.call(createRealm, { body: { realm } });
    const several = { params: { realm } };
    const wanted = { eventTypes: 'WEBHOOK_CREATED' };
    for (const name of ['a', 'b', 'c']) await admin.call(api.createWebhook, { ...several, body: input(name, wanted) });
    const ids: string[] = [];
    const query: { limit: number; cursor?: string | undefined } = { limit: 1 };
    do {
      const { body, nextCursor } = await admin.call(api.listAllDeliveries, { ...several, query });
      ids.push(...(body ?? []).map(({ id }) => id));
      query.cursor = nextCursor;
    } while (query.cursor !== undefined);
    const all = await admin.call(api.listAllDeliveries, several);
    expect(ids.length).toBeGreaterThan(2);
    expect(ids).toEqual(all.body?.map(({ id }) => id));
  });

  test('say how it went, and are sent again with the same id', async () => {
    const { id } = await create('again');
    receiver.answer = () => ({ status: 500 });
    const sent = (await server.admin.call(api.testWebhook, at(id))).body!;
    expect(sent).toMatchObject({ status: 'pending', attempts: 0, eventType: 'WEBHOOK_TEST', webhookId: id });
    const dead = await until(id, 'dead');
    expect(dead).toMatchObject({ id: sent.id, attempts: 3, responseStatus: 500, error: 'answered 500' });
    receiver.answer = () => ({ status: 200 });
    const params = { realm: 'acme', id, deliveryId: sent.id };
    const again = await server.admin.call(api.redeliver, { params });
    expect([again.status, again.body?.id]).toEqual([202, sent.id]);
    expect(await until(id, 'succeeded')).toMatchObject({ id: sent.id, attempts: 4 });
  });
});
