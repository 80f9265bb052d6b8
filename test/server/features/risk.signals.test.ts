// Owns: what a sign-in's risk is made of beside devices and failures: places that a proxy says, breached passwords, programs, many
// people from one network; and that a realm says what each counts.
// Does not own: the points by themselves (risk.unit.test.ts), bands and actions (sign-in.test.ts).
// Implements: specification 1 "Adaptive authentication"; decisions "Session".
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import type { RiskWeights } from '../../../server/contract/risk.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let service: Receiver;
let server: TestServer;
let clock = new Date();
let realm = '';
let realms = 0;

beforeAll(async () => {
  service = await startReceiver();
  // the clock is moved, and what is old by it is deleted by jobs
  server = await startTestServer({
    jobs: false,
    env: {
      SVC_TRUST_PROXY: '127.0.0.1',
      SVC_LOCATION_HEADERS: 'X-Country,X-Latitude,X-Longitude',
      SVC_OUTBOUND_CA_FILE: service.caFile,
      SVC_BREACHED_PASSWORDS_URL: `${service.url}/range/`,
    },
    now: () => clock,
  });
});
afterAll(async () => {
  await server?.stop();
  await service?.stop();
});
beforeEach(async () => {
  clock = new Date();
  realms += 1;
  realm = `signals${realms}`;
  service.received.length = 0;
  service.answer = () => ({ body: '' });
  await makePeopledRealm(server, realm, []);
  await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
  await put({ riskPolicyEnabled: true, riskMediumThreshold: 100, riskHighThreshold: 100, riskHighAction: 'allow' });
});

const put = (body: object) => server.admin.call(putSettings, { params: { realm }, body });
const from = (address: string, more: Record<string, string> = {}): Person =>
  createPerson(server.baseUrl, { 'user-agent': 'Mozilla/5.0', 'x-forwarded-for': address, ...more });
const at = (country: string, latitude: number, longitude: number) => ({
  'x-country': country,
  'x-latitude': String(latitude),
  'x-longitude': String(longitude),
});
const berlin = at('DE', 52.5, 13.4);
const sydney = at('AU', -33.9, 151.2);
async function signIn(who: Person, fields: object = {}, path = `/realms/${realm}/login`) {
  return who.fill(await who.open(path), { username: 'alice', password: PASSWORD, ...fields });
}
/** Of the last sign-in. */
async function found(type: 'LOGIN_SUCCESS' | 'LOGIN_FAILURE' = 'LOGIN_SUCCESS'): Promise<string[]> {
  // The administrator's session lives in the present.
  clock = new Date();
  const { body } = await server.admin.call(listEvents, { params: { realm }, query: { type } });
  const data = body?.[0]?.data as { risk?: { findings: { reason: string; points: number }[] } } | undefined;
  return (data?.risk?.findings ?? []).map(({ reason, points }) => `${reason} ${points}`);
}
const home = '192.0.2.1';

test('whoever was in Berlin half an hour ago and is in Sydney now is told apart by the places that the proxy says', async () => {
  await signIn(from(home, berlin));
  clock = new Date(clock.getTime() + 30 * 60_000);
  await signIn(from(home, sydney));
  expect(await found()).toEqual(['new-device 30', 'new-country 20', 'impossible-speed 50']);
});

test('two days later it is a journey, and another country', async () => {
  const alice = from(home, berlin);
  await signIn(alice);
  clock = new Date(clock.getTime() + 2 * 86_400_000);
  const away = from(home, sydney);
  away.jar.set(...([...alice.jar].find(([name]) => name.includes('DEVICE')) ?? ['', '']));
  await signIn(away);
  expect(await found()).toEqual(['new-country 20']);
});

test('where the proxy says the country alone, another one within the hour is too fast', async () => {
  await signIn(from(home, { 'x-country': 'DE' }));
  clock = new Date(clock.getTime() + 30 * 60_000);
  await signIn(from(home, { 'x-country': 'AU' }));
  expect(await found()).toContain('impossible-speed 50');
});

