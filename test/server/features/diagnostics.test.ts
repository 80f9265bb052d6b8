import { rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Check, type CheckSubject, Diagnostics, getDiagnostics } from '../../../server/contract/diagnostics.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { administrator } from '../../support/administrators.ts';
import { ADMIN_PASSWORD, MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let api: Importer;

beforeAll(async () => {
  server = await startTestServer();
  api = await importer(server);
});
afterAll(() => server?.stop());

async function diagnose(by: Importer, headers: Record<string, string> = {}): Promise<Diagnostics> {
  const answer = await by.fetch('/admin/diagnostics', { headers });
  expect(answer.status).toBe(200);
  return Diagnostics.parse(await answer.json());
}
const of = ({ checks }: Diagnostics, subject: CheckSubject): Check[] => checks.filter((one) => one.subject === subject);

/** What another replica finds. Each replica keeps its results for five seconds, so every test has one of its own. */
async function found(
  subject: CheckSubject,
  options: Omit<NonNullable<Parameters<typeof startTestServer>[0]>, 'beside'> = {},
  headers: Record<string, string> = {},
): Promise<Check[]> {
  const replica = await startTestServer({ jobs: false, ...options, beside: server });
  try {
    return of(await diagnose(await importer(replica), headers), subject);
  } finally {
    await replica.stop();
  }
}

test('a new installation has every check, none fails, and what needs attention says what to do', async () => {
  const report = await diagnose(api);
  expect(report.checks.filter(({ status }) => status === 'failure')).toEqual([]);
  expect(report.checks.filter(({ message }) => message.includes('could not be made'))).toEqual([]);
  expect(report.checks.filter(({ status, advice }) => status === 'warning' && advice === null)).toEqual([]);
  const wanted = [
    'database-version',
    'database-schema',
    'database-extensions',
    'clock',
    'jobs',
    'health',
    'master-key',
  ];
  const statuses = new Map(report.checks.map(({ subject, status }) => [String(subject), status]));
  expect(wanted.map((subject) => statuses.get(subject))).toEqual(wanted.map(() => 'ok'));
  expect(of(report, 'mail')).toMatchObject([
    { status: 'warning', message: expect.stringContaining('master sends no mail') },
  ]);
});

test('settings are shown without addresses and secrets', async () => {
  const { configuration } = await diagnose(api);
  expect(configuration).toMatchObject({ SVC_DATABASE_POOL: 10, DATABASE_URL: '(set)', SVC_MASTER_KEY: '(set)' });
  const text = JSON.stringify(configuration);
  expect([text.includes('postgres://'), text.includes(ADMIN_PASSWORD)]).toEqual([false, false]);
});

test('it needs realm:read over every realm', async () => {
  await api.apply('acme', {});
  expect((await fetch(`${server.baseUrl}/admin/diagnostics`)).status).toBe(401);
  const limited = await administrator(server, { target: 'acme', permissions: ['realm:read'] });
  await expect(limited.call(getDiagnostics)).rejects.toMatchObject({ status: 403 });
  const whole = await administrator(server, { target: '*', permissions: ['realm:read'] });
  expect((await whole.call(getDiagnostics)).body?.version).toBeTypeOf('string');
});

test('a proxy that is not believed is named, and a believed one is fine', async () => {
  const header = { 'x-forwarded-for': '203.0.113.9' };
  expect(of(await diagnose(api, header), 'proxies')).toMatchObject([
    {
      status: 'warning',
      message: expect.stringContaining('127.0.0.1'),
      advice: expect.stringContaining('SVC_TRUST_PROXY=127.0.0.1'),
    },
  ]);
  expect(await found('proxies', { env: { SVC_TRUST_PROXY: '127.0.0.1' } }, header)).toMatchObject([{ status: 'ok' }]);
});

test('a clock that goes wrong is told with its distance', async () => {
  const now = () => new Date(Date.now() + 20_000);
  const [check] = await found('clock', { now });
  expect(check).toMatchObject({ status: 'warning', message: expect.stringMatching(/(19|20)\.\d seconds apart/) });
});

test('a base address on loopback is a failure in production', async () => {
  const [check] = await found('base-address', { env: { NODE_ENV: 'production' } });
  expect(check).toMatchObject({ status: 'failure', advice: expect.stringContaining('SVC_BASE_URL') });
});

test('secrets of an older master key, and a certificate that ended, are found', async () => {
  const [older] = await found('master-key', { masterKey: [Buffer.alloc(32, 9), MASTER_KEY] });
  expect(older).toMatchObject({ status: 'warning', advice: expect.stringContaining('npm run reseal') });
  expect(older?.details).toContainEqual(expect.stringMatching(/^realm_key\.private_key: \d/));
});

test('the schema of a later release, and a check that can’t be made, hide no other result', async () => {
  const sql = sqlOver(server.pool);
  await sql`insert into schema_migration (number, name, checksum) values (9999, '9999_later.sql', 'x')`;
  await sql`alter table scim_target_state rename to scim_target_state_away`;
  try {
    const [schema] = await found('database-schema');
    expect(schema).toMatchObject({ status: 'warning', details: ['9999_later.sql'] });
    expect(await found('provisioning')).toMatchObject([{ status: 'skipped', message: expect.stringContaining('log') }]);
  } finally {
    await sql`alter table scim_target_state_away rename to scim_target_state`;
    await sql`delete from schema_migration where number = 9999`;
  }
});

test('deliveries that were given up, late jobs and a failed synchronization are named', async () => {
  const sql = sqlOver(server.pool);
  await api.apply('globex', {
    webhooks: [{ name: 'audit', url: 'https://hooks.invalid', eventTypes: 'LOGOUT', enabled: false }],
  });
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, attempts, created_at)
    select realm_id, ${newId()}, id, ${newId()}, 'LOGOUT', '{}', 'dead', 10, now() from webhook where realm_id = 'globex'`;
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, attempts, created_at)
    select realm_id, ${newId()}, id, ${newId()}, 'LOGOUT', '{}', 'retrying', 3, now() - interval '2 hours' from webhook where realm_id = 'globex'`;
  await sql`
    insert into message (realm_id, id, channel, template_key, recipient, status, expires_at, created_at)
    values ('globex', ${newId()}, 'EMAIL', 'magic-link', 'ana@example.com', 'dead', now(), now())`;
  const directory = newId();
  await sql`
    insert into directory (realm_id, id, alias, type, enabled, mode, connection, users, schedule, page_size, removed)
    values ('globex', ${directory}, 'office', 'ldap', true, 'readOnly', '{}', '{}', 0, 100, 'keep')`;
  await sql`
    insert into directory_sync (realm_id, id, directory_id, kind, state, created_at, error)
    values ('globex', ${newId()}, ${directory}, 'full', 'failed', now(), 'ana@example.com could not bind')`;
  const replica = await startTestServer({ beside: server, jobs: false });
  try {
    const report = await diagnose(await importer(replica));
    expect(of(report, 'webhooks')).toMatchObject([
      { status: 'warning', details: ['globex/audit: 1 of 2'] },
      { status: 'warning', message: expect.stringContaining('2 hours') },
    ]);
    expect(of(report, 'messages')).toMatchObject([{ status: 'warning', details: ['globex (EMAIL): 1 of 1'] }]);
    expect(of(report, 'directories')).toMatchObject([{ status: 'warning', details: ['globex/office'] }]);
    expect(JSON.stringify(report)).not.toContain('ana@example.com');
  } finally {
    await replica.stop();
  }
});

