// What pages with one field say of a wrong answer: below the field, which the words are connected with.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createUser, type UserInput } from '../../../server/contract/users.ts';
import { authorizePath, newVerifier } from '../../support/applications.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { makeWalkedRealm } from '../../support/page-walk-realm.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';

const REALM = 'fields';
const PASSWORD = 'three wet umbrellas 3';
const callback = 'https://app.example/callback';
let site: MailingServer;
let browser: Person;
let n = 0;
let username = '';
beforeAll(async () => {
  site = await startMailingServer();
  await makeWalkedRealm(site, { realm: REALM, locale: 'en', callback });
});
afterAll(() => site?.stop());
beforeEach(() => {
  browser = createPerson(site.server.baseUrl);
  username = `ada-${++n}`;
});

/** The page that a sign-in of a new user shows after the password. */
async function reached(clientId: string, more: Partial<UserInput> = {}): Promise<ShownPage> {
  const body = { username, password: PASSWORD, email: `${username}@example.com`, emailVerified: true, ...more };
  await site.server.admin.call(createUser, { params: { realm: REALM }, body });
  const page = await browser.open(authorizePath(REALM, clientId, newVerifier(), { redirect_uri: callback }));
  return clientId === 'magic-link' ? page : browser.fill(page, { username, password: PASSWORD });
}
/** The error's words, which stand below the field and belong to it; nothing else on the page is an error. */
function errorAt(field: string, { text }: ShownPage): string | undefined {
  expect(text.match(/role="alert"/g), text).toHaveLength(1);
  const below = new RegExp(
    `id="${field}"[^>]*aria-invalid="true" aria-describedby="${field}-error"[^>]*>(?:\\s*<label[^]*?</label>\\s*</div>)?\\s*<div class="error" role="alert" id="${field}-error"><p>([^<]*)`,
  );
  return below.exec(text)?.[1];
}

test('a code of an application that is set up', async () => {
  const page = await reached('otp');
  expect(errorAt('code', await browser.fill(page, { code: '1' }))).toBe('Enter the digits of the code.');
});

test('a code by e-mail', async () => {
  const page = await reached('email-otp');
  expect(errorAt('code', await browser.fill(page, { code: '12' }))).toMatch(/6 digits/);
});

test('a code that confirms an address', async () => {
  const page = await reached('reader', { emailVerified: false, requiredActions: ['VERIFY_EMAIL'] });
  expect(errorAt('code', await browser.fill(page, { code: '12' }))).toMatch(/8 digits/);
});

test('recovery codes that are not kept yet', async () => {
  const page = await reached('reader', { requiredActions: ['CONFIGURE_RECOVERY_CODES'] });
  expect(errorAt('saved', await browser.fill(page, {}))).toMatch(/\w/);
});

test('a name that is missing', async () => {
  const page = await reached('magic-link');
  expect(errorAt('username', await browser.fill(page, { username: '' }))).toMatch(/\w/);
});

test('a code of a device', async () => {
  await reached('reader');
  const page = await browser.open(`/realms/${REALM}/device`);
  const answer = await browser.post(`/realms/${REALM}/device`, { ...page.fields, user_code: 'WRNG-CODE' });
  expect(errorAt('user_code', answer)).toMatch(/\w/);
});
