// Owns: a passkey's signature that is sent again, by a second click or by somebody who captured the request: it counts once, on all
// replicas, for a few minutes, and in no page that another origin shows in a frame.
// Does not own: what a passkey proves (passkeys.test.ts), second clicks with passwords and codes (sign-in.twice.test.ts).
// Implements: WebAuthn Level 3 §7.2 (steps on challenge and crossOrigin), §13.4.3.
import { afterAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { listCredentials, putRequiredActions, setPassword } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { authorizePath, CALLBACK, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startReplica, startTestServer, type TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let replica: Awaited<ReturnType<typeof startReplica>> | undefined;
let realm = '';
let userId = '';
let handle = '';
let account: ReturnType<typeof createAccountCaller>;
let key: ReturnType<typeof createSoftPasskey>;
const { later, seconds } = freshRealms('once', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  replica ??= await startReplica(server);
  key = softKey();
  account = createAccountCaller(server, realm);
  userId = await account.make();
});
afterAll(() => replica?.app.stop());
const otherUrl = () => replica?.baseUrl ?? '';

/** Its counter stays 0: nothing but the challenge says that a signature is an old one. */
const softKey = (client = {}) => createSoftPasskey(new URL(server.baseUrl).origin, { counts: false, client });
const flow = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const passkeyAlone = () => flow([{ authenticatorId: 'webauthn', requirement: 'REQUIRED' }]);
const passkeyAfterPassword = () =>
  flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'webauthn', requirement: 'REQUIRED' },
  ]);
/** By a session with a second factor, which may set up another one. */
async function withApp() {
  const ada = createPerson(server.baseUrl);
  const asked = await ada.open(authorizePath(realm, 'manager', newVerifier(), { acr_values: '2' }));
  const page = await ada.fill(asked, { username: 'ada', password: PASSWORD });
  await ada.fill(page, { code: codeAt(secretOn(page), seconds() * 1000) });
  return account.bySession('ada', ada);
}
async function setUpPasskey(by = account.byToken()) {
  const me = await by;
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  handle = publicKey.user.id;
  const sent = { ticket, response: key.create(publicKey) };
  expect((await me('POST', 'credentials/webauthn', sent)).status).toBe(201);
  return { me, sent };
}
const twinOf = ({ jar }: Person, baseUrl = server.baseUrl): Person => {
  const twin = createPerson(baseUrl);
  for (const [name, value] of jar) twin.jar.set(name, value);
  return twin;
};
const sessions = async () => (await server.admin.call(listSessions, { params: { realm } })).body?.length;
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => Object(data).reason,
  );
const answerTo = (page: ShownPage) => answerByPasskey(key, page, handle);
const toApplication = () => authorizePath(realm, 'manager', newVerifier());
const spent = async () =>
  (await server.pool.query('select from spent_proof where realm_id = $1', [realm])).rowCount ?? 0;

test('a sign-in that was captured whole is of no use, at once or later, before or after a new password', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const ada = createPerson(server.baseUrl);
  const page = await ada.open(toApplication());
  const captured = twinOf(ada);
  const form = answerTo(page);
  const before = (await sessions()) ?? 0;
  expect((await ada.fill(page, form)).url.startsWith(CALLBACK)).toBe(true);
  for (let i = 0; i < 3; i += 1) {
    const thief = twinOf(captured);
    const shown = await thief.fill(page, form);
    expect([shown.url.startsWith(CALLBACK), shown.text.includes('was sent before')]).toEqual([false, true]);
  }
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: 'four dry parasols' } });
  later(6 * 60_000);
  expect((await twinOf(captured).fill(page, form)).url.startsWith(CALLBACK)).toBe(false);
  expect((await sessions()) ?? 0).toBeLessThanOrEqual(before + 1);
  expect(await failures()).toEqual(['passkey-late', 'passkey-used', 'passkey-used', 'passkey-used']);
});

