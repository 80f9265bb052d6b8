// `realmctl retry`, and lists by status, as people run them: against a real server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let server: TestServer;
let api: Importer;
const run = (...args: string[]): Promise<Ran> => realmctl(asOperator(server), args);

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  api = await importer(server);
  const url = 'https://hooks.invalid';
  await api.apply('acme', {
    webhooks: [
      { name: 'audit', url, eventTypes: 'LOGOUT', enabled: false },
      { name: 'other', url, eventTypes: 'LOGOUT', enabled: false },
    ],
  });
});
afterAll(() => server?.stop());

/** A delivery that was given up. */
async function dead(webhook: string): Promise<string> {
  const id = newId();
  await sqlOver(server.pool)`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, attempts, created_at)
    select realm_id, ${id}, id, ${newId()}, 'LOGOUT', '{}', 'dead', 10, now() from webhook
    where realm_id = 'acme' and name = ${webhook}`;
  return id;
}

test('deliveries of all webhooks are listed by status, and one is sent again', async () => {
  const [mine, others] = [await dead('audit'), await dead('other')];
  const ids = async (...more: string[]) => (await run('get', 'deliveries', ...more, '-r', 'acme', '-o', 'name')).stdout;
  expect((await ids('--status', 'dead')).split('\n').sort()).toEqual(['', mine, others].sort());
  expect(await ids('audit', '--status', 'dead')).toBe(`${mine}\n`);
  expect(await ids('--status', 'succeeded')).toBe('');
  expect((await run('get', 'deliveries', '--status', 'lost', '-r', 'acme')).code).not.toBe(0);
  const again = await run('retry', 'delivery', 'audit', mine, '-r', 'acme');
  expect(again).toMatchObject({ code: 0, stderr: 'LOGOUT is sent to audit again.\n' });
  const unknown = await run('retry', 'delivery', 'audit', others, '-r', 'acme');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('There is no such delivery');
});

test('an unknown message or logout is refused in words', async () => {
  const message = await run('retry', 'message', newId(), '-r', 'acme');
  expect(message.code).not.toBe(0);
  expect(message.stderr).toContain('There is no such message');
  const logout = await run('retry', 'logout', newId(), '-r', 'acme');
  expect(logout.stderr).toContain('There is no such logout');
});
