// A realm's backup as an operator makes it, and its restore: into another installation with another master key, under its own name and
// under another, and of files that were changed, cut off, or are for another key.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRealm } from '../../server/backup/read.ts';
import { createRowSecrets } from '../../server/backup/secrets.ts';
import { sealedColumns } from '../../server/compose/sealed-columns.ts';
import { listEvents } from '../../server/contract/events.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { makeClient, post, SECRET } from '../support/clients.ts';
import { oneOfEach } from '../support/one-of-each.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';

const OTHER_KEY = Buffer.alloc(32, 9);
const REALM = 'acme';
const main = path.resolve(import.meta.dirname, '../../server/backup/main.ts');
let from: TestServer;
let to: TestServer;
let folder: string;
let identity: string;
let file: string;

async function backup(server: Pick<TestServer, 'databaseUrl'>, key: Buffer, ...args: string[]) {
  const env = { ...process.env, DATABASE_URL: server.databaseUrl, SVC_MASTER_KEY: key.toString('base64') };
  return promisify(execFile)(process.execPath, [main, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
const restore = (...args: string[]) => backup(to, OTHER_KEY, 'restore', ...args);

/** All that a backup holds of the realm, with its secrets opened, and under one name. */
async function contentOf(server: TestServer, key: Buffer, realm: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    const secrets = createRowSecrets(createSeal([key]), sealedColumns);
    const choice = { sessions: true, history: false };
    const lines: string[] = [];
    for await (const line of readRealm(client, realm, { choice, secrets, at: new Date(0) })) {
      const value = JSON.parse(line);
      if (value.row === undefined) continue;
      value.row.realm_id = REALM;
      if (value.row.target_realm === realm) value.row.target_realm = REALM;
      // a digest under the installation's own key, of a token that is compared itself; and the number of the last change
      for (const own of ['token_digest', 'revision'])
        if (value.table === 'push_token' || value.table === 'realm') delete value.row[own];
      lines.push(JSON.stringify(value));
    }
    return lines.sort();
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'backup-realm-'));
  from = await startTestServer();
  to = await startTestServer({ masterKey: [OTHER_KEY] });
  await oneOfEach(from, REALM);
  await makeClient(from, REALM, { clientId: 'nightly', secret: SECRET, grantTypes: ['client_credentials'] });
  const secret = await generateIdentity();
  identity = path.join(folder, 'key.txt');
  await writeFile(identity, `# a comment\n${secret}\n`);
  file = path.join(folder, 'acme.age');
  const saved = await backup(
    from,
    MASTER_KEY,
    'save',
    REALM,
    '--recipient',
    await identityToRecipient(secret),
    '-o',
    file,
  );
  expect(saved).toMatchObject({ code: 0, stderr: '' });
});
afterAll(async () => {
  await from?.stop();
  await to?.stop();
  await rm(folder, { recursive: true, force: true });
});

const tokenOf = (at: TestServer, realm: string) =>
  post(at, realm, 'token', { grant_type: 'client_credentials', client_id: 'nightly', client_secret: SECRET });
const jwks = async (at: TestServer, realm: string) => (await fetch(`${at.baseUrl}/realms/${realm}/oauth2/jwks`)).json();

test('the file is age’s, for its owner alone, and tells nothing; the audit log names who can read it', async () => {
  const bytes = await readFile(file);
  expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
  expect(bytes.includes(REALM) || bytes.includes('alice')).toBe(false);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { body } = await from.admin.call(listEvents, { params: { realm: REALM }, query: { type: 'REALM_BACKED_UP' } });
  expect(body?.[0]?.data).toMatchObject({
    recipients: [expect.stringMatching(/^age1/)],
    sessions: true,
    history: true,
  });
});

test('a database of several hosts is read at the host that takes writes', async () => {
  const databaseUrl = from.databaseUrl.replace(/@([^/]+)/, '@127.0.0.1:1,$1');
  const recipient = await identityToRecipient(await generateIdentity());
  const args = ['save', REALM, '--recipient', recipient, '-o', path.join(folder, 'several.age')];
  expect(await backup({ databaseUrl }, MASTER_KEY, ...args)).toMatchObject({ code: 0, stderr: '' });
});

