// Owns: the code by which a user permits applications to ask them on their devices.
// Does not own: requests and decisions (backchannel.test.ts), the account API’s sign-in (account.api.test.ts).
// Implements: OpenID Connect CIBA Core 1.0 §7.1 (`user_code`), §13.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CIBA } from '../../../server/contract/oauth.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { createRateLimit } from '../../../server/domain/rate-limit.ts';
import { createUserCodes } from '../../../server/features/people/credentials/user-codes.ts';
import { type AccountCall, createAccountCaller } from '../../support/account-api.ts';
import { basic, makeClient, post, SECRET } from '../../support/clients.ts';
import type { Device } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'codes';
let server: TestServer;
let account: ReturnType<typeof createAccountCaller>;
let device: Device;
let clock = Date.now();

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
  account = createAccountCaller(server, REALM);
  const id = await account.make();
  for (const username of ['bob', 'carol', 'dan']) await account.make({ username });
  expect((await choose(await account.byToken(), '4711')).status).toBe(201);
  device = await deviceFor(server, REALM, id, { clock: () => Math.floor(clock / 1000) });
  for (const [clientId, backchannelUserCodeParameter] of [
    ['careful', true],
    ['plain', false],
  ] as const)
    await makeClient(server, REALM, { clientId, secret: SECRET, grantTypes: [CIBA], backchannelUserCodeParameter });
});
afterAll(() => server?.stop());

const ask = (form: Record<string, string>, clientId = 'careful') =>
  post(
    server,
    REALM,
    'backchannel_authentication',
    { scope: 'openid', login_hint: 'ada', ...form },
    { authorization: basic(clientId) },
  );
const errorOf = async (form: Record<string, string>) => {
  const { status, body } = await ask(form);
  return status === 200 ? 200 : body.error;
};
const waiting = async (): Promise<unknown[]> => (await device.ask('GET', '/backchannel')).body;
const choose = (me: AccountCall, code: string) => me('POST', 'credentials/user-code', { code });

test('a person with the right code is asked; a missing or wrong one asks nobody', async () => {
  expect(await errorOf({})).toBe('missing_user_code');
  expect(await errorOf({ user_code: '' })).toBe('missing_user_code');
  expect(await errorOf({ user_code: '4712' })).toBe('invalid_user_code');
  expect(await waiting()).toEqual([]);
  expect(await errorOf({ user_code: '4711' })).toBe(200);
  expect(await waiting()).toHaveLength(1);
});

test('a client that is not set to send it needs none', async () => {
  const before = (await waiting()).length;
  expect((await ask({ binding_message: 'P' }, 'plain')).status).toBe(200);
  expect(await waiting()).toHaveLength(before + 1);
});

test('an unknown person, and one without a code, are answered like one with another code', async () => {
  for (const login_hint of ['nobody', 'bob', 'ada'])
    expect([login_hint, await errorOf({ login_hint, user_code: '9999' })]).toEqual([login_hint, 'invalid_user_code']);
});

test('a new code takes the place of the old one, and a removed code permits nobody', async () => {
  const me = await account.byToken({}, 'carol');
  const errorWith = (user_code: string, binding_message: string) =>
    errorOf({ login_hint: 'carol', user_code, binding_message });
  await choose(me, '4711');
  expect((await choose(me, 'a new phrase')).status).toBe(201);
  expect(await errorWith('4711', 'A')).toBe('invalid_user_code');
  expect(await errorWith('a new phrase', 'B')).toBe(200);
  const own = (await me('GET', 'credentials')).body as { type: string; id: string }[];
  const codes = own.filter(({ type }) => type === 'user-code');
  expect(codes).toHaveLength(1);
  expect((await me('DELETE', `credentials/user-code/${codes[0]?.id}`)).status).toBe(204);
  expect(await errorWith('a new phrase', 'C')).toBe('invalid_user_code');
});

test('codes of a person are tried ten times in ten minutes, by whatever name the person is called', async () => {
  await choose(await account.byToken({}, 'dan'), '4711');
  const hints = ['dan', 'DAN'];
  for (let n = 0; n < 10; n += 1)
    expect(await errorOf({ login_hint: hints[n % 2] ?? '', user_code: `000${n}` })).toBe('invalid_user_code');
  const right = { login_hint: 'dan', user_code: '4711' };
  expect(await errorOf(right)).toBe('invalid_user_code');
  clock += 601_000;
  expect(await errorOf(right)).toBe(200);
});

test('a try beyond the limit is hashed, too: its time does not tell that two spellings name one user', async () => {
  const passwords = createPasswords({ threads: 1, parameters: { memory: 64, passes: 1, lanes: 1 } });
  let hashed = 0;
  const verify: typeof passwords.verify = (...given) => {
    hashed += 1;
    return passwords.verify(...given);
  };
  const now = () => new Date(clock);
  const sql = sqlOver(server.pool);
  const codes = createUserCodes({ sql, passwords: { ...passwords, verify }, notify: async () => {}, now, newId });
  const attempts = createRateLimit({ limit: 1, now });
  for (let n = 0; n < 3; n += 1)
    expect(await codes.holds(REALM, { userId: null, hint: 'eve' }, '4711', attempts)).toBe(false);
  await passwords.stop();
  expect(hashed).toBe(3);
});

test('a code has at least four characters, and is no way to sign in', async () => {
  const me = await account.byToken({}, 'bob');
  expect((await choose(me, '123')).status).toBe(400);
  expect((await choose(me, '1234')).status).toBe(201);
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${REALM}/login?for=account`);
  const next = await person.fill(page, { username: 'bob', password: '1234' });
  expect(next.heading).toBe('Sign in');
  // It is no second factor either: the token was got by the password alone.
  expect((await choose(me, '12345')).status).toBe(201);
});
