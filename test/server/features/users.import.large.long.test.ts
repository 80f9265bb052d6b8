// A hundred thousand rows by POST /users/import: what a row costs beside one of a thousand, and what memory they take.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UsersImported } from '../../../server/contract/user-import.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

function rowsOf(count: number): { body: ReadableStream<Uint8Array>; size: () => number } {
  let i = 0;
  let size = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      let text = '';
      for (; i < count && text.length < 65_536; i += 1) {
        const user = {
          username: `user-${i}`,
          email: `user-${i}@people.example`,
          roles: ['member'],
          groups: ['/all'],
          attributes: { note: ['x'.repeat(600)] },
        };
        text += `${JSON.stringify(user)}\n`;
      }
      if (text === '') return controller.close();
      const bytes = Buffer.from(text);
      size += bytes.length;
      controller.enqueue(bytes);
    },
  });
  return { body, size: () => size };
}

async function send(realm: string, count: number) {
  await admin.apply(realm, { roles: [{ name: 'member' }], groups: [{ path: '/all' }] });
  const { body, size } = rowsOf(count);
  const begun = performance.now();
  const answer = await admin.fetch(`/admin/realms/${realm}/users/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body,
    duplex: 'half',
  } as RequestInit);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const told = UsersImported.parse(JSON.parse(text));
  expect(told).toMatchObject({ created: count, failed: 0 });
  return { msPerRow: (performance.now() - begun) / count, size: size() };
}

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
function alive(): number {
  if (typeof collect === 'function') collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a row of 100,000 costs as one of 1,000, and they don’t stand in memory', { timeout: 1_800_000 }, async () => {
  const few: number[] = [];
  for (let i = 0; i < 3; i += 1) few.push((await send(`few-${i}`, 1000)).msPerRow);
  const before = alive();
  let most = before;
  // Each look collects all garbage and stops the server meanwhile: it is given nine times as long to work before the next one.
  let timer: NodeJS.Timeout;
  const look = () => {
    const begun = performance.now();
    most = Math.max(most, alive());
    timer = setTimeout(look, Math.max(200, 9 * (performance.now() - begun)));
  };
  look();
  const { msPerRow, size } = await send('many', 100_000).finally(() => clearTimeout(timer));
  expect(msPerRow / Math.min(...few)).toBeLessThan(2.5);
  expect(size).toBeGreaterThan(70_000_000);
  // What imports hold of bodies together, and what is told of each row.
  expect(most - before).toBeLessThan(100_000_000);
});
