// An application that is deleted exactly while a code for it is written: a page says so, nobody is sent anywhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'deleted';
const alice = { username: 'alice', password: PASSWORD };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, REALM);
});
afterAll(() => server?.stop());

const codes = async () =>
  (await server.admin.call(listEvents, { params: { realm: REALM }, query: { type: 'CODE_ISSUED' } })).body?.length;
const sessions = async () => (await server.admin.call(listSessions, { params: { realm: REALM } })).body?.length ?? 0;
const application = (clientId: string) =>
  makeClient(server, REALM, { clientId, tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
const ask = (clientId: string) => authorizePath(REALM, clientId, newVerifier());

/** Deletes it, and commits once the request waits for that. */
const duringDeletion = (clientId: string, request: () => Promise<ShownPage>): Promise<ShownPage> =>
  connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('delete from client where realm_id = $1 and client_id = $2', [REALM, clientId]);
    const answer = request();
    await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
    await client.query('commit');
    return answer;
  });

function expectUnknown(page: ShownPage): void {
  expect([page.status, page.heading]).toEqual([400, 'This request cannot go on']);
  expect(page.text).toContain('The application is not known here');
}

test('with a session', async () => {
  await application('first');
  await application('second');
  const person = createPerson(server.baseUrl);
  expect((await person.fill(await person.open(ask('first')), alice)).url).toContain(CALLBACK);
  const issued = await codes();
  expectUnknown(await duringDeletion('second', () => person.open(ask('second'))));
  expect(await codes()).toBe(issued);
});

test('at the end of a sign-in, which holds all the same', async () => {
  await application('third');
  const person = createPerson(server.baseUrl);
  const page = await person.open(ask('third'));
  const [issued, before] = [await codes(), await sessions()];
  expectUnknown(await duringDeletion('third', () => person.fill(page, alice)));
  expect([await codes(), await sessions()]).toEqual([issued, before + 1]);
  expect((await person.open(`/realms/${REALM}/account`)).heading).toBe('alice');
});
