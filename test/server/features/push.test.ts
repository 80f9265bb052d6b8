// Sign-ins that are approved on a device: number matching, denial, expiry, and what doesn't count.
import { expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { getLockout } from '../../../server/contract/user-access.ts';
import { deleteCredential, listCredentials, putRequiredActions, setPassword } from '../../../server/contract/users.ts';
import {
  authorizePath,
  CALLBACK,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
} from '../../support/applications.ts';
import { createDevice } from '../../support/device.ts';
import { addressOn, deviceFor, numberOn } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let bob = '';
const { seconds, later } = freshRealms('p', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  [alice = '', bob = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
  const executions: ExecutionInput[] = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'push', requirement: 'REQUIRED' },
  ];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
});

const phone = (userId = alice) => deviceFor(server, realm, userId, { clock: seconds });
async function withPassword(username = 'alice'): Promise<{ person: Person; page: ShownPage; verifier: string }> {
  const person = createPerson(server.baseUrl, { 'user-agent': 'Test browser' });
  const verifier = newVerifier();
  const page = await person.open(authorizePath(realm, 'spa', verifier));
  return { person, verifier, page: await person.fill(page, { username, password: PASSWORD }) };
}
/** The page looks again by itself. */
const look = (person: Person) => person.open(`/realms/${realm}/login`);
const inApplication = ({ url }: ShownPage) => url.startsWith(CALLBACK);
const events = async (type: 'LOGIN_FAILURE' | 'PUSH_DENIED' | 'PUSH_APPROVED') =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];

test('whoever approves on their device, with the number of the page, is signed in where the page waits', async () => {
  const device = await phone();
  const { person, page, verifier } = await withPassword();
  expect(page.heading).toBe('Approve on your device');
  expect(page.text).toContain('<noscript><meta http-equiv="refresh" content="3"></noscript>');
  expect(numberOn(await look(person))).toBe(numberOn(page));
  const [waiting] = (await device.waiting()).body;
  expect(waiting).toMatchObject({
    username: 'alice',
    application: 'spa',
    ipAddress: '127.0.0.1',
    userAgent: 'Test browser',
  });
  expect(Object.values(waiting).map(String)).not.toContain(numberOn(page));
  expect((await person.fill(page, {})).text).toContain('The sign-in is not approved yet');
  expect((await device.approve(waiting.id, numberOn(page))).status).toBe(204);
  expect((await device.waiting()).body).toEqual([]);
  const done = await look(person);
  expect(inApplication(done)).toBe(true);
  const code = new URL(done.url).searchParams.get('code') ?? '';
  const { body } = await redeem(server, realm, 'spa', { code, verifier });
  const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ acr: '6', amr: expect.arrayContaining(['pwd', 'pop', 'mca']) });
  expect(await events('PUSH_APPROVED')).toMatchObject([{ subject: { id: alice }, data: { device: device.id() } }]);
});

test('an approval counts once, and in the browser that asked alone', async () => {
  const device = await phone();
  const { person, page } = await withPassword();
  const { person: other, page: otherPage } = await withPassword();
  const pushes = (await device.waiting()).body;
  expect(pushes).toHaveLength(2);
  const { id } = pushes[1];
  expect((await device.approve(id, numberOn(page))).status).toBe(204);
  expect((await device.approve(id, numberOn(page))).status).toBe(409);
  expect((await device.deny(id)).status).toBe(409);
  expect((await look(other)).heading).toBe('Approve on your device');
  expect(numberOn(otherPage)).not.toBe('');
  const cookies = new Map(person.jar);
  expect(inApplication(await look(person))).toBe(true);
  const replayed = createPerson(server.baseUrl);
  for (const [name, value] of cookies) replayed.jar.set(name, value);
  expect(inApplication(await replayed.fill(page, {}))).toBe(false);
});

test('a wrong number ends the sign-in and counts as a failure', async () => {
  const device = await phone();
  const { person, page } = await withPassword();
  const [{ id }] = (await device.waiting()).body;
  const wrong = String((Number(numberOn(page)) % 90) + 10);
  const answer = await device.approve(id, wrong === numberOn(page) ? '10' : wrong);
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'number' }] } });
  expect((await device.approve(id, numberOn(page))).status).toBe(409);
  const ended = await look(person);
  expect([ended.status, ended.heading]).toEqual([403, 'Sign-in stopped']);
  expect(await events('PUSH_DENIED')).toMatchObject([{ outcome: 'denied', data: { reason: 'number' } }]);
});

test('who denies reports an attack: that sign-in ends, it counts, and nothing more is sent for ten minutes', async () => {
  const device = await phone();
  const { person } = await withPassword();
  const [{ id }] = (await device.waiting()).body;
  expect((await device.deny(id)).status).toBe(204);
  const ended = await look(person);
  expect([ended.status, ended.heading]).toEqual([403, 'Sign-in stopped']);
  expect(await events('PUSH_DENIED')).toMatchObject([
    { actor: { id: alice }, outcome: 'denied', data: { reason: 'reported', from: '127.0.0.1', application: 'spa' } },
  ]);
  expect((await events('LOGIN_FAILURE'))[0]?.data.reason).toBe('denied');
  const { body: lockout } = await server.admin.call(getLockout, { params: { realm, userId: alice } });
  expect(lockout?.failures).toBe(1);
  const { person: again, page } = await withPassword();
  expect(page.text).toContain('asked too often');
  expect((await device.waiting()).body).toEqual([]);
  later(601_000);
  expect(numberOn(await again.fill(page, {}))).not.toBe('');
  expect((await device.waiting()).body).toHaveLength(1);
});

