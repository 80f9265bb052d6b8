// Home-realm discovery: by the domain of their address people are sent to the provider that they are at home at.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createOrganization, putOrganization } from '../../../server/contract/organizations.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { type Brokered, makeProvider, oidcOf, startBrokered } from '../../support/brokering.ts';
import { createPerson } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import type { Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let server: TestServer;
let upstream: Upstream;
let realm = '';
let organization = '';
beforeAll(async () => {
  brokered = await startBrokered();
  ({ server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  realm = brokered.another('home');
  upstream.claims = { email: 'ada@corp.example', email_verified: true };
  await makePeopledRealm(server, realm, ['alice']);
  const email = 'ada@corp.example';
  await server.admin.call(createUser, { params: { realm }, body: { username: 'ada', email, password: PASSWORD } });
  await makeProvider(server, realm, oidcOf(upstream, { hidden: true }));
  const { body } = await server.admin.call(createOrganization, {
    params: { realm },
    body: {
      name: 'corp',
      identityProviders: ['corp'],
      domains: [
        { name: 'corp.example', verified: true },
        { name: 'claimed.example', verified: false },
      ],
    },
  });
  organization = body?.id ?? '';
});

const start = () => `/realms/${realm}/login?for=account`;
async function named(username: string) {
  const person = createPerson(server.baseUrl);
  const first = await person.open(start());
  return { person, first, page: await person.fill(first, { username }) };
}
const isThere = ({ url }: { url: string }) => new URL(url).origin === new URL(upstream.url).origin;

test('whoever has an address of an organization’s verified domain goes on at its provider, which is told who', async () => {
  const { person, first, page } = await named('ada@Corp.example');
  expect(first.text).not.toContain('type="password"');
  expect(isThere(page)).toBe(true);
  expect(new URL(page.url).searchParams.get('login_hint')).toBe('ada@Corp.example');
  const back = new URL(upstream.answer(page.url));
  const next = await person.open(`${back.pathname}${back.search}`);
  expect(next.heading).toBe('Is this account yours?');
});

test('anybody else is asked for their password, and is in by it', async () => {
  for (const name of ['alice', 'alice@elsewhere.example', 'who@claimed.example', 'nobody@sub.corp.example']) {
    const { page } = await named(name);
    expect([page.heading, page.fields.username]).toEqual(['Sign in', name]);
    expect(page.text).toContain('type="password"');
  }
  const { person, page } = await named('alice');
  const home = await person.fill(page, { username: 'alice', password: PASSWORD });
  expect(new URL(home.url).pathname).toBe(`/realms/${realm}/account`);
});

test('a password for such an address is not looked at, whichever page it comes from', async () => {
  const { person, page } = await named('alice');
  expect(isThere(await person.fill(page, { username: 'ada@corp.example', password: PASSWORD }))).toBe(true);
  await expect(server.signIn({ realm, username: 'ada@corp.example', password: PASSWORD })).rejects.toThrow(
    'admin login: 401',
  );
});

test.each([
  ['with wide letters in its domain', 'ada@\uff43orp.example'],
  ['with a wide @', 'ada\uff20corp.example'],
  ['with an ideographic full stop', 'ada@corp\u3002example'],
  ['with a variation selector, which IDNA ignores', 'ada@corp\ufe0f.example'],
  ['whose domain is in its own script', 'ada@пример.рф'],
])('so is an address %s', async (_, username) => {
  const domain = 'xn--e1afmkfd.xn--p1ai';
  await server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body: { domains: [domain] } });
  for (const email of ['ada@corp.example', `ada@${domain}`])
    await server.admin
      .call(createUser, { params: { realm }, body: { username: email, email: null, password: PASSWORD } })
      .catch(() => undefined);
  const { person, page } = await named('alice');
  expect(isThere(await person.fill(page, { username, password: PASSWORD }))).toBe(true);
  await expect(server.signIn({ realm, username, password: PASSWORD })).rejects.toThrow('admin login: 401');
});

test('the page’s policy lets its form lead there', async () => {
  const { first } = await named('alice');
  expect(first.headers.get('content-security-policy')).toContain("form-action 'self' https:");
});

test('nobody is sent anywhere for an organization or a provider that is switched off', async () => {
  await server.admin.call(putOrganization, { params: { realm, id: organization }, body: { enabled: false } });
  const off = createPerson(server.baseUrl);
  expect((await off.open(start())).text).toContain('type="password"');
  await server.admin.call(putOrganization, { params: { realm, id: organization }, body: { enabled: true } });
  await server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body: { enabled: false } });
  expect((await createPerson(server.baseUrl).open(start())).text).toContain('type="password"');
});

test('a provider that is bound to a domain by itself has its people, too', async () => {
  const params = { realm, alias: 'corp' };
  await server.admin.call(putIdentityProvider, { params, body: { domains: ['bound.example'] } });
  expect(isThere((await named('eve@bound.example')).page)).toBe(true);
});

test('so has one that is hidden, of which the page says nothing', async () => {
  const params = { realm, alias: 'corp' };
  await server.admin.call(putIdentityProvider, { params, body: { domains: ['bound.example'], hidden: true } });
  const { first, page } = await named('eve@bound.example');
  expect(first.text).not.toContain('/login/provider/corp');
  expect(isThere(page)).toBe(true);
});
