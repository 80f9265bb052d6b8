// Somebody's first sign-in by a provider, with mail: whose the address is, what is lacking, what mappers make of claims, plain OAuth 2.0,
// and one realm as the provider of another.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFlow, putFlow } from '../../../server/contract/flows.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { getLockout } from '../../../server/contract/user-access.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered, wayIn } from '../../support/brokering.ts';
import { makeClient } from '../../support/clients.ts';
import { codeIn, linkIn, type MailingServer } from '../../support/mail.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import { SUBJECT, type Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let mailing: MailingServer;
let server: TestServer;
let upstream: Upstream;
let realm = '';
/** The server's clock stands still, so that a code stays one that was sent just now. */
let stoppedAt: number | undefined;
beforeAll(async () => {
  const env = { USER_REGISTRATION_ENABLED: 'true' };
  brokered = await startBrokered({ env, now: () => new Date(stoppedAt ?? Date.now()) });
  ({ mailing, server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  stoppedAt = undefined;
  realm = brokered.another('first');
  upstream.claims = { email: 'ada@corp.example', preferred_username: 'ada', given_name: 'Ada', family_name: 'Low' };
  await makePeopledRealm(server, realm, []);
  await makeProvider(server, realm, oidcOf(upstream));
});

const set = (body: object) => server.admin.call(putSettings, { params: { realm }, body });
const provider = (body: object) => server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body });
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const linksOf = async (userId = '') =>
  (await server.admin.call(listIdentityLinks, { params: { realm, userId } })).body ?? [];
const isHome = ({ url }: { url: string }) => new URL(url).pathname === `/realms/${realm}/account`;
const bob = (more: object = {}) =>
  server.admin.call(createUser, {
    params: { realm },
    body: { username: 'bob', email: 'ada@corp.example', emailVerified: true, password: PASSWORD, ...more },
  });

describe('with a flow for the first time', () => {
  const newcomers = 'newcomers';
  const asked = (authenticatorId: string) => ({ authenticatorId, requirement: 'REQUIRED' as const });
  beforeEach(async () => {
    upstream.claims = { ...upstream.claims, email_verified: true };
    await server.admin.call(createFlow, { params: { realm }, body: { alias: newcomers } });
    const executions = [asked('idp-redirect'), asked('otp')];
    await server.admin.call(putFlow, { params: { realm, alias: newcomers }, body: { executions } });
    await provider({ firstLoginFlow: newcomers });
  });

  test('whoever is new does it before they are signed in, also where they come again without', async () => {
    for (const _ of ['first', 'second']) {
      const { person, page } = await comeBy(server, realm, upstream);
      expect(page.heading).toBe('Set up a second factor');
      expect(isHome(await person.open(`/realms/${realm}/account`))).toBe(false);
    }
    const { person, page } = await comeBy(server, realm, upstream);
    expect(isHome(await person.fill(page, { code: codeAt(secretOn(page), Date.now()) }))).toBe(true);
    const [ada] = await people();
    expect(await linksOf(ada?.id)).toMatchObject([{ lastUsedAt: expect.any(Number) }]);
  });

  test('whoever connects an account that is there does it, too; who is known here does not', async () => {
    await bob();
    const { person, page } = await comeBy(server, realm, upstream);
    expect((await person.fill(page, { password: PASSWORD })).heading).toBe('Set up a second factor');
    await provider({ firstLoginFlow: null });
    const again = await comeBy(server, realm, upstream);
    expect(isHome(await again.person.fill(again.page, { password: PASSWORD }))).toBe(true);
    await provider({ firstLoginFlow: newcomers });
    expect(isHome((await comeBy(server, realm, upstream)).page)).toBe(true);
  });

  test('who was connected before they came here by a realm document isn’t new', async () => {
    const identity = { identityProvider: 'corp', issuer: upstream.url, subject: SUBJECT };
    const users = [{ username: 'ada', email: 'ada@corp.example', identities: [identity] }];
    const { status } = await server.admin.call(importRealm, { params: { realm }, body: { users } });
    expect(status).toBe(200);
    expect(isHome((await comeBy(server, realm, upstream)).page)).toBe(true);
  });
});

