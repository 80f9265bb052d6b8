// Data keys that a custodian wraps: from the first start on, through a custodian that is away, rotations, and what an attacker writes into
// the database. The custodian has the form of Vault (test/support/transit.ts).

import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealedColumns } from '../../../server/compose/sealed-columns.ts';
import { parseConfig } from '../../../server/config.ts';
import { getDiagnostics } from '../../../server/contract/diagnostics.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { type OpenKeyring, openKeyring } from '../../../server/custody/custody.ts';
import { AHEAD_MS } from '../../../server/custody/data-keys.ts';
import { rotationJob } from '../../../server/custody/rotation-job.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createReseal } from '../../../server/domain/reseal.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { makeClient, makeRealm, SECRET } from '../../support/clients.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';
import { startTransit, type Transit } from '../../support/transit.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(path.join(os.tmpdir(), 'data-keys-'));
let transit: Transit;
let database: TestDatabase;
let pool: ReturnType<typeof openPool>;
const started = Date.now();
let later = 0;
const now = () => new Date(started + later);
const lines: string[] = [];
const log = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
const opened: OpenKeyring[] = [];

async function open(env: Record<string, string> = {}, on = pool): Promise<OpenKeyring> {
  const config = parseConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1/nothing',
    SVC_KEY_CUSTODIAN: transit.uri,
    SVC_VAULT_TOKEN_FILE: path.join(folder, 'token'),
    SVC_KEY_CUSTODIAN_WAIT_SECONDS: '0',
    SVC_DATA_KEY_CACHE_SECONDS: '3600',
    ...env,
  });
  const keys = await openKeyring(config, { sql: sqlOver(on), log, now });
  opened.push(keys);
  return keys;
}

beforeAll(async () => {
  transit = await startTransit();
  await writeFile(path.join(folder, 'token'), `${transit.token}\n`);
  database = await createDatabase();
  pool = openPool(database.url, { max: 3 });
});
afterAll(async () => {
  for (const keys of opened) await keys.stop();
  await pool?.end();
  await database?.drop();
  await transit?.stop();
});

