// A surface that is made at its first request is the same to those who ask as one that was there from the start.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { sendConsoleToCome } from '../../../server/features/operations/console/to-come.ts';
import { openHttp } from '../../../server/http/fastify.ts';
import { onDemand } from '../../../server/http/on-demand.ts';
import { answerReady } from '../../../server/http/ready.ts';

const log = pino({ level: 'silent' });
const servers: FastifyInstance[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server with a surface under /behind that says what it got; `faults`: how often making it fails first. */
async function serverWith(faults = 0) {
  let made = 0;
  const http = await openHttp({ log, trustProxy: false, requests: 'req', ready: answerReady([], () => {}) });
  const surface = onDemand(http, ['/behind'], async () => {
    made += 1;
    if (made <= faults) throw new Error('not this time');
    const app = await openHttp({ log, trustProxy: false, requests: 'behind' });
    app.post('/behind/echo', { bodyLimit: 1024 * 1024 }, async (request) => ({ body: request.body, id: request.id }));
    app.get('/behind/:name', async ({ params }) => params);
    await app.ready();
    return { app, routes: [] };
  });
  servers.push(http);
  return { address: await http.listen({ host: '127.0.0.1', port: 0 }), made: () => made, surface, http };
}
const post = (address: string, body: string) =>
  fetch(`${address}/behind/echo`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

test('it is made once, by the first who ask, and gets their bodies unread', async () => {
  const { address, made } = await serverWith();
  expect(made()).toBe(0);
  expect((await fetch(`${address}/beside`)).status).toBe(404);
  expect(made()).toBe(0);
  const texts = ['"one"', '"two"', JSON.stringify('x'.repeat(500_000))];
  const answers: { body: string; id: string }[] = await Promise.all(
    texts.map(async (text) => JSON.parse(await (await post(address, text)).text())),
  );
  expect(answers.map(({ body }) => JSON.stringify(body))).toEqual(texts);
  expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
  expect(made()).toBe(1);
});

test('whatever the method is, it answers: what isn’t there is 404, what is there under another method is 405', async () => {
  const { address } = await serverWith();
  const asked = async (method: string, path: string) => {
    const answer = await fetch(address + path, { method });
    return [answer.status, answer.headers.get('allow'), answer.headers.get('content-type')];
  };
  const type = 'application/problem+json; charset=utf-8';
  expect(await asked('GET', '/behind/it')).toEqual([200, null, 'application/json; charset=utf-8']);
  expect(await asked('DELETE', '/behind/it')).toEqual([405, 'GET, HEAD', type]);
  expect(await asked('PATCH', '/behind/echo')).toEqual([405, 'GET, HEAD, POST', type]);
  expect(await asked('GET', '/behind')).toEqual([404, null, type]);
  expect(await asked('GET', '/behind/it/more')).toEqual([404, null, type]);
  expect(await asked('GET', '/behindit')).toEqual([404, null, type]);
});

test('a target in absolute form, or with encoded letters, is the same address', async () => {
  const { address } = await serverWith();
  const { host, hostname, port } = new URL(address);
  for (const target of [`http://${host}/behind/it`, '/%62ehind/it', `http://${host}/%62ehind/it?q=1`]) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket), target).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"name":"it"\}$/);
  }
});

test('where it could not be made, that request fails and the next one tries again', async () => {
  const { address } = await serverWith(1);
  expect((await post(address, '"one"')).status).toBe(500);
  expect(await (await post(address, '"two"')).json()).toMatchObject({ body: 'two' });
});

test('while the console is built, a browser sees a page that says so and reloads itself, without a script', async () => {
  const built = Promise.withResolvers<void>();
  const http = await openHttp({ log, trustProxy: false, requests: 'req', ready: answerReady([], () => {}) });
  servers.push(http);
  onDemand(
    http,
    ['/admin/console'],
    async () => {
      await built.promise;
      const app = await openHttp({ log, trustProxy: false, requests: 'behind' });
      app.get('/admin/console/', async () => 'the console');
      await app.ready();
      return { app, routes: [] };
    },
    { afterMs: 20, answer: sendConsoleToCome },
  );
  const address = `${await http.listen({ host: '127.0.0.1', port: 0 })}/admin/console/`;
  const answer = await fetch(address);
  expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('refresh')]).toEqual([503, '2', '2']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';(?!.*script)/);
  const page = await answer.text();
  expect(page).toContain('<h1>The console is being built…</h1>');
  expect(page).not.toMatch(/<script|<style|style=/);
  built.resolve();
  await expect.poll(async () => (await fetch(address)).text()).toBe('the console');
});

test('a failure that no request waited for is the answer to the next one, and the one after tries again', async () => {
  const making = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
  let made = 0;
  const http = await openHttp({ log, trustProxy: false, requests: 'req', ready: answerReady([], () => {}) });
  servers.push(http);
  const make = () => making[made++]?.promise ?? Promise.reject(new Error('made too often'));
  const answer = { afterMs: 20, answer: sendConsoleToCome };
  onDemand(http, ['/behind'], make, answer);
  const address = `${await http.listen({ host: '127.0.0.1', port: 0 })}/behind/it`;
  const status = async () => (await fetch(address)).status;
  expect(await status()).toBe(503);
  making[0]?.reject(new Error('a fault in the source'));
  expect(await status()).toBe(500);
  expect(made).toBe(1);
  expect(await status()).toBe(503);
  expect(made).toBe(2);
});

test('a server that stops ends with it, asked for or not', async () => {
  for (const ask of [false, true]) {
    const { address, surface, http } = await serverWith();
    if (ask) await post(address, '"one"');
    await http.close();
    await surface.close();
    await expect(fetch(`${address}/behind/it`)).rejects.toThrow();
  }
});