test.each([
  ['unknown', 'XX'],
  ['no country', 'nowhere'],
  ['empty', ''],
])('a country that is %s is none', async (_, country) => {
  await signIn(from(home, { 'x-country': 'DE' }));
  await signIn(from(home, { 'x-country': country, 'x-latitude': '999', 'x-longitude': 'east' }));
  expect(await found()).toEqual(['new-device 30']);
});

test('what a browser says of its own place is not believed', async () => {
  const direct = (headers: Record<string, string>) => createPerson(server.baseUrl, headers);
  await signIn(direct(berlin));
  await signIn(direct(sydney));
  expect(await found()).toEqual(['new-device 30']);
});

test('a password that is known from breaches speaks for a risk, where the realm asks for that', async () => {
  const digest = createHash('sha1').update(PASSWORD).digest('hex').toUpperCase();
  service.answer = () => ({ body: `${digest.slice(5)}:7` });
  await signIn(from(home));
  expect(await found()).toEqual([]);
  expect(service.received).toEqual([]);
  await put({ breachedPasswordCheck: true });
  await signIn(from(home));
  expect(await found()).toEqual(['new-device 30', 'breached-password 30']);
  await put({ riskWeights: { 'breached-password': 0 } });
  service.received.length = 0;
  await signIn(from(home));
  expect(await found()).toEqual(['new-device 30']);
  expect(service.received).toEqual([]);
});

test('a wrong password is never asked about', async () => {
  await put({ breachedPasswordCheck: true });
  await signIn(from(home), { password: 'wrong umbrellas' });
  expect(service.received).toEqual([]);
});

test.each([
  ['a browser without a head', 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0'],
  ['a tool', 'curl/8.5.0'],
])('%s looks like a program', async (_, userAgent) => {
  await signIn(from(home, { 'user-agent': userAgent }));
  expect(await found()).toEqual(['automation 20']);
});

test('many people’s failed sign-ins from one network speak against whoever comes from it next without a device of theirs', async () => {
  const alice = from('198.51.100.7');
  await signIn(alice);
  for (let person = 0; person < 12; person += 1) {
    const username = `person-${person}`;
    await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
    await signIn(from(`198.51.100.${person}`), { username, password: 'wrong umbrellas' });
  }
  await signIn(from('198.51.100.99'), { username: 'person-1' });
  expect(await found()).toContain('address-velocity 30');
  await signIn(from('203.0.113.9'), { username: 'person-2' });
  expect(await found()).not.toContain('address-velocity 30');
  for (const name of alice.jar.keys()) if (!name.includes('DEVICE')) alice.jar.delete(name);
  await signIn(alice);
  expect(await found()).toEqual([]);
  clock = new Date(clock.getTime() + 61 * 60_000);
  await signIn(from('198.51.100.99'), { username: 'person-3' });
  expect(await found()).not.toContain('address-velocity 30');
});

test('a realm says what each counts, and one that it leaves out counts as in a fresh realm', async () => {
  await put({ riskWeights: { 'new-device': 77 } satisfies RiskWeights });
  expect((await server.admin.call(getSettings, { params: { realm } })).body?.riskWeights).toEqual({ 'new-device': 77 });
  await signIn(from(home));
  await signIn(from('203.0.113.9', { 'user-agent': 'curl/8.5.0' }));
  expect(await found()).toEqual(['new-device 77', 'new-network 20', 'automation 20']);
});

test.each([
  ['a reason that there is not', { weather: 10 }],
  ['too many points', { 'new-device': 101 }],
  ['less than none', { 'new-device': -1 }],
])('%s is refused', async (_, riskWeights) => {
  const refused = await put({ riskWeights }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ServerProblem);
  expect(refused).toMatchObject({ status: 400 });
});

test('a finding decides: by its points a band, by the band what happens', async () => {
  await signIn(from(home));
  await put({ riskWeights: { automation: 100 }, riskHighAction: 'deny' });
  expect((await signIn(from(home, { 'user-agent': 'curl/8.5.0' }))).heading).toBe('This sign-in was refused');
  expect(await found('LOGIN_FAILURE')).toEqual(['new-device 30', 'automation 100']);
});