const tokenStatus = async (server: TestServer, realm: string) => {
  const authorization = `Basic ${Buffer.from(`job:${SECRET}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const answer = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/token`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
};

test('two servers that start at once have the same data key, and the database never holds it unwrapped', async () => {
  const [one, other] = await Promise.all([open(), open()]);
  const sealed = createSeal(one.masterKey).seal('secret', 'x');
  expect(createSeal(other.masterKey).open(sealed, 'x').toString()).toBe('secret');
  const { rows } = await pool.query('select * from data_key');
  expect(rows).toHaveLength(1);
  const [key] = 'current' in one.masterKey ? one.masterKey.current() : [];
  expect(rows[0].wrapped.toString('latin1')).not.toContain(key?.toString('latin1'));
  expect(rows[0].wrapped.toString()).toMatch(/^vault:v1:/);
});

test('a server serves on without the custodian, then answers 503 with Retry-After and still publishes its keys, and recovers', async () => {
  const keys = await open();
  const server = await startTestServer({
    masterKey: keys.masterKey,
    custody: keys.custody,
    now,
    jobs: false,
    env: { SVC_KEY_CUSTODIAN: transit.uri, SVC_VAULT_TOKEN_FILE: path.join(folder, 'token') },
  });
  try {
    await makeRealm(server, 'acme');
    await makeClient(server, 'acme', { clientId: 'job', secret: SECRET, grantTypes: ['client_credentials'] });
    await transit.become('away');
    later += 1_801_000;
    await expect(keys.custody?.refresh()).rejects.toThrow("can't be reached");
    expect((await tokenStatus(server, 'acme')).status).toBe(200);
    later += 1_800_000;
    expect(await tokenStatus(server, 'acme')).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
    expect((await fetch(`${server.baseUrl}/realms/acme/oauth2/jwks`)).status).toBe(200);
    const health: { components?: object } = Object(await (await fetch(`${server.baseUrl}/actuator/health`)).json());
    expect(health.components).toMatchObject({ keyCustodian: { status: 'DOWN' } });
    await transit.become('up');
    await keys.custody?.refresh();
    expect((await tokenStatus(server, 'acme')).status).toBe(200);
    const { call } = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
    const { body } = await call(getDiagnostics);
    expect(body?.checks.find(({ subject }) => subject === 'key-custodian')).toMatchObject({
      status: 'ok',
      message: `${transit.uri} wraps 1 data key`,
    });
  } finally {
    await server.stop();
  }
});

test('a start without the custodian waits, and ends with an error that names the variable and no secret', async () => {
  await transit.become('away');
  const failure = await open({ SVC_KEY_CUSTODIAN_WAIT_SECONDS: '2' }).catch((error: Error) => error.message);
  expect(failure).toContain(`SVC_KEY_CUSTODIAN: ${transit.uri} gives no data key`);
  await transit.become({ status: 503, errors: ['Vault is sealed'] });
  const waiting = open({ SVC_KEY_CUSTODIAN_WAIT_SECONDS: '30' });
  await expect.poll(() => lines.some((line) => line.includes('Vault is sealed'))).toBe(true);
  await transit.become('up');
  await waiting;
  await transit.become({ status: 403, errors: ['1 error occurred: permission denied'] });
  const before = transit.asked.length;
  await expect(open({ SVC_KEY_CUSTODIAN_WAIT_SECONDS: '30' })).rejects.toThrow('permission denied');
  // what is refused isn't tried again
  expect(transit.asked.length - before).toBe(1);
  await transit.become('up');
  expect([...lines, failure].join()).not.toContain(transit.token);
});

test('a key that another custodian wrapped, and one that was put in another’s place, are refused', async () => {
  const { rows } = await pool.query('select * from data_key');
  await pool.query("update data_key set custodian = 'hashivault://other.example.com/transit/x'");
  await expect(open()).rejects.toThrow('is wrapped by hashivault://other.example.com/transit/x');
  await pool.query('update data_key set custodian = $1, key_id = $2', [transit.uri, '00000000']);
  await expect(open()).rejects.toThrow('is another key');
  await pool.query('update data_key set key_id = $1', [rows[0].key_id]);
  await open();
});

test('by schedule a new key is added, seals once every server has it, and the older one goes when nothing is left under it', async () => {
  const keys = await open();
  const server = await startTestServer({ masterKey: keys.masterKey, custody: keys.custody, jobs: false });
  const sql = sqlOver(server.pool);
  const { custody } = keys;
  if (!custody) throw new Error('there is a custodian');
  try {
    await makeRealm(server, 'acme');
    const seal = createSeal(keys.masterKey);
    const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
    const transact = createTransact({ pool: server.pool, outbox, committed: () => {}, strict: true });
    const reseal = createReseal({ sql, transact, seal, columns: sealedColumns });
    const job = rotationJob({ custody, reseal, transact, days: 30 });
    const run = () => job.run({}, { signal: new AbortController().signal });
    const first = seal.newestKey.toString('hex');
    await run();
    expect(seal.newestKey.toString('hex')).toBe(first);
    later += 31 * DAY_MS;
    await custody.refresh();
    await run();
    // stored, and known to every server, but it doesn't seal yet
    expect(seal.newestKey.toString('hex')).toBe(first);
    later += AHEAD_MS + 60_000;
    const second = seal.newestKey.toString('hex');
    expect(second).not.toBe(first);
    const left = async () => (await reseal.left()).reduce((sum, { secrets }) => sum + secrets, 0);
    expect(await left()).toBeGreaterThan(1);
    await run();
    expect(await left()).toBe(0);
    expect(custody.status().keys).toBe(2);
    later += DAY_MS;
    await custody.refresh();
    await run();
    expect(custody.status().keys).toBe(1);
    expect((await fetch(`${server.baseUrl}/realms/acme/oauth2/jwks`)).status).toBe(200);
    const { body } = await server.admin.call(listEvents, {
      params: { realm: 'master' },
      query: { type: 'DATA_KEY_ROTATED' },
    });
    expect(body?.map(({ data }) => data)).toEqual([
      { custodian: transit.uri, dropped: 1 },
      { custodian: transit.uri, added: 1 },
    ]);
  } finally {
    await server.stop();
  }
});
