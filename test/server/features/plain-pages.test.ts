// Owns: that a realm's own CSS stays away from pages that show secrets, ask for consent or for a new password.
// Does not own: the theme otherwise (http/pages.unit.test.ts).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'acme' };
const customCss = 'code { background: url(https://logo.example/read) }';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  const body = { requireMfa: true, customCss, logoUrl: 'https://*.example/logo.png' };
  await server.admin.call(putSettings, { params, body });
  const user = { username: 'ada', password: PASSWORD };
  await server.admin.call(createUser, { params, body: user });
  await server.admin.call(createUser, { params, body: { ...user, username: 'new', passwordTemporary: true } });
});
afterAll(() => server?.stop());

const sheetOf = (text: string) => /href="(\/realms\/acme\/[a-z]+\.css[^"]*)"/.exec(text)?.[1] ?? '';

test('the page of an authenticator’s secret has the realm’s colours alone, and may ask no other host', async () => {
  const ada = createPerson(server.baseUrl);
  const first = await ada.open('/realms/acme/login');
  expect(await (await ada.once(sheetOf(first.text))).text()).toContain(customCss);
  expect(first.headers.get('content-security-policy')).toMatch(/img-src 'self' data:;/);
  const enrolment = await ada.fill(first, { username: 'ada', password: PASSWORD });
  expect(enrolment.heading).toBe('Set up a second factor');
  const css = await (await ada.once(sheetOf(enrolment.text))).text();
  expect(css).toContain('--primary');
  expect(css).not.toContain('url(');
});

test('so has the page of a new password', async () => {
  await server.admin.call(putSettings, { params, body: { requireMfa: false } });
  const who = createPerson(server.baseUrl);
  const page = await who.fill(await who.open('/realms/acme/login'), { username: 'new', password: PASSWORD });
  expect(page.heading).toBe('Choose a new password');
  expect(await (await who.once(sheetOf(page.text))).text()).not.toContain('url(');
});