test('of two that are sent at once to two replicas one signs in', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const before = (await sessions()) ?? 0;
  for (let round = 1; round <= 5; round += 1) {
    const ada = createPerson(server.baseUrl);
    const page = await ada.open(toApplication());
    const form = answerTo(page);
    const elsewhere = twinOf(ada, otherUrl());
    const there = { ...page, url: page.url.replace(server.baseUrl, otherUrl()) };
    const landed = await Promise.all([
      ada.fill(page, form),
      elsewhere.fill(there, form),
      twinOf(ada).fill(page, form),
      twinOf(elsewhere, otherUrl()).fill(there, form),
    ]);
    expect(landed.filter(({ url }) => url.startsWith(CALLBACK))).toHaveLength(1);
    expect(await sessions()).toBe(before + round);
  }
});

test('whoever looks at pages, or sends what no passkey signed, leaves no challenge behind', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const before = await spent();
  const eve = createPerson(server.baseUrl);
  const page = await eve.open(toApplication());
  await eve.open(toApplication());
  const { response, ...rest } = JSON.parse(answerTo(page).passkey ?? '{}');
  const forged = { ...rest, response: { ...response, signature: Buffer.alloc(70).toString('base64url') } };
  expect((await eve.fill(page, { passkey: JSON.stringify(forged) })).text).toContain('can’t be used here');
  expect(await spent()).toBe(before);
});

test('the page that comes back after a refusal can be answered by the same passkey', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const ada = createPerson(server.baseUrl);
  const page = await ada.open(toApplication());
  later(5 * 60_000 + 1);
  const again = await ada.fill(page, answerTo(page));
  expect(again.text).toContain('was used too late');
  expect((await ada.fill(again, answerTo(again))).url.startsWith(CALLBACK)).toBe(true);
});

test('a challenge of one page is none of another sign-in, and each page has its own', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const [ada, eve] = [createPerson(server.baseUrl), createPerson(server.baseUrl)];
  const page = await ada.open(toApplication());
  const challengeOf = ({ text }: ShownPage) => /challenge&quot;:&quot;([\w-]+)/.exec(text)?.[1] ?? '';
  const same = await ada.open(new URL(page.url).pathname + new URL(page.url).search);
  expect(challengeOf(page)).toMatch(/^[\w-]{70,}$/);
  expect(challengeOf(same)).not.toBe(challengeOf(page));
  const other = await eve.open(toApplication());
  expect((await eve.fill(other, answerTo(page))).text).toContain('can’t be used here');
  expect((await ada.fill(page, answerTo(page))).url.startsWith(CALLBACK)).toBe(true);
});

test('a passkey as a second factor counts once too, within the minute of a second click', async () => {
  await setUpPasskey();
  await passkeyAfterPassword();
  const ada = createPerson(server.baseUrl);
  const page = await ada.fill(await ada.open(toApplication()), { username: 'ada', password: PASSWORD });
  const captured = twinOf(ada);
  const form = answerTo(page);
  const before = (await sessions()) ?? 0;
  expect((await ada.fill(page, form)).url.startsWith(CALLBACK)).toBe(true);
  for (const baseUrl of [server.baseUrl, otherUrl()]) {
    const there = { ...page, url: page.url.replace(server.baseUrl, baseUrl) };
    expect((await twinOf(captured, baseUrl).fill(there, form)).url.startsWith(CALLBACK)).toBe(false);
  }
  expect(await sessions()).toBe(before + 1);
});

test('nobody follows a sign-in that goes on after a passkey by sending its form again', async () => {
  await setUpPasskey(withApp());
  await flow([
    { authenticatorId: 'webauthn', requirement: 'REQUIRED' },
    { authenticatorId: 'otp', requirement: 'REQUIRED' },
  ]);
  const ada = createPerson(server.baseUrl);
  const page = await ada.open(toApplication());
  const thief = twinOf(ada);
  const form = answerTo(page);
  expect((await ada.fill(page, form)).heading).toBe('Enter your code');
  expect((await thief.fill(page, form)).heading).not.toBe('Enter your code');
});

