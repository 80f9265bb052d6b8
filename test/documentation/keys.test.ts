// The sample of docs/keys.md with SoftHSM, by its own commands: a server whose keys a PKCS#11 token wraps, from the first start, through the
// change from the environment, to a wrong PIN.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../server/db/sql.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { freePort } from '../support/free-port.ts';
import { prepareSoftHsm } from '../support/softhsm.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { block } = await docPage('keys.md');
const MASTER_KEY = Buffer.alloc(32, 5).toString('base64');
let folder: string;
let database: TestDatabase;
let custodian: string;

beforeAll(async () => {
  await prepareSoftHsm();
  folder = await mkdtemp(path.join(os.tmpdir(), 'softhsm-'));
  await runBlock(block('sh', 'softhsm2-util'), {}, folder);
  const [setting = ''] = block('sh', 'npm run server').split('\n');
  custodian = (await runBlock(`${setting}\nprintf %s "$SVC_KEY_CUSTODIAN"`, {}, folder)).trim();
  database = await createDatabase();
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const environment = (port: number, env: Record<string, string>) => ({
  PATH: process.env.PATH,
  DATABASE_URL: database.url,
  SVC_PORT: String(port),
  SVC_LOG_LEVEL: 'info',
  SVC_KEY_CUSTODIAN_WAIT_SECONDS: '0',
  SOFTHSM2_CONF: path.join(folder, 'softhsm2.conf'),
  ...env,
});

/** A server of this environment, while `use` runs. @returns what it said */
async function serve(
  env: Record<string, string>,
  use: (address: string) => Promise<void> = async () => {},
): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [path.join(root, 'server/main.ts')], {
    env: environment(port, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const listens = new Promise<boolean>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk;
        if (said.includes('listens on')) resolve(true);
      });
  });
  const ended = once(child, 'exit').then(() => false);
  if (await Promise.race([listens, ended])) {
    await use(`http://127.0.0.1:${port}`);
    child.kill('SIGTERM');
  }
  await ended;
  return said;
}
const jwks = async (address: string) => (await fetch(`${address}/realms/master/oauth2/jwks`)).json();

test('a server goes from the environment to a PKCS#11 token by the page’s commands, keeps its keys, and needs the token from then on', async () => {
  let before: unknown;
  await serve({ SVC_MASTER_KEY: MASTER_KEY }, async (address) => {
    before = await jwks(address);
  });
  const both = { SVC_MASTER_KEY: MASTER_KEY, SVC_KEY_CUSTODIAN: custodian };
  // The first step: the data key is there, and seals nothing yet.
  await serve(both, async (address) => expect(await jwks(address)).toEqual(before));
  const only = { SVC_KEY_CUSTODIAN: custodian };
  expect(await serve(only)).toContain('No key is at hand');
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(root, 'server/reseal/main.ts')], {
    env: environment(0, both),
  });
  expect(stdout).toContain('Nothing is left under an older key.');
  const said = await serve(only, async (address) => expect(await jwks(address)).toEqual(before));
  expect(said).not.toContain((await readFile(path.join(folder, 'pin'), 'utf8')).trim());
  expect(await serve({ SVC_MASTER_KEY: MASTER_KEY })).toContain(
    'sealed under a master key that is not in SVC_MASTER_KEY',
  );

  const pool = openPool(database.url, { max: 1 });
  const { rows } = await pool.query('select custodian, wrapped from data_key');
  await pool.end();
  expect(rows).toEqual([{ custodian: 'pkcs11:token=realmkeeper;object=master', wrapped: expect.any(Buffer) }]);

  const pin = await readFile(path.join(folder, 'pin'), 'utf8');
  await writeFile(path.join(folder, 'pin'), 'not the PIN');
  expect(await serve(only)).toContain('CKR_PIN_INCORRECT');
  await writeFile(path.join(folder, 'pin'), pin);
  expect(await serve({ SVC_KEY_CUSTODIAN: custodian.replace('object=master', 'object=other') })).toContain(
    'is wrapped by pkcs11:token=realmkeeper;object=master',
  );
});
