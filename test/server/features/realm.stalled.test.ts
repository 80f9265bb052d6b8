// A realm whose rows are locked for long, as by a large import, must leave database connections to all others.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem } from '../../support/applications.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { connected } from '../../support/cluster.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const realm of ['stalled', 'peaceful']) {
    await makeRealm(server, realm);
    await makeClient(server, realm, { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
    await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
  }
});
afterAll(() => server?.stop());

/** The answer's status, and after how many seconds to come back. */
const write = (realm: string, welcomeText: string): Promise<[number, number | undefined]> =>
  server.admin.call(putSettings, { params: { realm }, body: { welcomeText } }).then(
    ({ status }) => [status, undefined],
    (error: unknown) => {
      if (!(error instanceof ServerProblem)) throw error;
      return [error.status, error.retryAfterSeconds];
    },
  );

test('twenty writes to a realm that is locked hold up no other, and those that can’t wait are told to come back', async () => {
  await connected(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from realm where realm_id = 'stalled' for no key update`);
    const stuck = Promise.all(Array.from({ length: 20 }, (_, i) => write('stalled', `${i}`)));
    // so that they have come to the lock
    await sleep(300);
    // several, so that one place alone wouldn't do
    const served = Promise.all(
      Array.from({ length: 4 }, async (_, i) => [
        (await write('peaceful', `${i}`))[0],
        (await redeem(server, 'peaceful', 'spa', await getCode(server, 'peaceful', 'spa'))).status,
      ]),
    );
    const first = await Promise.race([
      served.then(() => 'peaceful'),
      stuck.then(() => 'stalled'),
      sleep(4_000, 'neither'),
    ]);
    expect(first).toBe('peaceful');
    expect(await served).toEqual(Array.from({ length: 4 }, () => [200, 200]));
    // those without a turn give up, those with one still wait for the lock
    await sleep(5_500);
    await client.query('rollback');
    const answers = await stuck;
    expect(answers.filter(([status]) => status === 200)).toHaveLength(5);
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 15 }, () => [503, 2]));
  });
});