test('nobody is asked more than four times in ten minutes without an approval', async () => {
  const device = await phone();
  for (let asked = 0; asked < 4; asked += 1) expect(numberOn((await withPassword()).page)).not.toBe('');
  const { page } = await withPassword();
  expect(page.text).toContain('asked too often');
  expect((await device.waiting()).body).toHaveLength(4);
});

test('nobody is asked again within half a minute, and what nobody approved in two is over', async () => {
  const device = await phone();
  const { person, page } = await withPassword();
  expect((await person.fill(page, { resend: '1' })).text).toContain('asked just now');
  const [{ id }] = (await device.waiting()).body;
  later(121_000);
  expect((await device.read(id)).status).toBe(404);
  expect((await device.ask('POST', `/push/${id}/approve`, { challenge: 'x', number: numberOn(page) })).status).toBe(
    409,
  );
  const over = await look(person);
  expect(over.text).toContain('The sign-in was not approved in time');
  const fresh = await person.fill(over, {});
  expect(numberOn(fresh)).not.toBe('');
  const [second] = (await device.waiting()).body;
  expect((await device.approve(second.id, numberOn(fresh))).status).toBe(204);
  expect(inApplication(await look(person))).toBe(true);
});

test('another person’s device, another realm’s, and one with another challenge approve nothing', async () => {
  const device = await phone();
  const theirs = await phone(bob);
  const elsewhere = `${realm}-other`;
  const [stranger = ''] = await makePeopledRealm(server, elsewhere, ['alice']);
  const foreign = await deviceFor(server, elsewhere, stranger, { clock: seconds });
  const { person, page } = await withPassword();
  const [{ id, challenge }] = (await device.waiting()).body;
  const claims = { challenge, number: numberOn(page) };
  expect((await theirs.read(id)).status).toBe(404);
  expect((await theirs.ask('POST', `/push/${id}/approve`, claims)).status).toBe(404);
  expect((await theirs.ask('POST', `/push/${id}/deny`, claims)).status).toBe(404);
  expect((await foreign.ask('POST', `/push/${id}/approve`, claims)).status).toBe(404);
  expect((await foreign.ask('POST', `${device.realm}/push/${id}/approve`, claims)).status).toBe(401);
  expect((await device.ask('POST', `/push/${id}/approve`, { ...claims, challenge: 'x' })).status).toBe(400);
  expect(numberOn(await look(person))).toBe(numberOn(page));
});

test('of two devices the first decides; one that is removed before the end has approved nothing', async () => {
  const [first, second] = [await phone(), await phone()];
  const { person, page } = await withPassword();
  const [{ id }] = (await first.waiting()).body;
  expect((await second.waiting()).body).toHaveLength(1);
  const approved = await Promise.all([first.approve(id, numberOn(page)), second.approve(id, numberOn(page))]);
  expect(approved.map(({ status }) => status).sort()).toEqual([204, 409]);
  const { body = [] } = await server.admin.call(listCredentials, { params: { realm, userId: alice } });
  for (const { id: device, type } of body)
    if (type === 'device')
      await server.admin.call(deleteCredential, { params: { realm, userId: alice, type, id: device } });
  expect(inApplication(await look(person))).toBe(false);
});

test('a device is set up in the sign-in that asks for one, once the person has said that it is theirs', async () => {
  const { person, page } = await withPassword('bob');
  expect(page.heading).toBe('Set up a device');
  const device = await createDevice(addressOn(page), { name: 'Bob’s phone', clock: seconds });
  expect(addressOn(await look(person))).toBe(addressOn(page));
  expect((await person.fill(page, { device: 'mine' })).heading).toContain('Set up a device');
  expect((await device.enrol()).body).toMatchObject({ status: 'pending' });
  expect((await device.waiting()).status).toBe(401);
  const confirm = await look(person);
  expect(confirm.heading).toBe('Is this your device?');
  expect(confirm.text).toContain('Bob’s phone');
  expect(inApplication(await person.fill(confirm, {}))).toBe(true);
  expect(await device.waiting()).toEqual({ status: 200, body: [] });
});

test('a device that was enrolled is not set up where the password has changed before it was confirmed', async () => {
  const { person, page } = await withPassword('bob');
  const device = await createDevice(addressOn(page), { clock: seconds });
  await device.enrol();
  const confirm = await look(person);
  await server.admin.call(setPassword, { params: { realm, userId: bob }, body: { password: `${PASSWORD} again` } });
  expect(inApplication(await person.fill(confirm, {}))).toBe(false);
  const { body = [] } = await server.admin.call(listCredentials, { params: { realm, userId: bob } });
  expect(body.map(({ type }) => type)).toEqual(['password']);
  expect((await device.waiting()).status).toBe(401);
});

test('CONFIGURE_DEVICE asks people to set up a device', async () => {
  const executions: ExecutionInput[] = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  const body = { requiredActions: ['CONFIGURE_DEVICE' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId: bob }, body });
  const { person, page } = await withPassword('bob');
  const device = await createDevice(addressOn(page), { clock: seconds });
  await device.enrol();
  expect(inApplication(await person.fill(await look(person), {}))).toBe(true);
});
