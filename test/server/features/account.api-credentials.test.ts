// Owns: ways to sign in, set up and removed by the account API.
// Does not own: who may ask, and when (account.api.test.ts); signing in by them (the authenticators' tests).
// Implements: specification 4.11; decisions "Enrolment".
import { expect, test } from 'vitest';
import { createAccountCaller } from '../../support/account-api.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let realm = '';
let account: ReturnType<typeof createAccountCaller>;
const { later, seconds } = freshRealms('ways', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  account = createAccountCaller(server, realm);
  await account.make();
});
type Me = Awaited<ReturnType<typeof account.byToken>>;
const typesOf = async (me: Me) =>
  (Object((await me('GET', 'credentials')).body) as { type: string }[]).map(({ type }) => type).sort();
const idOf = async (me: Me, type: string) =>
  (Object((await me('GET', 'credentials')).body) as { type: string; id: string }[]).find((one) => one.type === type)
    ?.id;
async function setUpOtp(me: Me) {
  const started = Object((await me('POST', 'credentials/otp/start')).body);
  expect(started.address).toContain(`secret=${started.secret}`);
  const code = codeAt(started.secret, seconds() * 1000);
  return { ...started, made: await me('POST', 'credentials/otp', { ticket: started.ticket, code, label: 'Phone' }) };
}

test('an authenticator app is set up by its first code, and from then on changes ask for it too', async () => {
  const me = await account.byToken();
  const { ticket } = Object((await me('POST', 'credentials/otp/start')).body);
  expect((await me('POST', 'credentials/otp', { ticket, code: '000000' })).status).toBe(400);
  const { made, secret } = await setUpOtp(me);
  expect(made.status).toBe(201);
  expect(await typesOf(me)).toEqual(['otp', 'password']);
  // The token was got by the password alone.
  const refused = await me('DELETE', `credentials/otp/${Object(made.body).id}`);
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('acr_values="2"'),
  ]);
  later(31_000);
  const person = createPerson(server.baseUrl);
  const asked = await person.open(`/realms/${realm}/login?for=account`);
  const otp = await person.fill(asked, { username: 'ada', password: 'three wet umbrellas' });
  await person.fill(otp, { code: codeAt(secret, seconds() * 1000) });
  const strong = await account.byToken({ acr_values: '2', max_age: '300' }, 'ada', person);
  expect((await strong('DELETE', `credentials/otp/${Object(made.body).id}`)).status).toBe(204);
  expect(await typesOf(await account.byToken())).toEqual(['password']);
});

test('a passkey is set up by what a browser made for this realm, this person and this moment', async () => {
  const me = await account.byToken();
  const started = async () => Object((await me('POST', 'credentials/webauthn/start')).body);
  const first = await started();
  const elsewhere = createSoftPasskey('https://elsewhere.example').create(first.publicKey);
  expect((await me('POST', 'credentials/webauthn', { ticket: first.ticket, response: elsewhere })).status).toBe(400);
  const key = createSoftPasskey(new URL(server.baseUrl).origin);
  const body = { ticket: first.ticket, response: key.create(first.publicKey), label: 'Laptop' };
  const again = await started();
  expect((await me('POST', 'credentials/webauthn', { ...body, ticket: again.ticket })).status).toBe(400);
  expect((await me('POST', 'credentials/webauthn', body)).status).toBe(201);
  expect(await typesOf(me)).toEqual(['password', 'webauthn']);
});

test('recovery codes are shown once, and take the place of those before', async () => {
  const me = await account.byToken();
  const first = Object((await me('POST', 'credentials/recovery-codes')).body);
  expect(first.codes).toHaveLength(10);
  const second = await account.byToken({ max_age: '300' });
  const next = Object((await second('POST', 'credentials/recovery-codes')).body);
  expect(next.codes).not.toEqual(expect.arrayContaining(first.codes));
  expect(await typesOf(second)).toEqual(['password', 'recovery-codes']);
});

test('a device is enrolled by a token that the person makes', async () => {
  const me = await account.byToken();
  const { token, url } = Object((await me('POST', 'enrollment-tokens')).body);
  expect(url).toContain(`#${token}`);
  const begun = await fetch(`${server.baseUrl}/realms/${realm}/device/enroll/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await begun.json()).toMatchObject({ username: 'ada' });
});

test('what is the last to say who somebody is stays, and so does what is somebody else’s', async () => {
  await account.make({ username: 'bob' });
  const [me, bob] = [await account.byToken(), await account.byToken({}, 'bob')];
  await me('POST', 'credentials/recovery-codes');
  expect((await me('DELETE', `credentials/password/${await idOf(me, 'password')}`)).status).toBe(409);
  const theirs = await idOf(me, 'recovery-codes');
  expect((await bob('DELETE', `credentials/recovery-codes/${theirs}`)).status).toBe(404);
  expect((await me('DELETE', `credentials/otp/${theirs}`)).status).toBe(404);
  expect((await me('DELETE', `identities/${theirs}`)).status).toBe(404);
  expect((await me('GET', 'identities')).body).toEqual([]);
});

test('each way to sign in takes a sign-in of a moment ago to change', async () => {
  const me = await account.byToken();
  const id = await idOf(me, 'password');
  later(301_000);
  for (const [method, path] of [
    ['POST', 'credentials/otp/start'],
    ['POST', 'credentials/webauthn/start'],
    ['POST', 'credentials/recovery-codes'],
    ['POST', 'enrollment-tokens'],
    ['DELETE', `credentials/password/${id}`],
    ['DELETE', `identities/${id}`],
  ] as const)
    expect((await me(method, path)).body, path).toMatchObject({ type: 'urn:svc:problem:reauthentication-required' });
});
