// The server's own PostgreSQL is killed under it while it serves: it is away for a moment, and nothing acknowledged is lost.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../../server/start.ts';
import { freePort } from '../../support/free-port.ts';

const SECRET = 'operator-secret-of-this-test';
const said: string[] = [];
let dir: string;
let server: RunningServer;
let baseUrl: string;
beforeAll(async () => {
  dir = await fs.mkdtemp(path.join(os.tmpdir(), 'realmkeeper-kept-'));
  await fs.chmod(dir, 0o755);
  const port = await freePort();
  const env = { SVC_DATA_DIR: dir, SVC_PORT: `${port}`, SVC_LOG_LEVEL: 'silent', SVC_OPERATOR_CLIENT_SECRET: SECRET };
  server = await startServer(env, (line) => said.push(line));
  baseUrl = server.address;
});
afterAll(async () => {
  await server?.stop();
  await fs.rm(dir, { recursive: true, force: true });
});

async function bearer(): Promise<string> {
  const response = await fetch(`${baseUrl}/realms/master/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`operator:${SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${server.config.baseUrl}/admin` }),
  });
  const { access_token }: { access_token: string } = JSON.parse(await response.text());
  return `Bearer ${access_token}`;
}
const status = async (address: string) => (await fetch(`${baseUrl}${address}`)).status;
const postmaster = async () =>
  Number.parseInt(await fs.readFile(path.join(dir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10);

test('it is started again, requests are told to come back meanwhile, and every acknowledged write is there', async () => {
  const authorization = await bearer();
  const headers = { authorization, 'content-type': 'application/json' };
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
