import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const CLIENTS = 2000;
const USERS = 50_000;

function* pieces(): Generator<string> {
  const clients = Array.from({ length: CLIENTS }, (_, i) => ({
    clientId: `client-${i}`,
    name: `Client ${i}`,
    redirectUris: [`https://client-${i}.example/callback`],
    secret: `a-secret-of-client-${i}-0123456789`,
  }));
  yield `{"roles":[{"name":"member"}],"groups":[{"path":"/all"}],"clients":${JSON.stringify(clients)},"users":[`;
  for (let i = 0; i < USERS; i += 1) {
    const user = {
      username: `user-${String(i).padStart(6, '0')}`,
      email: `user-${i}@people.example`,
      firstName: `First ${i}`,
      lastName: `Last ${i}`,
      roles: ['member'],
      groups: ['/all'],
      attributes: { department: [`d${i % 50}`], note: ['x'.repeat(100)] },
    };
    yield `${i > 0 ? ',' : ''}${JSON.stringify(user)}`;
  }
  yield ']}';
}

/** Sent as it is made, so that the test holds it no more than the server does. */
function stream(): { body: ReadableStream<Uint8Array>; size: () => number } {
  const source = pieces();
  let size = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      let text = '';
      for (;;) {
        const { value, done } = source.next();
        if (done) {
          if (text !== '') controller.enqueue(Buffer.from(text));
          controller.close();
          return;
        }
        text += value;
        if (text.length < 65_536) continue;
        const bytes = Buffer.from(text);
        size += bytes.length;
        controller.enqueue(bytes);
        return;
      }
    },
  });
  return { body, size: () => size };
}

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** The most that is alive at once meanwhile, heap and buffers: looked at right after collecting what isn't. */
async function growth(work: () => Promise<void>): Promise<number> {
  const use = () => {
    if (typeof collect === 'function') collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = use();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, use());
  }, 500);
  await work();
  clearInterval(timer);
  return most - before;
}

test('2,000 clients and 50,000 users go in and out with flat memory, and the event loop stays free', async () => {
  const { body, size } = stream();
  // by what this thread has worked: how long others kept it waiting says nothing of it
  const worked = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let longest = 0;
  const began = worked();
  let last = began;
  const watch = setInterval(() => {
    longest = Math.max(longest, worked() - last);
    last = worked();
  }, 5);
  const imported = await growth(async () => {
    const response = await admin.fetch('/admin/realms/big/import', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      ...{ duplex: 'half' },
    });
    expect(response.status).toBe(200);
    let bytes = 0;
    let tail = '';
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      tail = Buffer.from(chunk).toString().slice(-200);
    }
    expect(bytes).toBeGreaterThan(USERS * 50);
    expect(tail).toMatch(/\]\}$/);
  });
  const exported = await growth(async () => {
    const response = await admin.fetch('/admin/realms/big/export');
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(size());
  });
  clearInterval(watch);
  const took = worked() - began;
  console.info(
    `document ${(size() / 2 ** 20).toFixed(1)} MiB; growth: import ${(imported / size()).toFixed(2)}, export ${(exported / size()).toFixed(2)} of it; longest turn ${longest.toFixed(0)} ms of ${took.toFixed(0)}`,
  );
  expect(longest).toBeLessThan(took / 5);
  expect(imported / size()).toBeLessThan(4);
  expect(exported / size()).toBeLessThan(4);
  const { rows } = await server.pool.query(
    `select (select count(*) from realm_user where realm_id = 'big')::int users, (select count(*) from client where realm_id = 'big')::int clients,
      (select count(*) from user_role where realm_id = 'big')::int roles, (select count(*) from group_member where realm_id = 'big')::int members`,
  );
  expect(rows).toEqual([{ users: USERS, clients: CLIENTS, roles: USERS, members: USERS }]);
});

test('the same again plans nothing, though it compares every one', async () => {
  const { body } = stream();
  const response = await admin.fetch('/admin/realms/big/import', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...{ duplex: 'half' },
  });
  expect(await response.json()).toMatchObject({ inSync: true, changes: [] });
});

test('one bad row at the end changes nothing', async () => {
  const text = [...pieces()].join('').replace('"user-49999@people.example"', '"nobody"');
  const { errors } = await admin.refusal('bigger', text);
  expect(errors?.map((e) => e.path)).toEqual(['users[49999].email']);
  expect((await admin.fetch('/admin/realms/bigger')).status).toBe(404);
});
