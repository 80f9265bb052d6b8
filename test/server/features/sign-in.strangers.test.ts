// Owns: that a stranger who guesses passwords keeps nobody else out: by the address they share, or by the risk policy.
// Does not own: how much one address may try at once (sign-in.flood.test.ts), the points (risk.unit.test.ts).
// Implements: specification 2.3 (risk fields), 1 "Adaptive authentication".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let realms = 0;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  realms += 1;
  realm = `acme-${realms}`;
  await newRealm(realm);
});
async function newRealm(name: string): Promise<void> {
  await makeRealm(server, name);
  const body = { username: 'alice', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: name }, body });
}
const watch = (policy: object) =>
  server.admin.call(putSettings, { params: { realm }, body: { riskPolicyEnabled: true, ...policy } });

const from = (address: string) => createPerson(server.baseUrl, { 'x-forwarded-for': address });
async function signIn(who: Person, { password = PASSWORD, at = realm, username = 'alice' } = {}) {
  return who.fill(await who.open(`/realms/${at}/login`), { username, password });
}
/** As often as an address may, and once more. */
async function guess(address: string, times = 21): Promise<void> {
  const who = from(address);
  for (let i = 0; i < times; i += 1) await signIn(who, { password: `guess ${i} of a stranger` });
}
const adminLogin = (address: string) =>
  fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD }),
  });

test('failures in one realm close neither another one nor the administrators’ to the address', async () => {
  await newRealm(`${realm}-other`);
  await guess('192.0.2.1');
  expect((await signIn(from('192.0.2.1'))).text).toContain('Too many failed tries');
  expect((await signIn(from('192.0.2.1'), { at: `${realm}-other` })).heading).toBe('alice');
  expect((await adminLogin('192.0.2.1')).status).toBe(204);
});

test('a device that somebody has signed in with goes on at an address that is closed, but not for ever', async () => {
  await watch({});
  const alice = from('192.0.2.2');
  expect((await signIn(alice)).heading).toBe('alice');
  await guess('192.0.2.2');
  expect((await signIn(from('192.0.2.2'))).text).toContain('Too many failed tries');
  alice.jar.delete('SVC_SESSION');
  expect((await signIn(alice)).heading).toBe('alice');
  alice.jar.delete('SVC_SESSION');
  for (let i = 0; i < 20; i += 1) await signIn(alice, { username: `other${i}`, password: 'guessed by a device' });
  expect((await signIn(alice)).text).toContain('Too many failed tries');
});

test('a stranger’s wrong passwords keep nobody out who comes with a known device', async () => {
  await watch({ riskMediumThreshold: 40, riskMediumAction: 'deny', riskHighAction: 'deny' });
  const alice = from('192.0.2.3');
  expect((await signIn(alice)).heading).toBe('alice');
  alice.jar.delete('SVC_SESSION');
  await guess('198.51.100.3', 8);
  expect((await signIn(alice)).heading).toBe('alice');
  expect((await signIn(from('198.51.100.4'))).heading).toBe('This sign-in was refused');
});

test('no number of failures makes the networks forgotten that somebody comes from', async () => {
  await watch({ riskMediumThreshold: 45, riskMediumAction: 'deny', riskHighAction: 'deny' });
  expect((await signIn(from('192.0.2.5'))).heading).toBe('alice');
  const { rows } = await server.pool.query(`select id from realm_user where realm_id = $1`, [realm]);
  await server.pool.query(
    `insert into sign_in_history (realm_id, id, user_id, at, success, network)
     select $1, gen_random_uuid(), $2, now() - interval '2 hours' + n * interval '1 second', false, '198.51.100.0/24'
     from generate_series(1, 60) n`,
    [realm, rows[0].id],
  );
  expect((await signIn(from('198.51.100.5'))).heading).toBe('This sign-in was refused');
});

test('a device cookie that somebody else put there is never known', async () => {
  await watch({});
  const planted = 'planted-by-a-stranger';
  const alice = from('192.0.2.6');
  alice.jar.set('SVC_DEVICE', planted);
  expect((await signIn(alice)).heading).toBe('alice');
  const own = alice.jar.get('SVC_DEVICE');
  expect(own).not.toBe(planted);
  alice.jar.delete('SVC_SESSION');
  expect((await signIn(alice)).heading).toBe('alice');
  expect(alice.jar.get('SVC_DEVICE')).toBe(own);
  const device = `select count(*)::int as known from known_device where realm_id = $1`;
  expect((await server.pool.query(device, [realm])).rows[0].known).toBe(1);
});
