// What a token costs, whatever the machine's speed: statements that the database is asked, and bytes that the server allocates. The
// figures are written down in token-weight.json; a change that raises one changes it there, in the same commit, and says why.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getCode, makePeopledRealm, redeem, refresh } from '../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../support/clients.ts';
import type { Heap } from '../support/heap-probe.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';
import weight from './token-weight.json' with { type: 'json' };

const root = path.resolve(import.meta.dirname, '../..');
const realm = 'weight';
const TOKENS = 40;
const connection = pg.Connection.prototype;
const { bind, query } = connection;
let server: TestServer;
let statements = 0;

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await makePeopledRealm(server, realm);
  await makeClient(server, realm, { clientId: 'service', secret: SECRET, grantTypes: ['client_credentials'] });
  connection.bind = function (...of) {
    statements += 1;
    return bind.apply(this, of);
  };
  connection.query = function (...of) {
    statements += 1;
    return query.apply(this, of);
  };
});
afterAll(async () => {
  Object.assign(connection, { bind, query });
  await server?.stop();
});

const quiet = () =>
  expect
    .poll(async () => {
      const before = statements;
      await new Promise((resolve) => setTimeout(resolve, 150));
      return statements - before;
    })
    .toBe(0);
/** What `act` asks before it is answered, and what is written afterwards, off the request's path. */
async function cost(act: () => Promise<unknown>): Promise<{ before: number; after: number }> {
  await quiet();
  const began = statements;
  await act();
  const answered = statements;
  await quiet();
  return { before: answered - began, after: statements - answered };
}

const issue = () =>
  post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization: basic('service') });

/** Other work of the process, such as a look for jobs, may fall into one measure; it falls into no three in a row. */
const AGAIN = { retry: 2 };

test('a client’s token asks the database nothing, and the audit rows of many are one batch', AGAIN, async () => {
  await issue();
  expect((await cost(issue)).before).toBe(weight.clientCredentials.statements);
  const many = await cost(() => Promise.all(Array.from({ length: TOKENS }, issue)));
  // How many batches it takes depends on the machine; each costs the same, however many tokens are in it.
  expect((many.before + many.after) % weight.clientCredentials.statementsOfBatch).toBe(0);
  expect((await cost(issue)).after).toBe(weight.clientCredentials.statementsOfBatch);
});

test('a refresh is two messages to the database, begin and commit among their statements', AGAIN, async () => {
  const first = await redeem(server, realm, 'spa', await getCode(server, realm, 'spa'));
  const second = await refresh(server, realm, 'spa', first.body.refresh_token);
  const { before, after } = await cost(async () => {
    const third = await refresh(server, realm, 'spa', second.body.refresh_token);
    expect(third.status).toBe(200);
  });
  expect({ statements: before, after }).toEqual({ ...weight.refresh, after: 0 });
});

const ROUNDS = 7;
const REQUESTS = 300;
/** Of the figure that is written down: requests meet other timers, and batches of other sizes. */
const TOLERANCE = 0.1;

/** A server as `npm run server` starts it, whose code V8 interprets: optimized code allocates less, at moments of its own. */
async function startMeasured(): Promise<{ child: ChildProcess; address: string }> {
  const child = fork(path.join(root, 'server/main.ts'), [], {
    execArgv: [
      ...['--no-opt', '--no-maglev', '--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'],
      ...['--import', path.join(root, 'test/support/heap-probe.ts')],
    ],
    env: {
      ...(process.env.PATH !== undefined && { PATH: process.env.PATH }),
      NODE_ENV: 'production',
      DATABASE_URL: server.databaseUrl,
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'warn',
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  for await (const chunk of child.stderr ?? []) {
    said += chunk;
    const [, address] = /listens on (\S+);/.exec(said) ?? [];
    if (address === undefined) continue;
    return { child, address };
  }
  throw new Error(said);
}

async function heapOf(child: ChildProcess, message: 'collect' | 'look'): Promise<Heap> {
  child.send(message);
  const [heap]: Heap[] = await once(child, 'message');
  if (!heap) throw new Error('the probe did not answer');
  return heap;
}

test('a client’s token allocates no more than is written down', async () => {
  const { child, address } = await startMeasured();
  try {
    const ask = async () => {
      const answer = await fetch(`${address}/realms/${realm}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: basic('service') },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    };
    const burst = async () => {
      for (let done = 0; done < REQUESTS; done += 10) await Promise.all(Array.from({ length: 10 }, ask));
    };
    await burst();
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await heapOf(child, 'collect');
      await burst();
      const after = await heapOf(child, 'look');
      if (after.collections === before.collections) rounds.push((after.used - before.used) / REQUESTS / 1024);
    }
    // On a busy machine a round takes longer, and what recurs by time adds to it: the least is the nearest to the requests alone.
    const allocated = Math.min(...rounds);
    const written = weight.clientCredentials.kibibytes;
    expect(allocated, `KiB for each request; ${written} are written down`).toBeLessThan(written * (1 + TOLERANCE));
    expect(allocated, `KiB for each request; ${written} are written down`).toBeGreaterThan(written * (1 - TOLERANCE));
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
});
