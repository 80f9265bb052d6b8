// QR codes that a device confirms: bound to the browser that shows them, once, for some minutes.
import { expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { addressOn, deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
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
const inApplication = ({ url }: ShownPage) => url.startsWith(CALLBACK);

test('whoever scans the code with their device is signed in where it is shown, without a name', async () => {
  const device = await phone();
  const person = createPerson(server.baseUrl);
  const page = await open(person);
  expect(page.heading).toBe('Sign in with your device');
  expect(page.text).toContain('<svg');
  expect(page.text).toContain('<noscript><meta http-equiv="refresh" content="3"></noscript>');
  const asked = await device.ask('GET', addressOn(page));
  expect(asked).toMatchObject({ status: 200, body: { application: 'spa', ipAddress: '127.0.0.1', username: 'alice' } });
  expect((await look(person)).heading).toBe('Sign in with your device');
  expect((await person.fill(page, {})).text).toContain('The sign-in is not confirmed yet');
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
  expect(over.text).toContain('This code has expired');
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
  expect(refused.text).toContain('another person’s device');
  expect((await device.confirm(addressOn(refused))).status).toBe(204);
  expect(inApplication(await look(person))).toBe(true);
});

test('who opens the address of a code in a browser is told what it is for, in their language, and uses up nothing', async () => {
  const person = createPerson(server.baseUrl, { accept: 'text/html', 'accept-language': 'de' });
  const page = await open(person);
  const opened = await createPerson(server.baseUrl, { accept: 'text/html', 'accept-language': 'de' }).open(
    addressOn(page),
  );
  expect([opened.status, opened.heading]).toEqual([401, 'Öffnen Sie dies mit Ihrer App']);
  expect(opened.headers.get('content-type')).toContain('text/html');
  expect(opened.headers.get('x-frame-options')).toBe('DENY');
  const program = await fetch(new URL(addressOn(page), server.baseUrl));
  expect([program.status, program.headers.get('content-type')]).toEqual([
    401,
    'application/problem+json; charset=utf-8',
  ]);
  expect((await (await phone()).confirm(addressOn(page))).status).toBe(204);
});

test('the address by which a device is set up is a page in a browser, and so is one that takes forms alone', async () => {
  const browser = createPerson(server.baseUrl, { accept: 'text/html' });
  const page = await browser.open(`/realms/${realm}/device/enroll`);
  expect([page.status, page.heading]).toEqual([200, 'Open this with your app']);
  expect((await browser.open('/realms/nowhere/device/enroll')).status).toBe(404);
  const posted = await browser.open(`/realms/${realm}/device/enroll/start`);
  expect([posted.status, posted.headers.get('content-type')]).toEqual([405, 'text/html; charset=utf-8']);
});