test('in another installation, with another master key, the realm is the same: rows, secrets, signing keys, its clients’ secrets', async () => {
  const done = await restore(file, '--identity', identity);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Restored the realm acme: \d+ rows/) });
  const content = await contentOf(to, OTHER_KEY, REALM);
  expect(content.length).toBeGreaterThan(100);
  expect(content).toEqual(await contentOf(from, MASTER_KEY, REALM));
  expect(await jwks(to, REALM)).toEqual(await jwks(from, REALM));
  expect((await tokenOf(to, REALM)).status).toBe(200);
  const { body } = await to.admin.call(listEvents, { params: { realm: REALM }, query: { type: 'REALM_RESTORED' } });
  expect(body?.[0]?.data).toMatchObject({ from: REALM });
});

test('a realm that is there is never written over; under another name it is restored beside it', async () => {
  expect(await restore(file, '--identity', identity)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is a realm acme'),
  });
  expect(await restore(file, '--identity', identity, '--as', 'acme-two')).toMatchObject({ code: 0 });
  expect(await contentOf(to, OTHER_KEY, 'acme-two')).toEqual(await contentOf(from, MASTER_KEY, REALM));
  expect((await tokenOf(to, 'acme-two')).status).toBe(200);
});

const header = (more: object) => ({
  form: 'realmkeeper-realm-backup',
  realm: 'made-up',
  schema: 0,
  createdAt: 'x',
  sessions: true,
  history: true,
  ...more,
});

/** A file for the same key, of these lines. */
async function forged(lines: readonly object[]): Promise<string> {
  const encrypter = new Encrypter();
  const [secret = ''] = (await readFile(identity, 'utf8')).split('\n').filter((line) => line.startsWith('AGE-'));
  encrypter.addRecipient(await identityToRecipient(secret));
  const name = path.join(folder, 'forged.age');
  await writeFile(name, await encrypter.encrypt(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  return name;
}

test('a file that was changed, cut off, or is for another key, of another schema or of foreign tables changes nothing', async () => {
  const bytes = await readFile(file);
  const broken = path.join(folder, 'broken.age');
  const refused = async (name: string, key = identity) => {
    const done = await restore(name, '--identity', key, '--as', 'refused');
    expect(done.code, done.stderr).toBe(1);
    expect(done.stderr).toMatch(/^Nothing was done: /);
    return done.stderr;
  };
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(bytes.length - 40_000) ^ 1, bytes.length - 40_000);
  await writeFile(broken, changed);
  await refused(broken);
  for (const length of [bytes.length - 1, bytes.length - 70_000, 100]) {
    await writeFile(broken, bytes.subarray(0, length));
    await refused(broken);
  }
  const stranger = path.join(folder, 'stranger.txt');
  await writeFile(stranger, await generateIdentity());
  await refused(file, stranger);
  const { rows } = await to.pool.query('select max(number)::int as schema from schema_migration');
  const { schema } = rows[0];
  expect(await refused(await forged([header({})]))).toContain('restore it by the release that made it');
  expect(await refused(await forged([header({ schema })]))).toContain('not whole');
  expect(await refused(await forged([header({ schema, realm: 'master' })]))).toContain('restore the database instead');
  const row = { realm_id: 'made-up' };
  for (const line of [
    { table: 'schema_migration', row },
    { table: 'admin_session', row },
    { table: 'role', row: { realm_id: 'master' } },
    { table: 'role', row: { ...row, 'name") values (1); --': 'x' } },
  ])
    expect(await refused(await forged([header({ schema }), line, { end: {} }]))).toContain('not a backup of a realm');
  expect((await to.pool.query("select from realm where realm_id in ('refused', 'made-up')")).rows).toEqual([]);
});

test('wrong arguments make nothing', async () => {
  const wrong = [
    [],
    ['save', REALM],
    ['save', REALM, '-o', 'x'],
    ['restore', file],
    ['save', 'Not A Name', '-o', 'x', '--recipient', 'x'],
  ];
  for (const args of wrong) expect((await backup(from, MASTER_KEY, ...args)).code).toBe(2);
  const bad = await backup(
    from,
    MASTER_KEY,
    'save',
    REALM,
    '--recipient',
    'age1nothing',
    '-o',
    path.join(folder, 'none.age'),
  );
  expect(bad.code).toBe(1);
  await expect(stat(path.join(folder, 'none.age'))).rejects.toThrow();
});