test('the page that is last behind a passkey ends one sign-in, with the cookies of that page too', async () => {
  await setUpPasskey();
  await passkeyAlone();
  const body = { requiredActions: ['UPDATE_PROFILE' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId }, body });
  const ada = createPerson(server.baseUrl);
  const asked = await ada.open(toApplication());
  const page = await ada.fill(asked, answerTo(asked));
  expect(page.heading).toBe('Your profile');
  const captured = twinOf(ada);
  const form = { firstName: 'Ada', lastName: 'Lovelace' };
  expect((await ada.fill(page, form)).url.startsWith(CALLBACK)).toBe(true);
  const before = await sessions();
  for (const baseUrl of [server.baseUrl, otherUrl()]) {
    const there = { ...page, url: page.url.replace(server.baseUrl, baseUrl) };
    expect((await twinOf(captured, baseUrl).fill(there, form)).heading).toBe('Use your passkey');
  }
  expect(await sessions()).toBe(before);
  // Who clicked twice has the first answer's cookies, and goes on.
  expect((await ada.fill(page, form)).url.startsWith(CALLBACK)).toBe(true);
  expect(await sessions()).toBe(before);
});

test.each([
  { client: { crossOrigin: true } },
  { client: { crossOrigin: true, topOrigin: 'https://evil.example' } },
  { client: { topOrigin: 'https://evil.example' } },
])(
  'a page of another origin that shows ours in a frame signs nobody in, and sets nothing up: %j',
  async ({ client }) => {
    const me = await account.byToken();
    const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
    const framed = createSoftPasskey(new URL(server.baseUrl).origin, { client });
    const refused = await me('POST', 'credentials/webauthn', { ticket, response: framed.create(publicKey) });
    expect(refused.status).toBe(400);

    let said: object = {};
    key = createSoftPasskey(new URL(server.baseUrl).origin, {
      client: {
        get crossOrigin() {
          return Reflect.get(said, 'crossOrigin') ?? false;
        },
        get topOrigin() {
          return Reflect.get(said, 'topOrigin');
        },
      },
    });
    await setUpPasskey();
    await passkeyAlone();
    said = client;
    const ada = createPerson(server.baseUrl);
    const page = await ada.open(toApplication());
    const shown = await ada.fill(page, answerTo(page));
    expect(shown.url.startsWith(CALLBACK)).toBe(false);
    expect(await failures()).toEqual(['passkey-cross-origin']);
  },
);

test('a ticket of the account API sets one passkey up, and none again after it was removed', async () => {
  const { me, sent } = await setUpPasskey(withApp());
  const second = createSoftPasskey(new URL(server.baseUrl).origin);
  const { publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  const { challenge } = JSON.parse(Buffer.from(sent.response.response.clientDataJSON, 'base64url').toString());
  const another = { ticket: sent.ticket, response: second.create({ ...publicKey, challenge }) };
  const again = await me('POST', 'credentials/webauthn', another);
  expect([again.status, Object(again.body).errors]).toEqual([400, [{ path: 'ticket', message: 'was used already' }]]);
  const { body: held } = await server.admin.call(listCredentials, { params: { realm, userId } });
  const [passkey] = held?.filter(({ type }) => type === 'webauthn') ?? [];
  expect((await me('DELETE', `credentials/webauthn/${passkey?.id}`)).status).toBe(204);
  expect((await me('POST', 'credentials/webauthn', sent)).status).toBe(400);
});

test('a ticket of the account API sets one authenticator app up, also by another spelling', async () => {
  const me = await withApp();
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  const code = () => codeAt(secret, seconds() * 1000);
  expect((await me('POST', 'credentials/otp', { ticket, code: code() })).status).toBe(201);
  later(30_000);
  for (const spelled of [ticket, `${ticket}=`, `${ticket}==`, `${ticket} `])
    expect((await me('POST', 'credentials/otp', { ticket: spelled, code: code() })).status).toBe(400);
});
