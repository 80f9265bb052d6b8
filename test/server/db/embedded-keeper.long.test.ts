// The server's own PostgreSQL ends under it while it serves, killed or for a full disk: it is away for as long as that lasts,
// and nothing acknowledged is lost.
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../../server/start.ts';
import { freePort } from '../../support/free-port.ts';

const SECRET = 'operator-secret-of-this-test';
const run = promisify(execFile);
const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'realmkeeper-kept-'));
await fs.chmod(dir, 0o755);
/** Whether all lies on a disk of its own, so small that it can be filled; mounting one takes rights. */
const small = await run('mount', ['-t', 'tmpfs', '-o', 'size=150m,mode=755', 'tmpfs', dir]).then(
  () => true,
  () => false,
);
const said: string[] = [];
let server: RunningServer;
let baseUrl: string;
beforeAll(async () => {
  const port = await freePort();
  const env = { SVC_DATA_DIR: dir, SVC_PORT: `${port}`, SVC_LOG_LEVEL: 'silent', SVC_OPERATOR_CLIENT_SECRET: SECRET };
  server = await startServer(env, (line) => said.push(line));
  baseUrl = server.address;
});
afterAll(async () => {
  await server?.stop();
  if (small) await run('umount', [dir]);
  await fs.rm(dir, { recursive: true, force: true });
});

const grant = () =>
  fetch(`${baseUrl}/realms/master/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`operator:${SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${server.config.baseUrl}/admin` }),
  });
async function signedIn(): Promise<Record<string, string>> {
  const { access_token }: { access_token: string } = JSON.parse(await (await grant()).text());
  return { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
}
const status = async (address: string) => (await fetch(`${baseUrl}${address}`)).status;
const postmaster = async () =>
  Number.parseInt(await fs.readFile(path.join(dir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10);

test('it is started again, requests are told to come back meanwhile, and every acknowledged write is there', async () => {
  const headers = await signedIn();
  const acknowledged: string[] = [];
  const answers = new Map<number, Response>();
  let writing = true;
  const writer = async (name: string) => {
    for (let i = 0; writing; i += 1) {
      const body = JSON.stringify({ username: `${name}-${i}` });
      const response = await fetch(`${baseUrl}/admin/realms/master/users`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      answers.set(response.status, response);
      if (response.status === 201) acknowledged.push(`${name}-${i}`);
      else await sleep(50);
    }
  };
  const writers = Promise.all(['a', 'b', 'c'].map(writer));
  for (let round = 1; round <= 2; round += 1) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 20) await sleep(10);
    const pid = await postmaster();
    process.kill(pid, 'SIGKILL');
    while ((await status('/actuator/health/readiness')) !== 503) await sleep(10);
    expect(await status('/actuator/health/liveness')).toBe(200);
    while ((await status('/actuator/health/readiness')) !== 200) await sleep(50);
    expect(await postmaster()).not.toBe(pid);
  }
  const before = acknowledged.length;
  while (acknowledged.length < before + 20) await sleep(10);
  writing = false;
  await writers;
  expect([...answers.keys()].sort()).toEqual([201, 503]);
  expect(answers.get(503)?.headers.get('retry-after')).toBe('2');
  const there = new Set<string>();
  for (let next: string | undefined = '/admin/realms/master/users?limit=1000'; next; ) {
    const response: Response = await fetch(new URL(next, baseUrl), { headers });
    const users: { username: string }[] = JSON.parse(await response.text());
    for (const { username } of users) there.add(username);
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  expect(acknowledged.filter((username) => !there.has(username))).toEqual([]);
  expect(said.filter((line) => line.includes('is back'))).toHaveLength(2);
});

// Not skipped elsewhere: what a skipped test would say isn't a lack of theirs.
if (small) {
  /** Fills PostgreSQL's own log until it gives up. */
  async function fillLog(): Promise<void> {
    const [, , , port] = (await fs.readFile(path.join(dir, 'postgres', 'data', 'postmaster.pid'), 'utf8')).split('\n');
    const password = (await fs.readFile(path.join(dir, 'postgres', 'password'), 'utf8')).trim();
    const client = new pg.Client({ connectionString: `postgres://svc:${password}@127.0.0.1:${port}/postgres` });
    client.on('error', () => {});
    await client.connect();
    const fill = `select pg_logical_emit_message(false, 'filling', repeat('x', 1000000)), pg_switch_wal()`;
    for (;;) if (!(await client.query(fill).catch(() => undefined))) return client.end();
  }

  test('on a full disk writes are told to come back, health says why, and room is all it needs', async () => {
    const health = async (of = '') => JSON.parse(await (await fetch(`${baseUrl}/actuator/health${of}`)).text());
    const headers = await signedIn();
    const acknowledged: string[] = [];
    const write = async () => {
      const username = `full-${acknowledged.length}`;
      const attributes = { filling: Array.from({ length: 20 }, () => Math.random().toString(36).repeat(50)) };
      const body = JSON.stringify({ username, attributes });
      const { status } = await fetch(`${baseUrl}/admin/realms/master/users`, { method: 'POST', headers, body });
      if (status === 201) acknowledged.push(username);
      return status;
    };
    expect(await write()).toBe(201);

    const ballast = path.join(dir, 'ballast');
    await fs.writeFile(ballast, Buffer.alloc(150 * 1024 * 1024)).catch(() => {});
    let status = 201;
    while (status === 201) status = await write();
    expect(status).toBe(503);
    expect((await health()).components).toMatchObject({ diskSpace: { status: 'DOWN' }, db: { status: 'UP' } });
    expect((await health('/readiness')).status).toBe('UP');
    expect((await grant()).status).toBe(200);

    // It may come back once by itself, in what its recovery freed.
    while (!said.some((line) => line.includes('The disk (or shared memory) is full'))) {
      await fillLog().catch(() => {});
      await sleep(50);
    }
    while ((await health('/readiness')).status !== 'DOWN') await sleep(50);
    expect((await health('/liveness')).status).toBe('UP');

    await fs.rm(ballast);
    while ((await health('/readiness')).status !== 'UP') await sleep(50);
    expect(await write()).toBe(201);
    const listed = await fetch(`${baseUrl}/admin/realms/master/users?limit=1000&q=full-`, { headers });
    const there = (JSON.parse(await listed.text()) as { username: string }[]).map(({ username }) => username);
    expect(there).toEqual(expect.arrayContaining(acknowledged));
  });
}
