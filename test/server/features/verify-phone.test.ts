// Owns: phone numbers that people confirm themselves, by sign-in, account page and account API, and remove again.
// Does not own: codes by SMS as a second factor (message-factors.test.ts), numbers in a profile (account.api.test.ts).
// Implements: specification 2.2 (sms-otp), 4.6.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { eventually } from '../../support/operator.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const NUMBER = '+491701234567';
let server: TestServer;
let receiver: Receiver;
let realm = '';
let userId = '';
let realms = 0;
/** By how many milliseconds the server's clock is. */
let ahead = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: receiver.caFile, SVC_TRUST_PROXY: '127.0.0.1' },
    retryDelaysSeconds: [0, 0],
    now: () => new Date(Date.now() + ahead),
  });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(async () => {
  realms += 1;
  realm = `phones${realms}`;
  receiver.received.length = 0;
  receiver.answer = () => ({});
  await makePeopledRealm(server, realm, []);
  const { body } = await server.admin.call(createUser, {
    params: { realm },
    body: { username: 'ada', password: PASSWORD },
  });
  userId = body?.id ?? '';
  await sendsSms();
});

const sendsSms = () =>
  server.admin.call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'SMS', driver: 'http', config: { url: receiver.url } },
  });
const signIn = async (who: Person) =>
  who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password: PASSWORD });
