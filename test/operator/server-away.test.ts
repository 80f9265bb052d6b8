// The server goes and comes back, is there late, or doesn't know the operator: it waits, says so, and goes on by itself.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../server/start.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import {
  createFolder,
  eventually,
  type Folder,
  OPERATOR_SECRET,
  resource,
  startTestOperator,
  type TestOperator,
} from '../support/operator.ts';
import { MASTER_KEY } from '../support/server.ts';

let database: TestDatabase;
let folder: Folder;
let port = 0;
let server: RunningServer | undefined;
let operator: TestOperator | undefined;

const startAgain = async (secret = OPERATOR_SECRET) => {
  server = await startServer(
    {
      SVC_PORT: String(port),
      SVC_LOG_LEVEL: 'silent',
      DATABASE_URL: database.url,
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
      SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
      SVC_OPERATOR_CLIENT_SECRET: secret,
    },
    () => {},
  );
};
const stopServer = async () => {
  await server?.stop();
  server = undefined;
};

beforeAll(async () => {
  database = await createDatabase();
  port = await freePort();
  folder = await createFolder();
  await folder.write('realm.yaml', resource('Realm', 'acme', { realm: 'acme', settings: { displayName: 'One' } }));
});
afterEach(async () => {
  await operator?.stop();
  operator = undefined;
});
afterAll(async () => {
  await stopServer();
  await database?.drop();
  await folder?.drop();
});

test('a resource that changes while the server is away waits, and is applied when it is back', async () => {
  await startAgain();
  operator = await startTestOperator({ serverUrl: `http://127.0.0.1:${port}`, dir: folder.dir });
  await operator.ready('Realm', 'acme');
  await stopServer();
  await folder.write('realm.yaml', resource('Realm', 'acme', { realm: 'acme', settings: { displayName: 'Two' } }));
  await operator.took('Realm', 'acme', { settings: { displayName: 'Two' } });
  const waiting = await operator.says('Realm', 'acme', 'ServerUnreachable');
  expect(operator.condition('Realm', 'acme')).toMatchObject({ status: 'False', reason: 'Waiting' });
  expect(waiting.message).toContain('cannot be reached');
  await startAgain();
  const back = await operator.ready('Realm', 'acme');
  expect(back.status.lastPlan).toMatchObject({ summary: 'update settings acme' });
});

test('an operator that starts before its server waits for it', async () => {
  await stopServer();
  const starting = startTestOperator({ serverUrl: `http://127.0.0.1:${port}`, dir: folder.dir });
  operator = await starting;
  await eventually(() => expect(operator?.condition('Realm', 'acme')).toMatchObject({ reason: 'Waiting' }));
  await startAgain();
  await operator.ready('Realm', 'acme');
});
