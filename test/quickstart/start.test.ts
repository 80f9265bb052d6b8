// `npm start` as a person meets it: what it prints, that the printed lines work, that it stops and starts again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

let home: string;
let port: number;
let other: Server;

beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-quickstart-'));
  other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  port = await freePort();
});
afterAll(async () => {
  other.close();
  await rm(home, { recursive: true, force: true });
});

const running = new Set<ChildProcess>();
afterEach(async () => {
  // what a failed test left behind ends gracefully, and its database with it
  for (const child of running) {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  }
});

function start(
  env: Record<string, string>,
  [program = process.execPath, ...words]: readonly string[] = [process.execPath, 'quickstart/main.ts'],
) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|DATABASE_URL$|NODE_ENV$)/.test(name));
  const child = spawn(program, words, {
    env: { ...Object.fromEntries(inherited), SVC_DATA_DIR: path.join(home, 'data'), SVC_PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let text = '';
  const ended = once(child, 'close').then(([code]: (number | string | null)[]) => code);
  return {
    ended,
    text: () => text,
    stop: (signal: NodeJS.Signals = 'SIGINT') => child.kill(signal),
    /** Resolves with everything printed, once `words` stand in it or the program ended. */
    until: (words: string) =>
      new Promise<string>((resolve) => {
        const hear = (chunk: Buffer | string) => {
          text += chunk;
          if (text.includes(words)) resolve(text);
        };
        child.stdout.on('data', hear);
        child.stderr.on('data', hear);
        void ended.then(() => resolve(text));
      }),
  };
}

const LAST = 'the data stays.';

test('a bad environment prints every fault at once, the demonstration’s too, and makes nothing', async () => {
  const started = start({ SVC_PORT: 'x', SVC_DEMO_PASSWORD: 'alice', SVC_DEMO_CLIENT_SECRET: 'x'.repeat(1025) });
  const text = await started.until(LAST);
  expect(await started.ended).toBe(1);
  for (const name of ['SVC_PORT', 'SVC_DEMO_PASSWORD', 'SVC_DEMO_CLIENT_SECRET']) expect(text).toContain(`  ${name}: `);
  expect(text).not.toContain('Starting');
});

test('a password of the demonstration’s person that is easy to guess is named before anything is made', async () => {
  for (const [password, why] of [
    ['password1234', 'common password'],
    ['Liddell-2024', 'own name'],
  ] as const) {
    const started = start({ SVC_DEMO_PASSWORD: password });
    const text = await started.until(LAST);
    expect(await started.ended).toBe(1);
    expect(text).toMatch(new RegExp(`SVC_DEMO_PASSWORD: .*${why}`));
    expect(text).not.toContain('Starting');
  }
});

test('a busy port is named before anything is made', async () => {
  const busy = (other.address() as AddressInfo).port;
  const started = start({ SVC_PORT: String(busy), SVC_DATA_DIR: path.join(home, 'busy') });
  const text = await started.until(LAST);
  expect(await started.ended).toBe(1);
  expect(text).toContain(`Port ${busy} of 127.0.0.1 is in use`);
  expect(text).not.toContain('Administrator');
  await expect(readdir(path.join(home, 'busy'))).rejects.toThrow('ENOENT');
});

test('the first start prints secrets that work; it stops at Ctrl-C without noise; the next start keeps all and prints none', async () => {
  const first = start({});
  const welcome = await first.until(LAST);
  expect(welcome.match(/ ✓ /g)).toHaveLength(4);
  expect(welcome).toContain('Nobody is locked out after failed sign-ins');
  const base = `http://localhost:${port}`;

  const [, basic = ''] = welcome.match(/-u '(demo-service:[^']+)'/) ?? [];
  const grant = () =>
    fetch(`${base}/realms/demo/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(basic)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
  expect((await grant()).status).toBe(200);
  const [, username, password] = welcome.match(/Administrator of master: (\S+) \/ (\S+)/) ?? [];
  const login = () =>
    fetch(`${base}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
  expect((await login()).status).toBe(204);
  const links = [...new Set(welcome.match(/http:\/\/localhost:\S+/g))].filter((link) => !link.endsWith('/token'));
  expect(links).toHaveLength(4);
  // the sign-in page needs a browser's cookies; where it sends one is its own tests' matter
  for (const link of links) {
    const { status } = await fetch(link, { redirect: 'manual' });
    expect([link, [200, 302, 303]]).toEqual([link, expect.arrayContaining([status])]);
  }

  first.stop();
  first.stop();
  expect(await first.ended).toBe(0);
  expect(
    first
      .text()
      .slice(first.text().indexOf(LAST) + LAST.length)
      .trim(),
  ).toBe('Stopping…');

  const second = start({});
  const again = await second.until(LAST);
  expect(again.match(/ ✓ /g)).toHaveLength(4);
  expect(again).toContain('lost: docs/troubleshooting.md');
  const secret = basic.slice(basic.indexOf(':') + 1);
  for (const shown of [secret, password ?? '']) expect([again.includes(shown), shown !== '']).toEqual([false, true]);
  expect([(await grant()).status, (await login()).status]).toEqual([200, 204]);
  second.stop();
  expect(await second.ended).toBe(0);
});

test('stopped while it starts, it ends by itself and leaves nothing running', async () => {
  const started = start({});
  await started.until('Starting the server');
  started.stop();
  expect(await started.ended).toBe(0);
  // the embedded database would refuse a second owner
  const next = start({});
  expect(await next.until(LAST)).not.toContain('left behind');
  next.stop();
  expect(await next.ended).toBe(0);
});

test('SIGTERM to npm, as a supervisor sends it, stops the program that npm started', async () => {
  const started = start({}, ['npm', 'start']);
  await started.until(LAST);
  started.stop('SIGTERM');
  // closed only when no process has its output any more
  await started.ended;
  expect(started.text()).toContain('Stopping…');
  const next = start({}, ['npm', 'run', 'server']);
  await next.until('"msg":"listening');
  next.stop('SIGTERM');
  await next.ended;
  await expect(fetch(`http://localhost:${port}/`)).rejects.toThrow();
});

test('another master key than the data was written with is told at the start', async () => {
  const started = start({ SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') });
  const text = await started.until(LAST);
  expect(await started.ended).toBe(1);
  expect(text).toContain('is not in SVC_MASTER_KEY');
});
