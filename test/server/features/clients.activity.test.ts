// The server counts the tokens of each client, beside everything else that happens to the clients.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'active';
const lines: string[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ lines });
  await makeRealm(server, REALM);
  for (const clientId of ['leaving', 'staying'])
    await makeClient(server, REALM, { clientId, secret: SECRET, grantTypes: ['client_credentials'] });
});
afterAll(async () => server?.stop());

const counted = async () => {
  const { rows } = await server.pool.query(
    `select c.client_id, sum(a.tokens)::int as tokens from client_activity a join client c on c.realm_id = a.realm_id and c.id = a.client
     where a.realm_id = $1 group by 1`,
    [REALM],
  );
  return Object.fromEntries(rows.map(({ client_id, tokens }) => [client_id, tokens]));
};

test('a client that is deleted while its tokens are counted is left out, and the others are counted at once', async () => {
  const deletion = await server.pool.connect();
  try {
    for (const clientId of ['leaving', 'staying'])
      await post(server, REALM, 'token', { grant_type: 'client_credentials' }, { authorization: basic(clientId) });
    await deletion.query('begin');
    await deletion.query(`delete from client where realm_id = $1 and client_id = 'leaving'`, [REALM]);
    // The counts are written a second after the first one, and wait for this deletion.
    await expect
      .poll(
        async () => {
          const { rows } = await server.pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'client_activity'`,
          );
          return rows.length;
        },
        { timeout: 10_000 },
      )
      .toBe(1);
    await deletion.query('commit');
  } finally {
    deletion.release();
  }
  await expect.poll(counted, { timeout: 5_000 }).toEqual({ staying: 1 });
  await sleep(100);
  expect(lines.filter((line) => line.includes('Which clients got tokens'))).toEqual([]);
});
