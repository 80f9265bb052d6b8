// Owns: each field of people's pages and each parameter of their addresses at its extremes: no page fails.
// Does not own: what the contract has (extremes.test.ts), what the pages do.
// Implements: decisions "Errors": no input makes the server fail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../support/applications.ts';
import { texts } from '../support/extremes.ts';
import { createPerson, type Person, type ShownPage } from '../support/person.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'pages';
const at = `/realms/${realm}`;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
  await makePeopledRealm(server, realm);
  await server.admin.call(putSettings, {
    params: { realm },
    body: { registrationEnabled: true, lockoutEnabled: false },
  });
});
afterAll(() => server?.stop());

/** As a form or an address carries them: whole characters, and no longer than a form may be. */
const odd: string[] = texts.map((one) => String(one).toWellFormed().slice(0, 10_000));
const failed = (answers: readonly [what: string, status: number][]) =>
  answers.filter(([, status]) => status >= 500).map(([what, status]) => `${what} → ${status}`);

test.each([
  ...['login?tab', 'login?for', 'login?begun', 'login/link?token', 'login/invitation?token', 'login/forgot?asked'],
  ...[
    'login/reset?token',
    'login/provider/x?asked',
    'login/waiting?tab',
    'register?tab',
    'account?said',
    'device?user_code',
  ],
  ...[
    'oauth2/authorize/resume?tab',
    'oauth2/authorize?client_id',
    'oauth2/authorize?request',
    'oauth2/authorize?max_age',
  ],
  ...[
    'oauth2/authorize?claims',
    'oauth2/authorize?scope',
    'oauth2/authorize?login_hint',
    'oauth2/logout?id_token_hint',
  ],
  ...[
    'oauth2/logout?post_logout_redirect_uri',
    'saml/idp/sso?SAMLRequest',
    'saml/idp/sso?RelayState',
    'broker/x/endpoint?state',
  ],
  ...['broker/x/endpoint?code', 'broker/x/logout?sid', 'login/enrol?token', 'language?to'],
])('no value of %s makes its page fail', async (address) => {
  const [path = '', name = ''] = address.split('?');
  const ada = createPerson(server.baseUrl);
  const usual = new URL(authorizePath(realm, 'spa', newVerifier()), server.baseUrl).searchParams;
  const answers: [string, number][] = [];
  for (const value of odd) {
    const query = new URLSearchParams(path === 'oauth2/authorize' ? usual : {});
    query.set(name, value.slice(0, 3000));
    const response = await ada.once(`${at}/${path}?${query}`);
    await response.body?.cancel();
    answers.push([`${value.slice(0, 50)} (${value.length})`, response.status]);
  }
  expect(failed(answers)).toEqual([]);
});

const pages: [name: string, open: (person: Person) => Promise<ShownPage>, fields: Record<string, string>][] = [
  ['sign in', (person) => person.open(`${at}/login`), { username: 'alice', password: PASSWORD }],
  [
    'register',
    (person) => person.open(`${at}/register`),
    { email: 'x@pages.example', username: 'x', password: PASSWORD, repeated: PASSWORD, firstName: 'X', lastName: 'X' },
  ],
  ['ask for a new password', (person) => person.open(`${at}/login/forgot`), { username: 'alice' }],
  ['enter a device’s code', (person) => person.open(`${at}/device`), { user_code: 'ABCD-EFGH' }],
];
test.each(pages)('no field makes the page fail on which people %s', async (_, open, fields) => {
  const answers: [string, number][] = [];
  for (const field of [...Object.keys(fields), 'csrf', 'step', 'do', 'execution', 'passkey', 'asked', 'link'])
    for (const value of odd) {
      const person = createPerson(server.baseUrl);
      const page = await open(person);
      const { status } = await person.fill(page, { ...fields, [field]: value });
      answers.push([`${field} ${value.slice(0, 50)} (${value.length})`, status]);
    }
  expect(failed(answers)).toEqual([]);
});
