// A backup is the database and the master key: put together again they are the same server, with another key nothing is.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres } from '../../server/db/embedded.ts';
import { startServer } from '../../server/start.ts';
import { testFolder } from '../support/cluster.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const SECRET = 'svc_cs_operator-of-the-tests-0123456789abcdef';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-backup-'));
  // PostgreSQL's user has to get through it when root starts it
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server on the PostgreSQL in `dir`, for as long as `use` takes. */
async function on<T>(dir: string, masterKey: string, use: (address: string) => Promise<T>): Promise<T> {
  const postgres = await startPostgres({ dir: path.join(folder, dir), programs: await testFolder(), fast: true });
  try {
    const env = {
      DATABASE_URL: postgres.url,
      SVC_MASTER_KEY: masterKey,
      SVC_PORT: '0',
      SVC_BASE_URL: 'https://id.example.com',
      SVC_LOG_LEVEL: 'silent',
      SVC_OPERATOR_CLIENT_SECRET: SECRET,
    };
    const server = await startServer(env, () => {});
    try {
      return await use(server.address);
    } finally {
      await server.stop();
    }
  } finally {
    await postgres.stop();
  }
}
const keysOf = async (address: string) => (await fetch(`${address}/realms/master/oauth2/jwks`)).json();
async function token(address: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', resource: 'https://id.example.com/admin' });
  const authorization = `Basic ${Buffer.from(`operator:${SECRET}`).toString('base64')}`;
  const answer = await fetch(`${address}/realms/master/oauth2/token`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  return Object(await answer.json()).access_token;
}
const realms = async (address: string, bearer: string) =>
  (await fetch(`${address}/admin/realms`, { headers: { authorization: `Bearer ${bearer}` } })).status;

test('restored with its key a database signs with the same keys and honours tokens of before; without, nothing starts', async () => {
  const before = await on('running', key(1), async (address) => {
    const bearer = await token(address);
    expect(await realms(address, bearer)).toBe(200);
    return { keys: await keysOf(address), bearer };
  });
  // with the owners of the files, which a server that root starts gives to somebody else
  for (const copy of ['restored', 'robbed'])
    await promisify(execFile)('cp', ['-a', path.join(folder, 'running'), path.join(folder, copy)]);

  await on('restored', key(1), async (address) => {
    expect(await keysOf(address)).toEqual(before.keys);
    expect(await realms(address, before.bearer)).toBe(200);
    expect(await realms(address, await token(address))).toBe(200);
  });

  await expect(on('robbed', key(2), realmsOf)).rejects.toThrow(
    'sealed under a master key that is not in SVC_MASTER_KEY',
  );
  // a keyring that holds the old key, too, opens it
  await on('robbed', `${key(2)},${key(1)}`, async (address) => expect(await keysOf(address)).toEqual(before.keys));
});

const realmsOf = async (address: string) => realms(address, '');
