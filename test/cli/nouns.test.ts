// Nouns that are in no realm document, or below another one: made, listed and deleted from a terminal.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerPushToken } from '../../server/contract/messages.ts';
import { createUser } from '../../server/contract/users.ts';
import { makeRealm } from '../support/clients.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

async function run(...args: string[]): Promise<string> {
  const done = await realmctl(asOperator(server), [...args, '-r', 'acme']);
  expect(done, done.stderr).toMatchObject({ code: 0 });
  return done.stdout;
}
const made = async (...args: string[]) => JSON.parse(await run('create', ...args, '-o', 'json'));
const names = async (noun: string, ...of: string[]) =>
  (await run('get', noun, ...of, '-o', 'name')).split('\n').filter(Boolean);

test('somebody is invited, is listed until they come, and is uninvited', async () => {
  const { id, link } = await made('invitation', '--email', 'ada@example.com', '--mail', 'false');
  expect(link).toContain('/realms/acme/login/invitation');
  expect(await run('get', 'invitations')).toMatch(/ada@example\.com +no +/);
  await run('delete', 'invitation', id, '--yes');
  expect(await names('invitations')).toEqual([]);
});

test('a token that registers clients is shown once and taken back', async () => {
  const { id, token } = await made('initial-access-token', '--uses', '3');
  expect(token).toMatch(/^svc_iat_/);
  const listed = await run('get', 'initial-access-tokens');
  expect(listed).toMatch(/ 3 /);
  expect(listed).not.toContain(token);
  await run('delete', 'initial-access-token', id, '--yes');
  expect(await names('initial-access-tokens')).toEqual([]);
});

test('a role of a client is made, described, changed and deleted', async () => {
  await run('create', 'client', '--client-id', 'till');
  await run('create', 'client-role', 'till', '--name', 'teller', '--description', 'May sell');
  expect(await run('get', 'client-roles', 'till')).toMatch(/teller +.*May sell/);
  expect(await run('describe', 'client-role', 'till', 'teller')).toContain('May sell');
  await run('delete', 'client-role', 'till', 'teller', '--yes');
  expect(await names('client-roles', 'till')).toEqual([]);
});

test('devices that push messages reach are listed and removed, and messages are listed', async () => {
  const { body } = await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'ana' } });
  const device = { userId: body?.id ?? '', platform: 'fcm' as const, token: 'token-of-a-device' };
  const { body: pushed } = await server.admin.call(registerPushToken, { params: { realm: 'acme' }, body: device });
  const id = pushed?.id ?? '';
  expect(await names('push-tokens')).toEqual([id]);
  await run('delete', 'push-token', id, '--yes');
  expect(await names('push-tokens')).toEqual([]);
  expect(await names('messages')).toEqual([]);
});