describe('an address that the provider has not confirmed', () => {
  test('is confirmed by mail first, by code or link, and then theirs', async () => {
    await mailing.sendsMail(realm);
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Confirm your e-mail address');
    expect(await people()).toEqual([]);
    const mail = await mailing.mailTo('ada@corp.example', 'code');
    const wrong = await person.fill(page, { code: codeIn(mail) === '00000000' ? '00000001' : '00000000' });
    expect(wrong.text).toContain('role="alert"');
    expect(isHome(await person.fill(wrong, { code: codeIn(mail) }))).toBe(true);
    expect(await people()).toMatchObject([{ email: 'ada@corp.example', emailVerified: true }]);

    upstream.claims = { ...upstream.claims, sub: 'subject-2', email: 'eve@corp.example' };
    upstream.userinfo = { sub: 'subject-2' };
    const eve = await comeBy(server, realm, upstream);
    const link = await eve.person.open(linkIn(await mailing.mailTo('eve@corp.example', 'login/link')));
    const home = await eve.person.post(`/realms/${realm}/login`, { ...link.fields, do: 'next' });
    expect(isHome(home)).toBe(true);
    expect(await people()).toHaveLength(2);
  });

  test('is confirmed by mail to whoever has an account, and so connects it: nobody is told before that there is one', async () => {
    await mailing.sendsMail(realm);
    await bob();
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Confirm your e-mail address');
    const home = await person.fill(page, { code: codeIn(await mailing.mailTo('ada@corp.example', 'code')) });
    expect(isHome(home)).toBe(true);
    const [only, ...others] = await people();
    expect([only?.username, others]).toEqual(['bob', []]);
    expect(await linksOf(only?.id)).toMatchObject([{ subject: SUBJECT, name: 'ada' }]);
    await mailing.mailTo('ada@corp.example', 'was connected');
  });

  test('doesn’t open an account that has not confirmed it itself: its password does', async () => {
    await mailing.sendsMail(realm);
    await bob({ emailVerified: false });
    const { person, page } = await comeBy(server, realm, upstream);
    const next = await person.fill(page, { code: codeIn(await mailing.mailTo('ada@corp.example', 'code')) });
    expect([next.heading, next.text.includes('Send me a code')]).toEqual(['Is this account yours?', false]);
    expect(await linksOf((await people())[0]?.id)).toEqual([]);
    expect(isHome(await person.fill(next, { password: PASSWORD }))).toBe(true);
  });

  test('counts where an administrator says that the provider’s do', async () => {
    await mailing.sendsMail(realm);
    await provider({ config: { issuer: upstream.url, trustEmail: true }, secret: 'the secret there' });
    expect(isHome((await comeBy(server, realm, upstream)).page)).toBe(true);
    expect(await people()).toMatchObject([{ emailVerified: true }]);
  });
});

