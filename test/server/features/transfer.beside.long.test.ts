// Imports beside each other: none plans its statements by another's users, which once made one of them run for ever.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

const people = (count: number, ties: boolean) => ({
  roles: [{ name: 'member' }],
  groups: [{ path: '/all' }],
  users: Array.from({ length: count }, (_, i) => ({
    username: `user-${i}`,
    email: `user-${i}@people.example`,
    ...(ties && { roles: ['member'], groups: ['/all'] }),
  })),
});

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  // users of a realm that has somebody are staged and compared
  for (const realm of ['alone', 'first', 'second', 'third']) await admin.apply(realm, people(10_000, true));
  await admin.apply('small', { ...people(0, false), users: [] });
});
afterAll(() => server?.stop());

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}

let alone: number;
test('one alone is done in seconds', async () => {
  alone = await seconds(() => admin.apply('alone', people(30_000, true)));
  expect(alone).toBeLessThan(60);
});

test.each([
  ['first', 'small', false],
  ['second', 'alone', true],
])('it is done beside dry runs of three, and so are they (%s, %s)', async (large, small, ties) => {
  let over = false;
  const applied = seconds(() => admin.apply(large, people(30_000, true))).finally(() => {
    over = true;
  });
  const dry: number[] = [];
  while (!over) dry.push(await seconds(() => admin.apply(small, people(3, ties), { dryRun: 'true' })));
  expect(await applied).toBeLessThan(4 * alone + 10);
  expect(Math.max(...dry)).toBeLessThan(alone + 10);
});

test('two large ones take about twice as long as one', async () => {
  const both = await seconds(() =>
    Promise.all(['first', 'third'].map((realm) => admin.apply(realm, people(30_000, true), { dryRun: 'true' }))),
  );
  expect(both).toBeLessThan(4 * alone + 10);
});