test('what ends within 30 days in any realm is named with its realm', async () => {
  const sql = sqlOver(server.pool);
  await api.apply('initech', { clients: [{ clientId: 'billing', grantTypes: ['client_credentials'] }] });
  await sql`
    update client set previous_secret_expires_at = now() + interval '3 days' where realm_id = 'initech' and client_id = 'billing'`;
  const [check] = await found('expiring');
  expect(check).toMatchObject({
    status: 'warning',
    details: [expect.stringMatching(/^initech: The former secret of the client billing.*: ends \d{4}-\d\d-\d\d$/)],
  });
});

/** CN=ca.example, valid until the end of November 2036. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUFucY2SjhR9Mz+6EXMp01vKnC+lwwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKY2EuZXhhbXBsZTAeFw0yNjExMjcxMzQ0NDRaFw0zNjExMjQx
MzQ0NDRaMBUxEzARBgNVBAMMCmNhLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARfh7L4pPEtalMx4zWq3WAYxbz9itSTuluAXMRLERbOJff03Mu2PyTs
zAYQciG5WJYPYGjg3q7bHzxuS85IftuGo1MwUTAdBgNVHQ4EFgQUM7epc3vdjKbv
epsPXQrAhFL8Kp8wHwYDVR0jBBgwFoAUM7epc3vdjKbvepsPXQrAhFL8Kp8wDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAn0vSRvD0tl1Eb/RYkzqHd
3HsBtiK2wHQgh/dtEDm97AIhAM4ioYVw7gphLv//dcR8ZPEjk0bZFRgbXf5ezur5
W9tu
-----END CERTIFICATE-----`;

test('a certificate file that ended is a failure, one that ends soon a warning, one that can’t be read is told of', async () => {
  const file = path.join(os.tmpdir(), `${newId()}.pem`);
  await writeFile(file, `${CERTIFICATE}\n`);
  const on = (day: string) =>
    found('server-certificates', { now: () => new Date(day), env: { SVC_CLUSTER_CA_FILE: file } });
  try {
    expect(await on('2037-01-01')).toMatchObject([
      { status: 'failure', message: expect.stringMatching(/^1 certificate in .* ended$/) },
    ]);
    expect(await on('2036-11-10')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('ends within 30 days') },
    ]);
    expect(await on('2030-01-01')).toMatchObject([{ status: 'ok' }]);
    await writeFile(file, '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n');
    expect(await on('2030-01-01')).toMatchObject([{ status: 'skipped' }]);
  } finally {
    await rm(file, { force: true });
  }
});
