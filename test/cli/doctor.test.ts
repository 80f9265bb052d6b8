// `realmctl doctor` and `realmctl support-bundle`, as administrators run them: against a real server.
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseTarGzip } from 'nanotar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';
import { importer } from '../support/transfer.ts';

let server: TestServer;
let dir: string;
const run = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
  realmctl({ ...asOperator(server), ...env }, args);

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  dir = await mkdtemp(path.join(os.tmpdir(), 'doctor-'));
  const api = await importer(server);
  await api.apply('secret-customer', {
    clients: [{ clientId: 'web', grantTypes: ['client_credentials'] }],
    webhooks: [{ name: 'audit', url: 'https://user.example.com/hook?key=abc', eventTypes: 'LOGOUT', enabled: false }],
  });
  await sqlOver(server.pool)`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, attempts, created_at)
    select realm_id, ${newId()}, id, ${newId()}, 'LOGOUT', '{}', 'dead', 10, now() from webhook where realm_id = 'secret-customer'`;
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

test('doctor prints each check with its advice, and ends with 0 where none fails', async () => {
  const { code, stdout, stderr } = await run(['doctor']);
  expect(stdout).toMatch(/^✓ version: The server is /m);
  expect(stdout).toMatch(/^✓ database-version: PostgreSQL \d+/m);
  expect(stdout).toMatch(/^– certificate: .* it is not https$/m);
  expect(stdout).toMatch(/^! webhooks: .*\n {4}secret-customer\/audit: 1 of 1\n {2}→ realmctl get deliveries/m);
  expect(stderr).toMatch(/^0 failures, \d+ warnings?\.\n$/);
  expect(code).toBe(0);
});

test('a warning ends doctor with 1 under --strict, and as JSON it has the same checks', async () => {
  expect((await run(['doctor', '--strict'])).code).toBe(1);
  const { code, stdout } = await run(['doctor', '-o', 'json']);
  expect(code).toBe(0);
  const { checks } = JSON.parse(stdout);
  expect(checks).toContainEqual(expect.objectContaining({ subject: 'webhooks', status: 'warning' }));
});

test('without the rights over every realm, doctor is refused by name of the permission', async () => {
  const { code, stderr } = await realmctl({ ...asOperator(server), REALMCTL_CLIENT_ID: 'nobody' }, ['doctor']);
  expect([code, stderr]).not.toEqual([0, '']);
});

/** What kubectl would print, by the resource that it is asked for. */
async function kubectl(answers: Record<string, unknown>): Promise<Record<string, string>> {
  const cases = await Promise.all(
    Object.entries(answers).map(async ([resource, answer]) => {
      const file = path.join(dir, `${newId()}.json`);
      await writeFile(file, JSON.stringify(answer));
      return `${resource}*) cat ${file};;`;
    }),
  );
  const file = path.join(dir, 'kubectl');
  await writeFile(file, `#!/bin/sh\ncase "$2" in\n${cases.join('\n')}\nesac\n`);
  await chmod(file, 0o755);
  return { PATH: `${dir}:${process.env.PATH}` };
}
const kinds = ['realms', 'flows', 'webhooks', 'workloadidentities'];
const crds = (names: readonly string[], group: string) => ({
  items: names.map((name) => ({
    metadata: { name: `${name}.${group}` },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  })),
});

test('with --cluster, doctor names kinds that are missing, an operator that is away and resources that wait', async () => {
  const { GROUP } = await import('../../server/contract/resources/custom-resource.ts');
  const fewer = await run(['doctor', '--cluster'], await kubectl({ crds: crds(kinds.slice(1), GROUP) }));
  expect(fewer.stdout).toContain(
    `✗ custom-resources: Not all kinds are installed\n    realms.${GROUP}\n  → Install them: realmctl crds`,
  );
  expect(fewer.code).toBe(1);

  const metadata = { name: 'here', namespace: 'identity', generation: 2 };
  const waiting = { kind: 'Realm', metadata, spec: { realm: 'secret-customer' } };
  const lease = (renewTime: Date) => ({
    items: [
      {
        metadata: { name: 'realmkeeper-operator', namespace: 'identity' },
        spec: { holderIdentity: 'pod-1', renewTime },
      },
    ],
  });
  const all = { crds: crds(kinds, GROUP), realms: { items: [waiting] } };
  const stopped = await run(
    ['doctor', '--cluster'],
    await kubectl({ ...all, leases: lease(new Date(Date.now() - 600_000)) }),
  );
  expect(stopped.stdout).toContain('✗ operator: No operator leads');
  expect(stopped.stdout).toContain(
    '! resources: 1 of 1 resources are not in order\n    Realm identity/here: NotSeen: ',
  );
  const leading = await run(['doctor', '--cluster'], await kubectl({ ...all, leases: lease(new Date()) }));
  expect(leading.stdout).toContain('✓ operator: An operator leads\n    identity/realmkeeper-operator: pod-1');
});

test('a support bundle holds the report without realms’ names, addresses and secrets, for its owner alone', async () => {
  const file = path.join(dir, 'bundle.tar.gz');
  const ran = await run(['support-bundle', '-f', file]);
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('Look through it before you send it') });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const entries = await parseTarGzip(await readFile(file));
  const texts = new Map(entries.map(({ name, text }) => [name.replace('support/', ''), text]));
  expect([...texts.keys()]).toEqual([
    'README.txt',
    'checks.json',
    'health.json',
    'metrics.txt',
    'sums.json',
    'audit.json',
  ]);
  const whole = [...texts.values()].join('\n');
  for (const secret of ['secret-customer', 'user.example.com', 'key=abc', MASTER_KEY.toString('base64'), 'postgres://'])
    expect([secret, whole.includes(secret)]).toEqual([secret, false]);
  expect(texts.get('checks.json')).toMatch(/"realm-\d+\/audit: 1 of 1"/);
  expect(texts.get('metrics.txt')).toContain('svc_login_total{realm="master"');
  expect(JSON.parse(texts.get('health.json') ?? '')).toMatchObject({ status: 'UP' });
});

test('what can’t be had is left out by name, and names of realms stay on request', async () => {
  const file = path.join(dir, 'named.tar.gz');
  const env = await kubectl({ crds: { items: 'nonsense' } });
  const ran = await run(['support-bundle', '-f', file, '--cluster', '--realm-names'], env);
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('Left out cluster.json: ') });
  const entries = await parseTarGzip(await readFile(file));
  const text = (name: string) => entries.find((one) => one.name === `support/${name}`)?.text ?? '';
  expect(text('README.txt')).toMatch(/Left out:\n {2}cluster\.json: /);
  expect(text('checks.json')).toContain('secret-customer/audit: 1 of 1');
});
