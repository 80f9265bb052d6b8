// An export begins to stream while its sections are read: a caller and the proxies on its way see at once that it works.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await admin.apply('streamed', { roles: [{ name: 'member' }], users: [{ username: 'ann', roles: ['member'] }] });
});
afterAll(() => server?.stop());

const decoder = new TextDecoder();

/** The bytes of an answer as the connection brings them, until the server closes it. */
async function bytesOf(path: string): Promise<string> {
  const { url, headers } = admin.raw(path);
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('data', (piece) => pieces.push(piece));
  // a reset closes, too
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`);
  await promise;
  return Buffer.concat(pieces).toString('latin1');
}

test.each(['true', 'false'])('with users=%s the first bytes come before the last section is read', async (users) => {
  const path = `/admin/realms/streamed/export?users=${users}`;
  const whole = await (await admin.fetch(path)).text();
  const holder = await server.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table workload_identity in access exclusive mode');
    const answer = await admin.fetch(path);
    expect(answer.status).toBe(200);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    let text = decoder.decode(first?.value);
    expect(text).toMatch(/^\{\n"/);
    await holder.query('rollback');
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) break;
      text += decoder.decode(piece.value);
    }
    expect(text).toBe(whole);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});

test('an export whose last section fails is no whole document, and its connections come back', async () => {
  const path = '/admin/realms/streamed/export?users=true';
  await server.pool.query('alter table workload_identity rename to workload_identity_away');
  try {
    // No last chunk (RFC 9112 §7.1): a client can tell this body from a whole one.
    for (const one of [path, path.replace('true', 'false')]) {
      const bytes = await bytesOf(one);
      expect(bytes).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(bytes.toLowerCase()).toContain('transfer-encoding: chunked');
      expect(bytes).toContain('{\n"');
      expect(bytes).not.toMatch(/\r\n0\r\n\r\n$/);
    }
    for (let i = 0; i < 15; i += 1) {
      const text = await admin
        .fetch(path)
        .then((answer) => answer.text())
        .catch(() => '');
      expect(() => JSON.parse(text)).toThrow();
    }
  } finally {
    await server.pool.query('alter table workload_identity_away rename to workload_identity');
  }
  expect(await bytesOf(path)).toMatch(/\r\n0\r\n\r\n$/);
  const again = await admin.fetch(path);
  expect(again.status).toBe(200);
  await again.json();
});