const attributes = async () => (await server.admin.call(getUser, { params: { realm, userId } })).body?.attributes;
/** Of the last message to somebody. */
async function code(to = NUMBER, count = 1): Promise<string> {
  await eventually(async () => expect(receiver.received).toHaveLength(count));
  const said = String(receiver.received[count - 1]?.raw);
  expect(said).toContain(to);
  return /\b(?:\d{8}|\d{6})\b/.exec(said)?.[0] ?? '';
}
const wrongOf = (right: string) => String((Number(right) + 1) % 100_000_000).padStart(8, '0');
async function change(who: Person): Promise<ShownPage> {
  const { fields } = await who.open(`/realms/${realm}/account`);
  return who.post(`/realms/${realm}/account/change`, { csrf: fields.csrf ?? '', action: 'VERIFY_PHONE' });
}
async function api(who: Person, method: string, body?: object, from?: string) {
  const at = `/realms/${realm}/account/phone`;
  const token = (await who.once(at, { headers: { accept: 'application/json' } })).headers.get('x-xsrf-token') ?? '';
  const answer = await who.once(at, {
    method,
    headers: {
      'x-xsrf-token': token,
      ...(body && { 'content-type': 'application/json' }),
      ...(from !== undefined && { 'x-forwarded-for': from }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}
const requireSms = () =>
  server.admin.call(putFlow, {
    params: { realm, alias: 'browser' },
    body: {
      executions: [
        { authenticatorId: 'username-password', requirement: 'REQUIRED' },
        { authenticatorId: 'sms-otp', requirement: 'REQUIRED' },
      ],
    },
  });

test('a person confirms a number on their account page, and signs in with codes that go there', async () => {
  const ada = createPerson(server.baseUrl);
  await signIn(ada);
  const security = await ada.open(`/realms/${realm}/account?view=security`);
  expect(security.text).toContain('No phone number is confirmed');
  const page = await change(ada);
  expect(page.heading).toBe('Confirm your phone number');
  const sent = await ada.fill(page, { phone: '+49 (170) 123-45 67' });
  expect(sent.text).toContain(NUMBER);
  const right = await code();
  expect(await attributes()).toEqual({});
  expect((await ada.fill(sent, { code: wrongOf(right) })).text).toContain('That code is not right');
  const done = await ada.fill(sent, { code: right });
  expect(done.text).toContain(`<strong><bdi>${NUMBER}</bdi></strong>`);
  expect(await attributes()).toEqual({ phone_number: [NUMBER], phone_number_verified: ['true'] });
  await requireSms();
  const later = createPerson(server.baseUrl);
  const asked = await signIn(later);
  expect(asked.heading).toBe('Enter your code');
  expect((await later.fill(asked, { code: await code(NUMBER, 2) })).url).toContain('/account');
});

test('an administrator asks for it, and nobody is signed in before', async () => {
  await server.admin.call(putUser, { params: { realm, userId }, body: { requiredActions: ['VERIFY_PHONE'] } });
  const ada = createPerson(server.baseUrl);
  const page = await signIn(ada);
  expect(page.heading).toBe('Confirm your phone number');
  expect((await ada.open(`/realms/${realm}/account`)).heading).not.toBe('ada');
  const sent = await ada.fill(page, { phone: NUMBER });
  expect((await ada.fill(sent, { code: await code() })).url).toContain('/account');
  expect((await server.admin.call(getUser, { params: { realm, userId } })).body?.requiredActions).toEqual([]);
});

test.each(['12345', '0170 1234567', '+49 170 abc', '+0123456789'])(
  '%s is no number, and nothing is sent',
  async (phone) => {
    const ada = createPerson(server.baseUrl);
    await signIn(ada);
    const refused = await ada.fill(await change(ada), { phone });
    expect(refused.text).toContain('must be a number with its country');
    expect((await api(ada, 'POST', { number: phone })).status).toBe(400);
    expect(receiver.received).toEqual([]);
  },
);

test('another number is good once it is confirmed, and a code for one confirms no other', async () => {
  const confirmed = { phone_number: [NUMBER], phone_number_verified: ['true'] };
  await server.admin.call(putUser, { params: { realm, userId }, body: { attributes: confirmed } });
  const ada = createPerson(server.baseUrl);
  await signIn(ada);
  const refused = await ada.fill(await change(ada), { phone: NUMBER });
  expect(refused.text).toContain('That is your number already');
  const sent = await ada.fill(refused, { phone: '+491709999999' });
  const first = await code('+491709999999');
  expect(await attributes()).toEqual(confirmed);
  const other = await ada.fill(sent, { other: '1' });
  expect(other.heading).toBe('Confirm your phone number');
  const again = await ada.fill(other, { phone: '+491708888888' });
  const second = await code('+491708888888', 2);
  if (first !== second) expect((await ada.fill(again, { code: first })).text).toContain('That code is not right');
  await ada.fill(again, { code: second });
  expect(await attributes()).toEqual({ phone_number: ['+491708888888'], phone_number_verified: ['true'] });
});

test('by the account API the same: a code, one try that is wrong, the number, and its removal', async () => {
  const ada = createPerson(server.baseUrl);
  const other = createPerson(server.baseUrl);
  await signIn(ada);
  await signIn(other);
  expect((await api(ada, 'GET')).body).toEqual({ number: null, verified: false, mayChange: true });
  expect((await api(ada, 'DELETE')).status).toBe(404);
  const started = await api(ada, 'POST', { number: NUMBER });
  expect(started.status).toBe(202);
  const right = await code();
  const { ticket } = started.body;
  expect((await api(ada, 'PUT', { ticket, code: wrongOf(right) })).status).toBe(400);
  expect((await api(ada, 'PUT', { ticket: `${ticket}x`, code: right })).status).toBe(400);
  expect((await api(ada, 'PUT', { ticket, code: right })).status).toBe(204);
  expect((await api(ada, 'GET')).body).toEqual({ number: NUMBER, verified: true, mayChange: true });
  const twice = await api(ada, 'PUT', { ticket, code: right });
  expect([twice.status, twice.body.errors]).toEqual([400, [{ path: 'ticket', message: 'was used already' }]]);
  expect((await api(ada, 'POST', { number: NUMBER })).status).toBe(400);
  expect((await api(ada, 'DELETE')).status).toBe(204);
  expect(await attributes()).toEqual({ phone_number: [NUMBER] });
  expect((await server.admin.call(listSessions, { params: { realm } })).body).toHaveLength(1);
  expect((await ada.open(`/realms/${realm}/account`)).heading).toBe('ada');
});

test('a number that became somebody else’s subject meanwhile is refused by the name of the field', async () => {
  const body = { subjectStrategy: 'attribute' as const, subjectAttribute: 'phone_number' };
  await server.admin.call(putSettings, { params: { realm }, body });
  const ada = createPerson(server.baseUrl);
  await signIn(ada);
  const { ticket } = (await api(ada, 'POST', { number: NUMBER })).body;
  const right = await code();
  const bob = { username: 'bob', attributes: { phone_number: [NUMBER] } };
  await server.admin.call(createUser, { params: { realm }, body: bob });
  const refused = await api(ada, 'PUT', { ticket, code: right });
  expect([refused.status, refused.body.errors]).toMatchObject([400, [{ path: 'ticket' }]]);
  expect(await attributes()).toEqual({});
});

test('one account has ten SMS sent in an hour, to whatever numbers, from whatever networks, half a minute apart', async () => {
  const hour = 3_600_000;
  const left = hour - ((Date.now() + ahead) % hour);
  // All within one hour, and the administrator's token lives no longer than one.
  if (left < hour / 4) ahead += left + 60_000;
  let ada = createPerson(server.baseUrl);
  await signIn(ada);
  const start = (n: number) => api(ada, 'POST', { number: `+4917012345${10 + n}` }, `192.0.2.${n}`);
  expect((await start(0)).status).toBe(202);
  expect(await start(1)).toMatchObject({
    status: 429,
    body: { detail: 'A code was sent just now: wait before you ask for another one' },
  });
  for (let n = 1; n < 13; n += 1) {
    ahead += 30_000;
    // A sign-in is fresh for some minutes.
    if (n % 4 === 0) {
      ada = createPerson(server.baseUrl);
      await signIn(ada);
    }
    expect((await start(n)).status).toBe(202);
  }
  await eventually(async () => expect(receiver.received).toHaveLength(10));
  const { body } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'MESSAGE_SUPPRESSED' } });
  expect(body?.map(({ data }) => data.reason)).toEqual(Array(3).fill('more than the limit of the person'));
  const { page, who } = await bobChanges();
  await who.fill(page, { phone: NUMBER });
  await code(NUMBER, 11);
});
async function bobChanges() {
  const user = { username: 'bob', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm }, body: user });
  const who = createPerson(server.baseUrl);
  await who.fill(await who.open(`/realms/${realm}/login`), user);
  return { who, page: await change(who) };
}

