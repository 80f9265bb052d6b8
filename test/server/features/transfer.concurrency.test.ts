import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const webhook = { webhooks: [{ name: 'hook', url: 'https://a.example', eventTypes: '*' }] };
const managers = Array.from({ length: 8 }, (_, i) => `manager-${i}`);

/** What becomes of a document that everybody sends at once: the plan’s words, or the problem. */
const outcomes = (realm: string, document: (manager: string) => object) =>
  Promise.all(
    managers.map((manager) =>
      admin.apply(realm, document(manager), { manager }).then(
        (plan) => (plan.inSync ? 'in sync' : 'applied'),
        (error: Error) => /import: (\d+)/.exec(error.message)?.[1] ?? error.message,
      ),
    ),
  );

test('of many who claim one webhook in a realm that isn’t there yet, one makes it and the others are in conflict', async () => {
  const all = await outcomes('race', () => webhook);
  expect(all.filter((o) => o === 'applied')).toHaveLength(1);
  expect(all.filter((o) => o === '409')).toHaveLength(managers.length - 1);
});

test('many who declare different things at once all succeed', async () => {
  const all = await outcomes('many', (manager) => ({
    roles: [{ name: manager }],
    clients: [{ clientId: manager, secret: `secret-of-${manager}-0123456789` }],
    users: [{ username: manager, roles: [manager] }],
  }));
  expect(all).toEqual(managers.map(() => 'applied'));
  const { clients, users } = JSON.parse(await admin.download('many'));
  expect([clients.length, users.length]).toEqual([managers.length, managers.length]);
});

test('a realm that a person makes while documents are planned and applied to it is no conflict', async () => {
  const document = { roles: [{ name: 'reader' }] };
  for (let round = 0; round < 8; round += 1) {
    const realm = `meanwhile-${round}`;
    const [made, planned, applied, guarded] = await Promise.allSettled([
      server.admin.call(createRealm, { body: { realm } }),
      admin.apply(realm, document, { manager: 'a', dryRun: 'true' }),
      admin.apply(realm, document, { manager: 'a' }),
      admin.apply(realm, document, { manager: 'a' }, { 'if-match': '"0"' }),
    ]);
    expect([planned.status, applied.status]).toEqual(['fulfilled', 'fulfilled']);
    if (guarded.status === 'rejected') expect(guarded.reason.message).toContain('412');
    if (made.status === 'rejected') expect(made.reason).toMatchObject({ status: 409 });
  }
});

test('of many who send the same plan’s revision, one applies and the others must plan again', async () => {
  const { revision } = await admin.apply('match', webhook, { manager: 'a' });
  const tries = managers.map((_, i) => {
    const changed = { webhooks: [{ ...webhook.webhooks[0], url: `https://${i}.example` }] };
    return admin.apply('match', changed, { manager: 'a' }, { 'if-match': `"${revision}"` }).then(
      () => 'applied',
      (error: Error) => /import: (\d+)/.exec(error.message)?.[1],
    );
  });
  const all = await Promise.all(tries);
  expect(all.filter((o) => o === 'applied')).toHaveLength(1);
  expect(all.filter((o) => o === '412')).toHaveLength(managers.length - 1);
});

test('writes through the admin API meanwhile are neither lost nor overwritten where the document doesn’t declare them', async () => {
  await admin.apply('mixed', { realm: { maxLoginFailures: 3 } }, { manager: 'a' });
  const put = (body: object) =>
    admin.fetch('/admin/realms/mixed/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const writes = Array.from({ length: 6 }, (_, i) => [
    put({ lockoutDurationSeconds: 100 + i }),
    admin.apply('mixed', { realm: { maxLoginFailures: 10 + i } }, { manager: 'a' }),
  ]).flat();
  await Promise.all(writes);
  await put({ lockoutDurationSeconds: 777 });
  await admin.apply('mixed', { realm: { maxLoginFailures: 9 } }, { manager: 'a' });
  expect(JSON.parse(await admin.download('mixed')).realm).toMatchObject({
    lockoutDurationSeconds: 777,
    maxLoginFailures: 9,
  });
});

test('the revision rises by one with each import that changes configuration, and not otherwise', async () => {
  const first = await admin.apply('steps', webhook, { manager: 'a' });
  const second = await admin.apply('steps', { roles: [{ name: 'r' }] }, { manager: 'a' });
  expect(second.revision).toBe(first.revision + 1);
  expect((await admin.apply('steps', { roles: [{ name: 'r' }] }, { manager: 'a' })).revision).toBe(second.revision);
  const tag = (await admin.fetch('/admin/realms/steps/export?users=false')).headers.get('etag');
  expect(tag).toBe(`"${second.revision}"`);
});
