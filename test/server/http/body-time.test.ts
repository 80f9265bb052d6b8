// Bodies that come slowly: who may take their time, and who may not.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBodyTime } from '../../../server/http/body-time.ts';
import { openHttp } from '../../../server/http/fastify.ts';

const BODY_MS = 300;
let http: FastifyInstance;
let port: number;
beforeAll(async () => {
  const log = pino({ level: 'silent' });
  http = await openHttp({ log, trustProxy: false, requests: 'req', bodyTime: createBodyTime(BODY_MS) });
  http.post('/open', async (request) => ({ took: request.body }));
  await http.register(async (admin) => {
    // As the admin surface does, before a body is read.
    admin.addHook('onRequest', async (request) => void Object.assign(request, { principal: { id: 'admin' } }));
    admin.post('/import', async (request) => ({ took: request.body }));
    admin.addContentTypeParser('text/x', (_request, payload, done) => done(null, payload));
    admin.post('/read-late', { bodyLimit: 100 * 1024 * 1024 }, async ({ raw }) => {
      await sleep(4 * BODY_MS);
      let bytes = 0;
      for await (const chunk of raw) bytes += chunk.length;
      return { bytes };
    });
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const address = http.server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => http?.close());

/** Sends half of a body, waits, and sends the rest; what came back, and whether the connection was closed before. */
async function slowly(path: string, { framing = 'content-length: 12', trickles = false } = {}) {
  const socket = net.connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  let answer = '';
  let closed = false;
  socket.on('data', (data) => (answer += String(data)));
  socket.on('error', () => {});
  socket.on('close', () => (closed = true));
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`);
  const [first, ...rest] = trickles ? [...'{"a":"bcd"} '] : ['{"a":"', 'bcd"} '];
  if (framing.startsWith('content')) socket.write(first ?? '');
  let closedEarly = false;
  for (const piece of rest) {
    await sleep((3 * BODY_MS) / rest.length);
    closedEarly ||= closed;
    socket.write(piece);
  }
  await sleep(100);
  socket.destroy();
  return { answer, closedEarly };
}

test('a stranger’s body that takes too long is a 408 and the end of the connection', async () => {
  const { answer, closedEarly } = await slowly('/open');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(closedEarly).toBe(true);
  expect((await slowly('/open', { framing: 'transfer-encoding: chunked' })).closedEarly).toBe(true);
  expect((await slowly('/nowhere')).closedEarly).toBe(true);
  expect((await slowly('/open', { trickles: true })).closedEarly).toBe(true);
});

test('somebody who is signed in may take their time as long as something comes', async () => {
  const { answer, closedEarly } = await slowly('/import', { trickles: true });
  expect(closedEarly).toBe(false);
  expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"took":\{"a":"bcd"\}/);
});

test('a body of somebody who is signed in that stalls is a 408 too', async () => {
  const { answer, closedEarly } = await slowly('/import');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(closedEarly).toBe(true);
});

test('nobody is cut off while the server itself is slow to read', async () => {
  const socket = net.connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (data) => (answer += String(data)));
  socket.on('error', () => {});
  const size = 20 * 1024 * 1024;
  socket.write(`POST /read-late HTTP/1.1\r\nhost: x\r\ncontent-type: text/x\r\ncontent-length: ${size}\r\n\r\n`);
  socket.write(Buffer.alloc(size));
  await expect.poll(() => answer).toMatch(new RegExp(`^HTTP/1\\.1 200 [\\s\\S]*"bytes":${size}`));
  socket.destroy();
});

test('a connection goes on after a body that came in time', async () => {
  const send = () =>
    fetch(`http://127.0.0.1:${port}/open`, {
      method: 'POST',
      body: 'null',
      headers: { 'content-type': 'application/json' },
    });
  expect((await send()).status).toBe(200);
  await sleep(2 * BODY_MS);
  expect((await send()).status).toBe(200);
});
