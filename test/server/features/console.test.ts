// Owns: the console's files as the server serves them: policy, caching, compression, deep links; and the ways that lead there.
// Does not own: what the console does (test/console), its weight (test/guards/console.test.ts).
// Implements: decisions "Console".
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleIsBuilt } from '../../support/console.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let index: string;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.baseUrl + path, { redirect: 'manual', headers });
beforeAll(async () => {
  server = await startTestServer();
  await consoleIsBuilt(server.baseUrl);
  index = await (await get('/admin/console/')).text();
});
afterAll(() => server?.stop());

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";

test('each address of the console is its page, with its policy, and is asked for anew', async () => {
  for (const path of ['/admin/console/', '/admin/console/realms/acme/clients/shop?tab=roles', '/admin/console/a.b']) {
    const answer = await get(path);
    expect(answer.status, path).toBe(200);
    expect(await answer.text()).toBe(index);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
    });
  }
  expect(index).not.toMatch(/<script(?![^>]* src=)|<style|style=| on\w+=/);
  const bare = await get('/admin/console');
  expect([bare.status, bare.headers.get('location')]).toEqual([308, '/admin/console/']);
});

test('files are named by their content, compressed, and kept for ever; one that is not there is not the page', async () => {
  const files = [...index.matchAll(/(?:src|href)="(\/admin\/console\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const answer = await get(file, { 'accept-encoding': 'br' });
    expect([answer.status, answer.headers.get('content-encoding')], file).toEqual([200, 'br']);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-security-policy')).toBe(POLICY);
    await answer.body?.cancel();
  }
  expect((await get('/admin/console/assets/gone-12345678.js')).status).toBe(404);
  expect((await get('/admin/console/assets/..%2f..%2findex.html')).status).toBeGreaterThanOrEqual(400);
  expect(await (await get('/admin/console/assets/%2e%2e/manifest.json')).text()).toBe(index);
});

test('a folder, and a path that leads out of the files, are not found like any file that is not there', async () => {
  const { port, hostname } = new URL(server.baseUrl);
  // fetch would tidy the path up
  const status = (path: string) =>
    new Promise((resolve, reject) => {
      request({ port, hostname, path }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
  for (const path of ['', '../../../package.json', '..%5c..%5cmanifest.json', '%2e%2e%2fmanifest.json', '%00', '.'])
    expect(await status(`/admin/console/assets/${path}`), path).toBe(404);
});

test('who is signed in is led to the console; without script the page of the session stays', async () => {
  const who = createPerson(server.baseUrl);
  const chosen = await who.post('/admin/login/form', { ...(await who.open('/admin/login')).fields, realm: 'master' });
  const done = await who.fill(chosen, { username: 'admin', password: ADMIN_PASSWORD });
  expect(new URL(done.url).pathname).toBe('/admin/console/');
  const bare = await get('/admin', { accept: 'text/html' });
  expect([bare.status, bare.headers.get('location')]).toEqual([303, '/admin/login']);
  expect(new URL((await who.open('/admin/login')).url).pathname).toBe('/admin/console/');
  const plain = await who.open('/admin/login?page=plain');
  expect(plain.heading).toBe('Signed in');
  expect(plain.text).toContain('/swagger-ui.html');
});
