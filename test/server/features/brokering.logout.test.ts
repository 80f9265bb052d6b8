// Ending at both sides: signing out here signs out at the provider, and what ends there ends here.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered, wayIn } from '../../support/brokering.ts';
import { makeClient, SECRET } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { SUBJECT, type Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let server: TestServer;
let upstream: Upstream;
let realm = '';
beforeAll(async () => {
  brokered = await startBrokered();
  ({ server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  realm = brokered.another('leave');
  await makePeopledRealm(server, realm, []);
});
const isIn = async (person: Person, at = realm) =>
  new URL((await person.open(`/realms/${at}/account`)).url).pathname === `/realms/${at}/account`;

test('whoever signs out is signed out at the provider, too, and comes back', async () => {
  const partner = await startTestServer();
  try {
    await makePeopledRealm(partner, 'corp', []);
    const body = { username: 'grace', email: 'grace@corp.example', emailVerified: true, password: PASSWORD };
    await partner.admin.call(createUser, { params: { realm: 'corp' }, body });
    const endpoint = `${server.baseUrl}/realms/${realm}/broker/corp/endpoint`;
    await makeClient(partner, 'corp', {
      ...{ clientId: 'there', secret: SECRET, redirectUris: [endpoint] },
      postLogoutRedirectUris: [`${endpoint}/logout_response`],
    });
    await makeProvider(server, realm, {
      ...{ alias: 'corp', type: 'oidc', clientId: 'there', secret: SECRET, scopes: ['openid', 'email'] },
      config: { issuer: `${partner.baseUrl}/realms/corp` },
    });
    const [grace, there] = [createPerson(server.baseUrl), createPerson(partner.baseUrl)];
    const pathOf = (url: string): string => `${new URL(url).pathname}${new URL(url).search}`;
    const sent = await grace.open(wayIn(await grace.open(`/realms/${realm}/login?for=account`)));
    const asked = await there.open(pathOf(sent.url));
    const back = await there.fill(asked, { username: 'grace', password: PASSWORD });
    const home = await grace.open(pathOf(back.url));
    expect([await isIn(grace), await isIn(there, 'corp')]).toEqual([true, true]);
    const leaving = await grace.post(`/realms/${realm}/account/sign-out`, { csrf: home.fields.csrf ?? '' });
    const onward = /<a class="button" href="([^"]*)"/.exec(leaving.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(onward).toContain(`${partner.baseUrl}/realms/corp/oauth2/logout?`);
    const left = await there.open(pathOf(onward));
    expect(left.url).toContain(`${endpoint}/logout_response?state=`);
    const over = await grace.open(pathOf(left.url));
    expect([over.status, new URL(over.url).pathname]).toEqual([200, `/realms/${realm}/oauth2/logout`]);
    expect([await isIn(grace), await isIn(there, 'corp')]).toEqual([false, false]);
  } finally {
    await partner.stop();
  }
});

test('a provider that is away, or signs nobody out, keeps nobody from signing out', async () => {
  upstream.claims = { email: 'ada@corp.example', email_verified: true };
  await makeProvider(server, realm, oidcOf(upstream));
  const { person, page } = await comeBy(server, realm, upstream);
  const out = await person.post(`/realms/${realm}/account/sign-out`, { csrf: page.fields.csrf ?? '' });
  expect(out.text).toContain('signed out');
  expect(await isIn(person)).toBe(false);
});

test('an address on the way that was not made here leads nowhere', async () => {
  await makeProvider(server, realm, oidcOf(upstream));
  const person = createPerson(server.baseUrl);
  const path = `/realms/${realm}/broker/corp/endpoint`;
  for (const at of [`${path}/logout?to=aHR0cHM6Ly9ldmls`, `${path}/logout_response?state=https://evil.example`])
    expect(new URL((await person.open(at)).url).pathname).toBe(`/realms/${realm}/login`);
});

describe('where the provider says that a session has ended', () => {
  const tell = async (token: string) => {
    const response = await fetch(`${server.baseUrl}/realms/${realm}/broker/corp/endpoint/backchannel-logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    return response.status;
  };
  async function come() {
    upstream.claims = { email: 'ada@corp.example', email_verified: true, sid: 's1' };
    await makeProvider(server, realm, oidcOf(upstream));
    return (await comeBy(server, realm, upstream)).person;
  }

  test.each([
    ['by its name', { sid: 's1' }],
    ['by whose it was', { sub: SUBJECT }],
    ['by both', { sid: 's1', sub: SUBJECT }],
  ])('it ends here, %s', async (_, claims) => {
    const person = await come();
    expect([await tell(upstream.logoutToken(claims)), await isIn(person)]).toEqual([200, false]);
  });

  test('a token counts once: what was begun since then goes on', async () => {
    const token = upstream.logoutToken({ sid: 's1' });
    const person = await come();
    expect([await tell(token), await isIn(person)]).toEqual([200, false]);
    await comeBy(server, realm, upstream, { person });
    expect([await tell(token), await isIn(person)]).toEqual([400, true]);
    expect([await tell(upstream.logoutToken({ sid: 's1' })), await isIn(person)]).toEqual([200, false]);
  });

  test('another one goes on', async () => {
    const person = await come();
    for (const claims of [{ sid: 's2' }, { sub: 'subject-2' }, { sid: 's1', sub: 'subject-2' }])
      expect(await tell(upstream.logoutToken(claims))).toBe(200);
    expect(await isIn(person)).toBe(true);
  });

  test.each<[string, Record<string, unknown>, Upstream['alg']]>([
    ['an ID token', { sid: 's1', events: undefined }, 'RS256'],
    ['one with a nonce', { sid: 's1', nonce: 'x' }, 'RS256'],
    ['one that names nothing', {}, 'RS256'],
    ['one for another client', { sid: 's1', aud: 'another' }, 'RS256'],
    ['one of another issuer', { sid: 's1', iss: 'https://id.example.com' }, 'RS256'],
    ['an old one', { sid: 's1', iat: 1_700_000_000, exp: undefined }, 'RS256'],
    ['an unsigned one', { sid: 's1' }, 'none'],
    ['one signed with the public key as a secret', { sid: 's1' }, 'HS256'],
    ['one that another signed', { sid: 's1' }, 'another key'],
  ])('%s is not believed', async (_, claims, alg) => {
    const person = await come();
    upstream.alg = alg;
    expect([await tell(upstream.logoutToken(claims)), await isIn(person)]).toEqual([400, true]);
  });
});
