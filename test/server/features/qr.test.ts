// QR codes that a device confirms: bound to the browser that shows them, once, for some minutes.
import { expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { addressOn, deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type Shown } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let bob = '';
const { seconds, later } = freshRealms('q', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  [alice = '', bob = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
  await bind([{ authenticatorId: 'qr', requirement: 'REQUIRED' }]);
});
const bind = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const phone = (userId = alice) => deviceFor(server, realm, userId, { clock: seconds });
const open = (person: Person) => person.open(authorizePath(realm, 'spa', newVerifier()));
const look = (person: Person) => person.open(`/realms/${realm}/login`);
const inApplication = ({ url }: Shown) => url.startsWith(CALLBACK);

test('whoever scans the code with their device is signed in where it is shown, without a name', async () => {
  const device = await phone();
  const person = createPerson(server.baseUrl);
  const page = await open(person);
  expect(page.heading).toBe('Sign in with your device');
  expect(page.text).toContain('<svg');
  expect(page.headers.get('refresh')).toBe('3');
  const asked = await device.ask('GET', addressOn(page));
  expect(asked).toMatchObject({ status: 200, body: { application: 'spa', ipAddress: '127.0.0.1', username: 'alice' } });
  expect((await look(person)).heading).toBe('Sign in with your device');
  expect((await person.fill(page, {})).text).toContain('It is not confirmed yet');
  expect((await device.confirm(addressOn(page))).status).toBe(204);
  expect(inApplication(await look(person))).toBe(true);
});

test('a code is confirmed once, by one person, and signs in no other browser', async () => {
  const [device, theirs] = [await phone(), await phone(bob)];
  const [person, other] = [createPerson(server.baseUrl), createPerson(server.baseUrl)];
  const [page] = [await open(person), await open(other)];
  const address = addressOn(page);
  expect((await device.confirm(address)).status).toBe(204);
  expect((await device.confirm(address)).status).toBe(404);
  const [path = '', query = ''] = address.split('?');
  expect((await theirs.ask('POST', `${path}/confirm?${query}`, { challenge: 'x' })).status).toBe(400);
  expect((await theirs.confirm(address)).status).toBe(404);
  expect((await look(other)).heading).toBe('Sign in with your device');
  const cookies = new Map(person.jar);
  expect(inApplication(await look(person))).toBe(true);
  const replayed = createPerson(server.baseUrl);
  for (const [name, value] of cookies) replayed.jar.set(name, value);
  expect(inApplication(await replayed.fill(page, {}))).toBe(false);
});

test('a code that is old, changed, of another realm or of nobody is confirmed by nobody', async () => {
  const device = await phone();
  const person = createPerson(server.baseUrl);
  const page = await open(person);
  const address = addressOn(page);
  const elsewhere = `${realm}-other`;
  const [stranger = ''] = await makePeopledRealm(server, elsewhere, ['alice']);
  const foreign = await deviceFor(server, elsewhere, stranger, { clock: seconds });
  expect((await foreign.confirm(address.replace(`/realms/${realm}/`, `/realms/${elsewhere}/`))).status).toBe(404);
  expect((await foreign.confirm(address)).status).toBe(401);
  expect((await device.confirm(address.replace(/code=..../, 'code=AAAA'))).status).toBe(404);
  const [, id = ''] = /\/qr\/([^?]+)/.exec(address) ?? [];
  expect((await device.confirm(address.replace(id, '0190c6a1-6f5e-7c39-8b6a-3f1d5c7e9a20'))).status).toBe(404);
  later(301_000);
  expect((await device.confirm(address)).status).toBe(404);
  const over = await look(person);
  expect(over.text).toContain('The code is good no more');
  const fresh = await person.fill(over, {});
  expect(addressOn(fresh)).not.toBe(address);
  expect((await device.confirm(addressOn(fresh))).status).toBe(204);
  expect(inApplication(await look(person))).toBe(true);
});

test('behind a password it is a second factor, of the same person alone', async () => {
  await bind([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'qr', requirement: 'REQUIRED' },
  ]);
  const [device, theirs] = [await phone(), await phone(bob)];
  const person = createPerson(server.baseUrl);
  const page = await person.fill(await open(person), { username: 'alice', password: PASSWORD });
  expect((await theirs.confirm(addressOn(page))).status).toBe(204);
  const refused = await look(person);
  expect(refused.text).toContain('somebody else’s device');
  expect((await device.confirm(addressOn(refused))).status).toBe(204);
  expect(inApplication(await look(person))).toBe(true);
});