describe('a code to an address that somebody typed', () => {
  const typed = async (email: string) => {
    const { person, page } = await comeBy(server, realm, upstream);
    return { person, page: await person.fill(page, { email }) };
  };
  const wrongOf = (code: string): string => (code === '00000000' ? '00000001' : '00000000');
  const press = (person: Person, { fields: { csrf = '', step = '' } }: ShownPage, button: string) =>
    person.post(`/realms/${realm}/login`, { csrf, step, [button]: '1' });
  beforeEach(async () => {
    await mailing.sendsMail(realm);
    await set({ lockoutEnabled: true, maxLoginFailures: 3, lockoutDurationSeconds: 900 });
    upstream.claims = { email: '', preferred_username: 'ada' };
  });

  test('is guessed no more often than the account there may be guessed, and the page doesn’t tell', async () => {
    await bob({ email: 'bob@corp.example' });
    const guess = async (email: string) => {
      const { person, page } = await typed(email);
      const code = codeIn(await mailing.mailTo(email, 'code'));
      let shown = page;
      const texts: string[] = [];
      for (let times = 0; times < 3; times += 1) {
        shown = await person.fill(shown, { code: wrongOf(code) });
        texts.push(shown.text.replaceAll(email, '').replaceAll(/value="[^"]*"/g, ''));
      }
      return { texts, last: await person.fill(shown, { code }) };
    };
    const theirs = await guess('bob@corp.example');
    expect(theirs.last.text).toContain('That code is not right.');
    const [only] = await people();
    expect([only?.username, await linksOf(only?.id)]).toEqual(['bob', []]);
    const again = await guess('bob@corp.example');
    expect(again.last.text).toContain('That code is not right.');
    const free = await guess('free@corp.example');
    expect(isHome(free.last)).toBe(true);
    expect(free.texts).toEqual(theirs.texts);
  });

  test('is guessed without locking the account there, where the realm locks nobody', async () => {
    await set({ lockoutEnabled: false });
    const userId = (await bob({ email: 'bob@corp.example' })).body?.id ?? '';
    for (let sent = 0; sent < 3; sent += 1) {
      let { person, page } = await typed('bob@corp.example');
      const code = codeIn(await mailing.mailTo('bob@corp.example', 'code'));
      for (let times = 0; times < 4; times += 1) page = await person.fill(page, { code: wrongOf(code) });
      expect(page.text).toContain('That code is not right.');
    }
    const { body } = await server.admin.call(getLockout, { params: { realm, userId } });
    expect(body).toMatchObject({ locked: false, failures: 0 });
  });

  test('is not sent anew, nor its tries forgotten, by turning back to the names', async () => {
    const { person, page } = await typed('free@corp.example');
    stoppedAt = Date.now();
    const code = codeIn(await mailing.mailTo('free@corp.example', 'code'));
    let shown = page;
    for (let times = 0; times < 5; times += 1) shown = await person.fill(shown, { code: wrongOf(code) });
    const names = await press(person, shown, 'other');
    expect(names.heading).toBe('Complete your account');
    const elsewhere = await person.fill(names, { email: 'else@corp.example' });
    expect(elsewhere.text).toContain('A code was sent just now.');
    expect(elsewhere.fields).toMatchObject({ email: 'else@corp.example' });
    const back = await person.fill(elsewhere, { email: 'free@corp.example' });
    expect(back.heading).toBe('Confirm your e-mail address');
    expect((await person.fill(back, { code })).text).toContain('role="alert"');
    expect([await people(), mailing.mails.length]).toEqual([[], 1]);
  });

  test('doesn’t tell by the username whether another’s address has an account', async () => {
    await set({ registrationEmailAsUsername: false });
    await bob({ email: 'bob@corp.example' });
    const { person, page } = await comeBy(server, realm, upstream);
    for (const username of ['bob@corp.example', 'free@corp.example'])
      expect((await person.fill(page, { username, email: 'ada@corp.example' })).text).toContain(
        'This username is taken',
      );
  });
});

test('who has another’s username for an address is not shown where their mail goes, and asks for no second one', async () => {
  await mailing.sendsMail(realm);
  await bob({ username: 'ada@corp.example', email: 'private@home.example' });
  upstream.claims = { ...upstream.claims, email_verified: true };
  const { person, page } = await comeBy(server, realm, upstream);
  const { csrf = '', step = '' } = page.fields;
  const asked = await person.post(`/realms/${realm}/login`, { csrf, step, mail: '1' });
  expect(asked.heading).toBe('Confirm your e-mail address');
  stoppedAt = Date.now();
  expect([asked.text.includes('p***@h***'), asked.text.includes('private')]).toEqual([true, false]);
  const turned = await person.post(`/realms/${realm}/login`, { ...asked.fields, other: '1' });
  expect(turned.heading).toBe('Is this account yours?');
  const again = await person.post(`/realms/${realm}/login`, {
    csrf: turned.fields.csrf ?? '',
    step: turned.fields.step ?? '',
    mail: '1',
  });
  const code = codeIn(await mailing.mailTo('private@home.example', 'code'));
  expect(isHome(await person.fill(again, { code }))).toBe(true);
});

test('an account is connected by a code to the address that it has confirmed', async () => {
  await mailing.sendsMail(realm);
  await bob();
  upstream.claims = { ...upstream.claims, email_verified: true };
  const { person, page } = await comeBy(server, realm, upstream);
  expect(page.heading).toBe('Is this account yours?');
  const { csrf = '', step = '' } = page.fields;
  const asked = await person.post(`/realms/${realm}/login`, { csrf, step, mail: '1' });
  expect(asked.heading).toBe('Confirm your e-mail address');
  expect(isHome(await person.fill(asked, { code: codeIn(await mailing.mailTo('ada@corp.example', 'code')) }))).toBe(
    true,
  );
  expect(await linksOf((await people())[0]?.id)).toHaveLength(1);
});

describe('somebody new', () => {
  test('says what is lacking: a name that is free, what the realm’s profile asks for', async () => {
    await set({ registrationEmailAsUsername: false, registrationVerifyEmail: false });
    await server.admin.call(putUserProfile, {
      params: { realm },
      body: {
        attributes: [
          {
            name: 'department',
            displayName: 'Department',
            required: ['user'],
            view: ['user', 'admin'],
            edit: ['user', 'admin'],
          },
        ],
      },
    });
    await bob({ username: 'ada', email: 'other@corp.example', attributes: { department: ['x'] } });
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Complete your account');
    expect(page.fields).toMatchObject({
      username: 'ada',
      email: 'ada@corp.example',
      firstName: 'Ada',
      lastName: 'Low',
    });
    const again = await person.fill(page, { 'attribute.department': 'R&D' });
    expect(again.text).toContain('This username is taken');
    expect(again.fields).toMatchObject({ 'attribute.department': 'R&D' });
    expect(isHome(await person.fill(again, { username: 'ada.low' }))).toBe(true);
    expect((await people()).find(({ username }) => username === 'ada.low')).toMatchObject({
      firstName: 'Ada',
      attributes: { department: ['R&D'] },
      emailVerified: false,
    });
  });

  test('is offered no other account to make, only the way back to the beginning', async () => {
    await set({ registrationEnabled: true });
    const other = `/realms/${realm}/register`;
    expect((await createPerson(server.baseUrl).open(`/realms/${realm}/login?for=account`)).text).toContain(other);
    upstream.claims = { email: '', preferred_username: 'ada' };
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Complete your account');
    expect(page.text).not.toContain(other);
    expect(page.text).toContain('value="restart"');
    expect((await person.fill(page, { do: 'restart' })).heading).toBe('Sign in');
  });

  test('gets no account by an address that they typed themselves, before it is confirmed', async () => {
    await mailing.sendsMail(realm);
    upstream.claims = { email: '', preferred_username: 'ada' };
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Complete your account');
    const next = await person.fill(page, { email: 'typed@corp.example' });
    expect(next.heading).toBe('Confirm your e-mail address');
    expect(await people()).toEqual([]);
  });

  test('has what the mappers make of the claims, once or at each sign-in', async () => {
    await set({ registrationVerifyEmail: false });
    for (const name of ['admin', 'staff']) await server.admin.call(createRole, { params: { realm }, body: { name } });
    await server.admin.call(createGroup, { params: { realm }, body: { name: 'crew' } });
    await provider({
      mappers: [
        { name: 'dept', claim: 'dept', to: 'attribute', target: 'department' },
        { name: 'admin', claim: 'groups', value: 'admins', to: 'role', target: 'admin' },
        { name: 'staff', claim: 'realm_access.staff', to: 'role', target: 'staff' },
        { name: 'crew', claim: 'groups', value: 'crew', to: 'group', target: '/crew' },
        { name: 'name', claim: 'nick', to: 'property', target: 'firstName' },
      ],
    });
    const says = { dept: ['A', 'B'], groups: ['admins', 'crew'], realm_access: { staff: true }, nick: 'Addie' };
    upstream.claims = { ...upstream.claims, ...says };
    await comeBy(server, realm, upstream);
    const params = { realm, userId: (await people())[0]?.id ?? '' };
    const ada = async () => (await server.admin.call(getUser, { params })).body;
    const first = {
      attributes: { department: ['A', 'B'] },
      roles: ['admin', 'staff'],
      groups: ['/crew'],
      firstName: 'Addie',
    };
    expect(await ada()).toMatchObject(first);
    upstream.claims = { ...upstream.claims, dept: 'C', groups: [], realm_access: {}, nick: 'Ada' };
    await comeBy(server, realm, upstream);
    expect(await ada()).toMatchObject(first);
    await provider({ syncMode: 'always' });
    await comeBy(server, realm, upstream);
    expect(await ada()).toMatchObject({ attributes: { department: ['C'] }, roles: [], groups: [], firstName: 'Ada' });
  });
});

async function makeHub(): Promise<void> {
  const config = {
    authorizationEndpoint: `${upstream.url}/login/oauth/authorize`,
    tokenEndpoint: `${upstream.url}/token`,
    userinfoEndpoint: `${upstream.url}/user`,
    tokenEndpointAuthMethod: 'client_secret_post' as const,
  };
  const body = { alias: 'github', type: 'oauth2' as const, displayName: 'GitHub', scopes: ['user:email'], config };
  await makeProvider(server, realm, { ...body, clientId: 'realm', secret: 'the secret there' });
}
async function comeByHub(): Promise<ShownPage> {
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  const left = await person.open(wayIn(page, 'github'));
  expect(left.url).toContain('/login/oauth/authorize?');
  const back = new URL(upstream.answer(left.url));
  return person.open(`${back.pathname}${back.search}`);
}

test('a provider of plain OAuth 2.0, as GitHub is one, says by its userinfo who it is', async () => {
  await set({ registrationEmailAsUsername: false, registrationVerifyEmail: false });
  await makeHub();
  upstream.userinfo = { id: 583_231, login: 'octocat', name: 'Mona Lisa Octocat', email: 'octo@hub.example' };
  expect(isHome(await comeByHub())).toBe(true);
  const [octocat] = await people();
  expect(octocat).toMatchObject({
    username: 'octocat',
    email: 'octo@hub.example',
    emailVerified: false,
    firstName: 'Mona Lisa',
    lastName: 'Octocat',
  });
  expect(await linksOf(octocat?.id)).toMatchObject([{ subject: '583231', identityProvider: 'github' }]);
  const form = new URLSearchParams(upstream.received.find((one) => one.url === '/token')?.raw.toString());
  expect(form.get('client_secret')).toBe('the secret there');
});

test.each([{ id: {} }, { id: [] }, { id: true }, { id: 2 ** 53 }, { sub: { id: 1 } }])(
  'a provider of plain OAuth 2.0 that names nobody signs nobody in: %j',
  async (userinfo) => {
    await set({ registrationEmailAsUsername: false, registrationVerifyEmail: false });
    await makeHub();
    upstream.userinfo = { login: 'octocat', email: 'octo@hub.example', ...userinfo };
    expect(isHome(await comeByHub())).toBe(false);
    expect(await people()).toEqual([]);
  },
);

test.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const)(
  'one realm is the provider of another, which proves itself by %s',
  async (tokenEndpointAuthMethod) => {
    const partner = `partner${realm}`;
    await makePeopledRealm(server, partner, []);
    const body = { username: 'grace', email: 'grace@partner.example', emailVerified: true, password: PASSWORD };
    await server.admin.call(createUser, { params: { realm: partner }, body });
    const isJwt = tokenEndpointAuthMethod === 'private_key_jwt';
    const secret = 'a secret of both realms, long enough';
    await makeClient(server, partner, {
      clientId: 'there',
      tokenEndpointAuthMethod,
      redirectUris: [`${server.baseUrl}/realms/${realm}/broker/partner/endpoint`],
      ...(isJwt
        ? { jwks: Object(await (await fetch(`${server.baseUrl}/realms/${realm}/oauth2/jwks`)).json()) }
        : { secret }),
    });
    await makeProvider(server, realm, {
      ...{ alias: 'partner', type: 'oidc', clientId: 'there', scopes: ['openid', 'email', 'profile'] },
      ...(!isJwt && { secret }),
      config: { issuer: `${server.baseUrl}/realms/${partner}`, tokenEndpointAuthMethod },
    });
    const grace = createPerson(server.baseUrl);
    const page = await grace.open(`/realms/${realm}/login?for=account`);
    const there = await grace.open(wayIn(page, 'partner'));
    expect(new URL(there.url).pathname).toBe(`/realms/${partner}/login`);
    expect(isHome(await grace.fill(there, { username: 'grace', password: PASSWORD }))).toBe(true);
    expect(await people()).toMatchObject([{ username: 'grace@partner.example', emailVerified: true }]);
  },
);