test('the account page removes it, after which no code is asked for there', async () => {
  const confirmed = { phone_number: [NUMBER], phone_number_verified: ['true'] };
  await server.admin.call(putUser, { params: { realm, userId }, body: { attributes: confirmed } });
  const ada = createPerson(server.baseUrl);
  const page = await signIn(ada);
  const removed = await ada.post(`/realms/${realm}/account/phone/remove`, { csrf: page.fields.csrf ?? '' });
  expect(removed.text).toContain('The way to sign in was removed');
  expect(await attributes()).toEqual({ phone_number: [NUMBER] });
  await requireSms();
  expect((await signIn(createPerson(server.baseUrl))).heading).toBe('A second factor is needed');
});

test('where people may not change it they confirm the one that is there, and no other', async () => {
  const attribute = { name: 'phone_number', view: ['admin', 'user'], edit: ['admin'] };
  await server.admin.call(putUserProfile, {
    params: { realm },
    body: { unmanagedAttributes: 'enabled', attributes: [attribute] } as never,
  });
  await server.admin.call(putUser, { params: { realm, userId }, body: { attributes: { phone_number: [NUMBER] } } });
  const ada = createPerson(server.baseUrl);
  await signIn(ada);
  expect((await api(ada, 'POST', { number: '+491709999999' })).status).toBe(403);
  const sent = await ada.fill(await change(ada), { phone: '+491709999999' });
  expect((await ada.fill(sent, { code: await code(NUMBER) })).text).toContain(`<strong><bdi>${NUMBER}</bdi></strong>`);
  expect(await attributes()).toEqual({ phone_number: [NUMBER], phone_number_verified: ['true'] });
});

test('where the realm sends no SMS nobody is offered it, and who must do it is told to ask', async () => {
  await server.admin.call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'SMS', driver: 'http', config: { url: receiver.url }, enabled: false },
  });
  const ada = createPerson(server.baseUrl);
  expect((await signIn(ada)).text).not.toContain('Confirm a phone number');
  expect((await api(ada, 'POST', { number: NUMBER })).status).toBe(409);
  expect((await change(ada)).text).toContain('Ask your administrator');
});
