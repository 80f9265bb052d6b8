// Owns: what a server sends to an OpenTelemetry collector: traces of requests with their statements, metrics, logs.
// Does not own: which variables ask for it (wanted.unit.test.ts), the names of statements (statements.unit.test.ts).
// Implements: docs/operations.md "OpenTelemetry".
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { type CollectedSpan, type Collector, startCollector } from '../../support/collector.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

const SERVER = 2;
const CLIENT = 3;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TOKEN = '/realms/:realm/oauth2/token';

let collector: Collector;
let receiver: Receiver;
let server: ServerProcess;

beforeAll(async () => {
  [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  server = await startServerProcess({
    ...collector.env,
    SVC_LOG_LEVEL: 'info',
    SVC_TRUST_PROXY: '127.0.0.1',
    SVC_OUTBOUND_ALLOW: '127.0.0.1',
    SVC_OUTBOUND_CA_FILE: receiver.caFile,
  });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([collector?.stop(), receiver?.stop()]);
});

async function found(is: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
  await expect.poll(() => collector.spans.some(is)).toBe(true);
  const span = collector.spans.find(is);
  if (!span) throw new Error('no such span');
  return span;
}
const within = (of: CollectedSpan) => collector.spans.filter(({ traceId }) => traceId === of.traceId);

/** @param from the client's address; 127.0.0.1 is the trusted proxy's */
const ask = (path: string, headers: { [name: string]: string }, from = '127.0.0.1', body?: string) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const url = new URL(path, server.inside);
    const request = httpRequest(
      url,
      { localAddress: from, headers, method: body === undefined ? 'GET' : 'POST' },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });

test('a request is a trace by its route, with its statements and its password check, and nothing personal', async () => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'ada.lovelace', client_secret: 'x' });
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'lovelace-agent' };
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  await ask('/realms/acme/oauth2/token', { ...type, traceparent }, '127.0.0.1', `${body}`);
  const span = await found(({ traceId, kind }) => traceId === TRACE && kind === SERVER);
  expect(span).toMatchObject({ name: `POST ${TOKEN}`, parentSpanId: PARENT });
  expect(span.attributes).toMatchObject({ 'http.route': TOKEN, 'realmkeeper.realm': 'acme' });
  await expect.poll(() => within(span).some(({ name, kind }) => kind === CLIENT && / client\b/.test(name))).toBe(true);
  const all = JSON.stringify(within(span));
  expect(all).not.toMatch(/lovelace|127\.0\.0\.1/);
});

test('a sign-in’s password check is a span of the request', async () => {
  const signIn = await found(({ name }) => name === 'password verify');
  await expect.poll(() => within(signIn).some(({ name }) => /^POST \/admin\//.test(name))).toBe(true);
});

test('a trace goes on for a trusted proxy alone', async () => {
  const other = TRACE.replace(/^./, 'f');
  await ask('/realms/acme/.well-known/openid-configuration', { traceparent: `00-${other}-${PARENT}-01` }, '127.0.0.2');
  await ask('/realms/nowhere/oauth2/authorize', { traceparent: `00-${other}-${PARENT}-01` }, '127.0.0.2');
  await found(({ name }) => name === 'GET /realms/:realm/.well-known/openid-configuration');
  await found(({ name }) => name === 'GET /realms/:realm/oauth2/authorize');
  expect(collector.spans.filter(({ traceId }) => traceId === other)).toEqual([]);
});

test('a webhook gets a traceparent, and its delivery is linked to the request that caused it', async () => {
  const body = { name: 'crm', url: receiver.url, eventTypes: 'USER_CREATED', enabled: true };
  await server.admin.call(createWebhook, { params: { realm: 'acme' }, body });
  await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'grace' } });
  await expect.poll(() => receiver.received.length).toBe(1);
  const sent = String(receiver.received[0]?.headers.traceparent).split('-');
  const delivery = await found(({ name, traceId }) => name === 'job webhook-delivery' && traceId === sent[1]);
  const [link] = delivery.links;
  const cause = await found(({ spanId }) => spanId === link?.spanId);
  const request = await found(({ traceId, kind }) => traceId === cause.traceId && kind === SERVER);
  expect(request.name).toBe('POST /admin/realms/:realm/users');
  expect(JSON.stringify([within(request), within(delivery)])).not.toContain('grace');
});

test('a problem names its trace', async () => {
  const { text } = await ask('/admin/realms/acme/users', { accept: 'application/json' });
  const { traceId } = JSON.parse(text);
  await found((span) => span.traceId === traceId && span.name === 'GET /admin/realms/:realm/users');
});

test('the figures of the metrics page and the lines of the log are sent, too', async () => {
  await expect.poll(() => [...collector.metrics.keys()]).toContain('http_server_requests_seconds_count');
  expect([...collector.metrics.keys()]).toEqual(
    expect.arrayContaining(['http_server_requests_seconds_sum', 'svc_login_total', 'process_cpu_seconds_total']),
  );
  await expect.poll(() => collector.logs.map(({ text }) => text)).toContain('listening');
  const [resource = {}] = collector.resources;
  expect(resource).toMatchObject({ 'service.name': 'realmkeeper' });
  expect(Object.keys(resource)).not.toEqual(expect.arrayContaining(['process.command_args', 'process.owner']));
});
