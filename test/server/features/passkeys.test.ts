// Owns: signing in by a passkey over HTTP: in the flow of the examples, and what it costs.
// Does not own: what browsers do with passkeys (browser/passkeys.test.ts), setting one up by the account API.
// Implements: specification 2.1, 2.2; the example crds/examples/3-flow.yaml.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { PASSWORD } from '../../support/applications.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, decode, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let realm = '';
/** As the server names the person to their authenticator. */
let handle = '';
let account: ReturnType<typeof createAccountCaller>;
let key: ReturnType<typeof createSoftPasskey>;
const { later, seconds } = freshRealms('keys', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  key = createSoftPasskey(new URL(server.baseUrl).origin);
  account = createAccountCaller(server, realm);
  await account.make();
});

/** Passwords that were given to the threads that hash. */
let hashed = 0;
const { postMessage } = Worker.prototype;
beforeAll(() => {
  Worker.prototype.postMessage = function (this: Worker, ...of: Parameters<typeof postMessage>) {
    if (JSON.stringify(of[0]).includes('"plain"')) hashed += 1;
    return postMessage.apply(this, of);
  };
});
afterAll(() => {
  Worker.prototype.postMessage = postMessage;
});

const flow = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const example = (): ExecutionInput[] => {
  const { spec } = parse(readFileSync('crds/examples/3-flow.yaml', 'utf8'));
  return z.array(ExecutionInput).parse(spec.executions);
};
async function setUpPasskey() {
  const me = await account.byToken();
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  handle = publicKey.user.id;
  expect((await me('POST', 'credentials/webauthn', { ticket, response: key.create(publicKey) })).status).toBe(201);
}
const answerTo = (page: ShownPage) => answerByPasskey(key, page, handle);
const login = () => `/realms/${realm}/login?for=account`;

test('in the flow of the examples a passkey is enough, and so is a password with the code of an app', async () => {
  await setUpPasskey();
  await account.make({ username: 'bob' });
  const me = await account.byToken({}, 'bob');
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  await me('POST', 'credentials/otp', { ticket, code: codeAt(secret, seconds() * 1000) });
  await flow(example());
  const alone = createPerson(server.baseUrl);
  const page = await alone.open(login());
  expect([page.heading, page.text.includes('Sign in with a passkey')]).toEqual(['Sign in', true]);
  expect((await alone.fill(page, answerTo(page))).url).toContain('/account');

  later(31_000);
  const other = createPerson(server.baseUrl);
  const asked = await other.fill(await other.open(login()), { username: 'bob', password: PASSWORD });
  expect(asked.url).not.toContain('/account');
  expect(asked.fields).toHaveProperty('code');
  expect((await other.fill(asked, { code: codeAt(secret, seconds() * 1000) })).url).toContain('/account');
});

test('a page offers a passkey once, though the flow has it in several places', async () => {
  await setUpPasskey();
  await flow(example());
  const first = createPerson(server.baseUrl);
  const page = await first.open(login());
  await first.fill(page, answerTo(page));
  const me = await account.bySession('ada', first);
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  expect((await me('POST', 'credentials/otp', { ticket, code: codeAt(secret, seconds() * 1000) })).status).toBe(201);
  const ada = createPerson(server.baseUrl);
  const asked = await ada.fill(await ada.open(login()), { username: 'ada', password: PASSWORD });
  expect(asked.fields).toHaveProperty('code');
  expect(asked.text.match(/>(?:Sign in|Continue) with a passkey</g)).toHaveLength(1);
});

test('in the flow of the examples whoever has a password alone signs in by it', async () => {
  await flow(example());
  const ada = createPerson(server.baseUrl);
  const page = await ada.fill(await ada.open(login()), { username: 'ada', password: PASSWORD });
  expect(page.url).toContain('/account');
});

test('a sign-in by a passkey hashes no password', async () => {
  await setUpPasskey();
  await flow([{ authenticatorId: 'webauthn', requirement: 'REQUIRED' }]);
  const ada = createPerson(server.baseUrl);
  hashed = 0;
  const page = await ada.open(login());
  expect((await ada.fill(page, answerTo(page))).url).toContain('/account');
  key = createSoftPasskey(new URL(server.baseUrl).origin);
  const eve = createPerson(server.baseUrl);
  const asked = await eve.open(login());
  expect((await eve.fill(asked, answerTo(asked))).text).toContain('This passkey can’t be used here');
  expect(hashed).toBe(0);
});

test('a passkey that is set up in the sign-in knows its user where the flow asks for that', async () => {
  await flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'webauthn', requirement: 'REQUIRED', config: { userVerification: 'required' } },
  ]);
  const ada = createPerson(server.baseUrl);
  const page = await ada.fill(await ada.open(login()), { username: 'ada', password: PASSWORD });
  const setUp = (shown: ShownPage, verifies: boolean) => {
    const [, options = ''] = /data-passkey="([^"]*)"/.exec(shown.text) ?? [];
    const creation = JSON.parse(decode(options));
    expect(creation.authenticatorSelection.userVerification).toBe('required');
    const passkey = createSoftPasskey(new URL(server.baseUrl).origin, { verifies }).create(creation);
    return ada.fill(shown, { passkey: JSON.stringify(passkey) });
  };
  const again = await setUp(page, false);
  expect(again.url).not.toContain('/account');
  expect((await setUp(again, true)).url).toContain('/account');
});
