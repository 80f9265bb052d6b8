// A server behind a pooler that gives a session's connection to others, as PgBouncer in transaction mode: it says so, and doesn't start.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../../server/start.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { MASTER_KEY } from '../../support/server.ts';

/** Of PostgreSQL's protocol: the type byte of NotificationResponse, and a message's type and length. */
const NOTIFICATION = 'A'.charCodeAt(0);
const HEAD = 5;

/** Passes on whole messages from PostgreSQL, but no notifications. */
function withoutNotifications(to: Socket): (chunk: Buffer) => void {
  let waiting = Buffer.alloc(0);
  return (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= HEAD) {
      const end = 1 + waiting.readInt32BE(1);
      if (waiting.length < end) return;
      if (waiting[0] !== NOTIFICATION) to.write(waiting.subarray(0, end));
      waiting = waiting.subarray(end);
    }
  };
}

let database: TestDatabase;
let pooler: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  database = await createDatabase();
  const port = Number(new URL(database.url).port);
  pooler = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', withoutNotifications(near));
  });
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => pooler.close(resolve));
  await database.drop();
});

const start = (url: string) =>
  startServer(
    {
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'silent',
      DATABASE_URL: url,
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
      SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
    },
    () => {},
  );
function behindPooler(): string {
  const address = pooler.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(database.url);
  url.port = String(address.port);
  return url.href;
}

test('a pooler that carries no notifications is refused in a sentence, without the password', async () => {
  const failure = await start(behindPooler()).then(
    async (server) => {
      await server.stop();
      return undefined;
    },
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error('it started');
  expect(failure.message).toMatch(/notifications don’t arrive: a connection pooler in transaction or statement mode/);
  expect(failure.message).toMatch(
    /Name the database itself in DATABASE_DIRECT_URL, or a pool in session mode in DATABASE_URL\.$/,
  );
  const { password } = new URL(database.url);
  if (password !== '') expect(failure.message).not.toContain(password);
}, 60_000);

test('without one the server starts, and hears of changes', async () => {
  const server = await start(database.url);
  try {
    expect((await fetch(`${server.address}/actuator/health/readiness`)).status).toBe(200);
  } finally {
    await server.stop();
  }
}, 60_000);
