// Messages that were given up, sent again by an administrator: as they were, and never after they have expired.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import * as messages from '../../../server/contract/messages.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { sweep } from '../../../server/jobs/janitor.ts';
import { administrator } from '../../support/administrators.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { eventually } from '../../support/operator.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const CODE = '493817';
const params = { realm: 'acme' };
const HOUR_MS = 3_600_000;
let server: TestServer;
let receiver: Receiver;
let asking: Asking;
let userId = '';

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [0, 0] });
  for (const realm of ['acme', 'other']) await server.admin.call(createRealm, { body: { realm } });
  userId = (await server.admin.call(createUser, { params, body: { username: 'ada' } })).body?.id ?? '';
  const body = { channel: 'SMS', driver: 'http', config: { url: receiver.url } } as const;
  await server.admin.call(putMessagingProvider, { params, body });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => ({ status: 503 });
  asking = startAsking(server);
});
afterEach(async () => {
  await asking.stop();
  await server.pool.query('delete from message');
});

const list = async () => (await server.admin.call(messages.listMessages, { params })).body ?? [];
const settled = async (status: messages.Message['status'], attempts?: number) => {
  await eventually(async () =>
    expect(await list()).toMatchObject([{ status, ...(attempts !== undefined && { attempts }) }]),
  );
  return (await list())[0]!;
};
/** A message that the gateway refused three times. */
async function givenUp(): Promise<messages.Message> {
  await asking.ask({
    ...params,
    userId,
    to: '+491701234567',
    templateKey: 'otp-sms',
    values: { code: CODE },
    goodForSeconds: 3600,
  });
  return settled('dead', 3);
}
const retry = (id: string, { as = server.admin, realm = 'acme' } = {}) =>
  as.call(messages.retryMessage, { params: { realm, id } });
const wrongState = (words: RegExp) => ({
  status: 409,
  problem: { type: 'urn:svc:problem:wrong-state', detail: expect.stringMatching(words) },
});

test('a message that was given up arrives as it was, after the gateway works again', async () => {
  const dead = await givenUp();
  expect(dead.retryable).toBe(true);
  receiver.answer = () => ({});
  const { status, body } = await retry(dead.id);
  expect([status, body]).toMatchObject([202, { id: dead.id, status: 'pending', retryable: false }]);
  expect(await settled('sent', 4)).toMatchObject({ error: null, retryable: false });
  expect(String(receiver.received.at(-1)?.raw)).toContain(CODE);
  const { rows } = await server.pool.query('select content from message');
  expect(rows).toEqual([{ content: null }]);
  const { body: events } = await server.admin.call(listEvents, { params, query: { type: 'MESSAGE_RETRIED' } });
  expect(events).toMatchObject([
    { actor: { name: 'admin' }, subject: { id: userId }, data: { message: dead.id, templateKey: 'otp-sms' } },
  ]);
  expect(JSON.stringify(events)).not.toContain(CODE);
  await expect(retry(dead.id)).rejects.toMatchObject(wrongState(/was sent/));
});

test('it has a new schedule of tries, and can be sent again after them', async () => {
  const { id } = await givenUp();
  await retry(id);
  expect(await settled('dead', 6)).toMatchObject({ retryable: true });
  expect(receiver.received).toHaveLength(6);
});

test('nothing that has expired is sent again, and what it said is deleted', async () => {
  const { id } = await givenUp();
  await server.pool.query(`update message set expires_at = now() - interval '1 second'`);
  expect(await list()).toMatchObject([{ status: 'dead', retryable: false }]);
  await expect(retry(id)).rejects.toMatchObject(wrongState(/has expired/));
  expect(receiver.received).toHaveLength(3);
  await sweep(sqlOver(server.pool), new Date());
  const { rows } = await server.pool.query('select status, content from message');
  expect(rows).toEqual([{ status: 'dead', content: null }]);
});

test('the janitor leaves the content of a message that is still of use', async () => {
  const { id } = await givenUp();
  await sweep(sqlOver(server.pool), new Date());
  expect((await list())[0]).toMatchObject({ id, retryable: true });
  await sweep(sqlOver(server.pool), new Date(Date.now() + 2 * HOUR_MS));
  await expect(retry(id)).rejects.toMatchObject(wrongState(/content of the message is deleted/));
});

test('a message that the server still tries is not sent twice', async () => {
  const { id } = await givenUp();
  await server.pool.query(`update message set status = 'retrying'`);
  await expect(retry(id)).rejects.toMatchObject(wrongState(/still tries/));
});

test('it needs messaging:write, and the id of this realm', async () => {
  const { id } = await givenUp();
  const reader = await administrator(server, { target: 'acme', permissions: ['messaging:read'] });
  await expect(retry(id, { as: reader })).rejects.toMatchObject({ status: 403 });
  await expect(retry(id, { realm: 'other' })).rejects.toMatchObject({ status: 404 });
  await expect(retry(newId())).rejects.toMatchObject({ status: 404 });
  const writer = await administrator(server, { target: 'acme', permissions: ['messaging:write'] });
  expect((await retry(id, { as: writer })).status).toBe(202);
});
