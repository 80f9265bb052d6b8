// Owns: that discovery, key sets and introspection of known tokens go on while the database is away, within the bound and off by
// default, that nothing else does, and that what was revoked stays revoked.
// Does not own: failovers (db/high-availability.long.test.ts).
// Implements: docs/high-availability.md "While the database is away".
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../../support/clients.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
const SECONDS = 60;
/** One for all replicas, so that each knows the others' tokens. */
const address = { SVC_BASE_URL: 'https://id.example' };
const robot = { authorization: basic('robot') };
let main: TestServer;
const running: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  main = await startTestServer({ env: { ...address, SVC_STALE_SECONDS: String(SECONDS) } });
  await makePeopledRealm(main, REALM);
  await makeClient(main, REALM, {
    clientId: 'robot',
    secret: SECRET,
    grantTypes: ['client_credentials'],
    allowedResources: [`${address.SVC_BASE_URL}/realms/${REALM}`],
  });
  await makeClient(main, REALM, { clientId: 'resource', secret: SECRET, grantTypes: ['client_credentials'] });
  return () => main.stop();
});
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

/** A server whose way to the database can be cut, and its clock. */
async function startCuttable(env: Record<string, string>) {
  const url = new URL(main.databaseUrl);
  const relay: Relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  let ahead = 0;
  const server = await startTestServer({
    beside: { ...main, databaseUrl: url.href },
    env: { ...address, ...env },
    now: () => new Date(Date.now() + ahead),
    jobs: false,
  });
  running.push(() => relay.stop().catch(() => {}), server.stop);
  return {
    server,
    relay,
    later: (seconds: number) => {
      ahead += seconds * 1000;
    },
  };
}
const stale = { SVC_STALE_SECONDS: String(SECONDS), SVC_STALE_READINESS: 'true' };

const tokenAt = async (server: TestServer) =>
  String((await post(server, REALM, 'token', { grant_type: 'client_credentials' }, robot)).body.access_token);
const introspect = async (server: TestServer, token: string, headers = robot) => {
  const { status, body } = await post(server, REALM, 'introspect', { token }, headers);
  return status === 200 ? body.active : status;
};
const get = async (server: TestServer, path: string) => (await fetch(`${server.baseUrl}${path}`)).status;
const documents = (server: TestServer) =>
  Promise.all(
    ['/.well-known/openid-configuration', '/oauth2/jwks'].map((path) => get(server, `/realms/${REALM}${path}`)),
  );
const readiness = (server: TestServer) => get(server, '/actuator/health/readiness');

test('documents and known tokens go on within the bound, and nothing else does', async () => {
  const { server, relay, later } = await startCuttable(stale);
  const [known, unknown] = [await tokenAt(server), await tokenAt(server)];
  expect(await introspect(server, known)).toBe(true);
  expect(await documents(server)).toEqual([200, 200]);
  expect(await readiness(server)).toBe(200);
  await relay.stop();
  later(SECONDS / 2);
  expect(await documents(server)).toEqual([200, 200]);
  expect(await introspect(server, known)).toBe(true);
  expect(await readiness(server)).toBe(200);
  // Never asked about here, so it may have been revoked; asked by another client; and a client that can't prove itself.
  expect(await introspect(server, unknown)).toBe(503);
  expect(await introspect(server, known, { authorization: basic('resource') })).toBe(503);
  expect([401, 503]).toContain(await introspect(server, known, { authorization: basic('robot', 'wrong') }));
  expect(await get(server, '/realms/another/oauth2/jwks')).toBe(503);
  const { status, headers } = await post(server, REALM, 'token', { grant_type: 'client_credentials' }, robot);
  expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  expect(await get(server, `/realms/${REALM}/login?for=account`)).toBe(503);
  later(SECONDS / 2 + 1);
  expect(await documents(server)).toEqual([503, 503]);
  expect(await introspect(server, known)).toBe(503);
});

test('a database that stays silent holds up no answer that is known', async () => {
  const { server, relay, later } = await startCuttable(stale);
  const token = await tokenAt(server);
  expect(await introspect(server, token)).toBe(true);
  expect(await documents(server)).toEqual([200, 200]);
  relay.freeze();
  later(SECONDS / 2);
  const began = Date.now();
  expect(await documents(server)).toEqual([200, 200]);
  expect(await introspect(server, token)).toBe(true);
  // a connection is waited for five seconds, and an answer 35
  expect(Date.now() - began).toBeLessThan(30_000);
  relay.thaw();
});

test('a token that expires meanwhile does not go on', async () => {
  await makeClient(main, REALM, {
    clientId: 'brief',
    secret: SECRET,
    grantTypes: ['client_credentials'],
    accessTokenTtlSeconds: 60,
  });
  const { server, relay, later } = await startCuttable({ SVC_STALE_SECONDS: '3600' });
  const as = { authorization: basic('brief') };
  const token = String(
    (await post(server, REALM, 'token', { grant_type: 'client_credentials' }, as)).body.access_token,
  );
  expect(await introspect(server, token, as)).toBe(true);
  await relay.stop();
  later(30);
  expect(await introspect(server, token, as)).toBe(true);
  later(31);
  expect(await introspect(server, token, as)).not.toBe(true);
});

test('tokens of a user or a client that another replica disabled are not active again here, and those of others are', async () => {
  const { server, relay, later } = await startCuttable(stale);
  const another = await tokenAt(server);
  const person = String((await redeem(main, REALM, 'spa', await getCode(main, REALM, 'spa'))).body.access_token);
  const as = { authorization: basic('resource') };
  const ofClient = String(
    (await post(server, REALM, 'token', { grant_type: 'client_credentials' }, as)).body.access_token,
  );
  expect(await introspect(server, ofClient, as)).toBe(true);
  const { body: clients } = await main.admin.call(listClients, { params: { realm: REALM } });
  const id = clients?.find(({ clientId }) => clientId === 'resource')?.id ?? '';
  await main.admin.call(putClient, { params: { realm: REALM, id }, body: { clientId: 'resource', enabled: false } });
  // The sign of it has come. From here on this replica is asked about no token that another one ends.
  await sleep(1_000);
  for (const token of [another, person]) expect(await introspect(server, token)).toBe(true);
  const { body: users } = await main.admin.call(listUsers, { params: { realm: REALM } });
  const userId = users?.find(({ username }) => username === 'alice')?.id ?? '';
  await main.admin.call(putUser, { params: { realm: REALM, userId }, body: { username: 'alice', enabled: false } });
  await sleep(1_000);
  await relay.stop();
  later(SECONDS / 2);
  expect(await introspect(server, ofClient, as)).not.toBe(true);
  expect(await introspect(server, person)).toBe(503);
  expect(await introspect(server, another)).toBe(true);
});

test('a token that another replica revoked is not active again here', async () => {
  const { server, relay, later } = await startCuttable(stale);
  const token = await tokenAt(server);
  expect(await introspect(server, token)).toBe(true);
  expect((await post(main, REALM, 'revoke', { token }, robot)).status).toBe(200);
  await sleep(1_000);
  await relay.stop();
  later(SECONDS / 2);
  expect(await introspect(server, token)).toBe(503);
});

test('without the setting nothing goes on', async () => {
  const { server, relay, later } = await startCuttable({});
  const token = await tokenAt(server);
  expect(await introspect(server, token)).toBe(true);
  expect(await documents(server)).toEqual([200, 200]);
  await relay.stop();
  later(SECONDS / 2);
  expect(await documents(server)).toEqual([503, 503]);
  expect(await introspect(server, token)).toBe(503);
  await expect.poll(() => readiness(server)).toBe(503);
});
