// Owns: which applications people see as theirs, on the account page and for programs.
// Does not own: who may sign in to one (applications.test.ts), what one was allowed (account.test.ts).
// Implements: specification 4.11; decisions "Application".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { listUsers, setPassword } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'apps';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, realm, []);
  const wiki = { displayName: 'The wiki', description: 'What everybody knows', url: 'https://wiki.example/' };
  const body = {
    roles: [{ name: 'buyer' }, { name: 'boss', composite: { roles: ['buyer'], clientRoles: {} } }],
    groups: [{ path: '/bosses', roles: ['boss'] }],
    applications: [
      { name: 'zoo' },
      { name: 'wiki', ...wiki, iconUrl: 'https://icons.example/wiki.png' },
      { name: 'shop', url: 'https://shop.example/', roles: ['buyer'] },
      { name: 'hidden', visible: false },
      { name: 'off', enabled: false },
    ],
    users: [{ username: 'ana' }, { username: 'bob', groups: ['/bosses'] }],
  };
  await server.admin.call(importRealm, { params: { realm }, query: { manager: 'git' }, body });
  const { body: people = [] } = await server.admin.call(listUsers, { params: { realm } });
  for (const { id } of people)
    await server.admin.call(setPassword, { params: { realm, userId: id }, body: { password: PASSWORD } });
});
afterAll(() => server?.stop());

async function signedIn(username: string) {
  const browser = createPerson(server.baseUrl);
  await browser.fill(await browser.open(`/realms/${realm}/login?for=account`), { username, password: PASSWORD });
  return browser;
}
async function listed(username: string) {
  const browser = await signedIn(username);
  const answer = await browser.once(`/realms/${realm}/account/applications`, { method: 'GET' });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { name: string }[];
}

test('a person’s applications are those that are for everybody or for a role of theirs, by whatever way they have it', async () => {
  expect(await listed('ana')).toEqual([
    {
      name: 'wiki',
      displayName: 'The wiki',
      description: 'What everybody knows',
      url: 'https://wiki.example/',
      iconUrl: 'https://icons.example/wiki.png',
    },
    { name: 'zoo', displayName: null, description: null, url: null, iconUrl: null },
  ]);
  expect((await listed('bob')).map(({ name }) => name)).toEqual(['shop', 'wiki', 'zoo']);
  const nobody = await createPerson(server.baseUrl).once(`/realms/${realm}/account/applications`, { method: 'GET' });
  expect(nobody.status).toBe(401);
});

test('the account page shows them, with links and pictures, which it may load from there alone', async () => {
  const ana = await signedIn('ana');
  const { text } = await ana.open(`/realms/${realm}/account?view=applications`);
  expect(text).toContain('<h2>Your applications</h2>');
  expect(text).toContain('<a href="https://wiki.example/" rel="noreferrer"><bdi>The wiki</bdi></a>');
  expect(text).toContain('<img class="picture" src="https://icons.example/wiki.png" alt="T" aria-hidden="true"');
  expect(text).toContain('<strong><bdi>zoo</bdi></strong>');
  for (const other of ['shop', 'hidden', 'off']) expect(text).not.toContain(`>${other}<`);
  const page = await ana.once(`/realms/${realm}/account?view=applications`, { method: 'GET' });
  expect(page.headers.get('content-security-policy')).toContain("img-src 'self' data: https://icons.example;");
});

test('whoever reads German reads it in German', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { supportedLocales: ['en', 'de'] } });
  const browser = createPerson(server.baseUrl, { 'accept-language': 'de' });
  await browser.fill(await browser.open(`/realms/${realm}/login?for=account`), { username: 'ana', password: PASSWORD });
  expect((await browser.open(`/realms/${realm}/account?view=applications`)).text).toContain(
    '<h2>Ihre Anwendungen</h2>',
  );
});
