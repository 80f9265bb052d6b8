// Identity providers on the account page: connecting one to the account that one is signed in to. And what a provider gave for a
// person: kept where it says so, and read by whom it names.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createUser, deleteCredential, listCredentials, listUsers } from '../../../server/contract/users.ts';
import {
  authorizePath,
  CALLBACK,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
} from '../../support/applications.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered } from '../../support/brokering.ts';
import { makeClient } from '../../support/clients.ts';
import type { MailingServer } from '../../support/mail.ts';
import { createPerson, type Person } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey } from '../../support/soft-passkey.ts';
import { SUBJECT, type Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let mailing: MailingServer;
let server: TestServer;
let upstream: Upstream;
let realm = '';
let ahead = 0;
beforeAll(async () => {
  brokered = await startBrokered({ now: () => new Date(Date.now() + ahead) });
  ({ mailing, server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  ahead = 0;
  realm = brokered.another('own');
  upstream.claims = { email: 'elsewhere@corp.example', email_verified: true };
  await makePeopledRealm(server, realm, []);
  await makeProvider(server, realm, oidcOf(upstream));
});

const account = () => `/realms/${realm}/account`;
const provider = (body: object) => server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body });
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const linksOf = async (userId = '') =>
  (await server.admin.call(listIdentityLinks, { params: { realm, userId } })).body ?? [];
const credentialsOf = async (userId: string) =>
  (await server.admin.call(listCredentials, { params: { realm, userId } })).body ?? [];
const makeBob = async () => {
  const body = { username: 'bob', email: 'bob@here.example', emailVerified: true, password: PASSWORD };
  return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
};
async function signedIn(): Promise<Person> {
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  const home = await person.fill(page, { username: 'bob', password: PASSWORD });
  expect(new URL(home.url).pathname).toBe(account());
  return person;
}
/** Where the browser is led that presses the button. */
async function connect(person: Person): Promise<string> {
  const { fields } = await person.open(account());
  const page = await person.post(`${account()}/identities/corp/connect`, { csrf: fields.csrf ?? '' });
  return /<a class="button" href="(https:[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
}
const comeBack = (person: Person, url: string) => {
  const { pathname, search } = new URL(upstream.answer(url));
  return person.open(`${pathname}${search}`);
};

describe('whoever is signed in', () => {
  test('connects a provider on the account page, hears of it by mail, and signs in by it from then on', async () => {
    await mailing.sendsMail(realm);
    const id = await makeBob();
    const bob = await signedIn();
    expect((await bob.open(`${account()}?view=security`)).text).toContain('Connect <bdi>Corp</bdi>');
    const home = await comeBack(bob, await connect(bob));
    expect([
      home.text.includes('You can sign in with it from now on'),
      home.text.includes('Connect <bdi>Corp</bdi>'),
    ]).toEqual([true, false]);
    expect(await linksOf(id)).toMatchObject([{ identityProvider: 'corp', subject: SUBJECT }]);
    await mailing.mailTo('bob@here.example', 'was connected');
    const { page } = await comeBy(server, realm, upstream);
    expect(page.text).toContain('bob');
    expect(await people()).toHaveLength(1);
  });

  test('proves who they are first, where that was long ago', async () => {
    await makeBob();
    const bob = await signedIn();
    const { fields } = await bob.open(account());
    ahead = 301_000;
    const page = await bob.post(`${account()}/identities/corp/connect`, { csrf: fields.csrf ?? '' });
    expect(page.heading).toBe('Sign in');
    expect(upstream.received.filter(({ url }) => url === '/token')).toEqual([]);
  });

  test('doesn’t get what is somebody else’s', async () => {
    await comeBy(server, realm, upstream);
    const id = await makeBob();
    const bob = await signedIn();
    const home = await comeBack(bob, await connect(bob));
    expect([home.text.includes('The account was not connected'), await linksOf(id)]).toEqual([true, []]);
  });

  test('connects nothing for what another browser began, or has been answered', async () => {
    const id = await makeBob();
    const [bob, eve] = [await signedIn(), await signedIn()];
    const url = await connect(eve);
    expect((await comeBack(bob, url)).status).toBe(400);
    expect(await linksOf(id)).toEqual([]);
    const own = await connect(bob);
    const answer = new URL(upstream.answer(own));
    const another = new URL(answer);
    another.searchParams.set('state', 'another');
    expect((await bob.open(`${another.pathname}${another.search}`)).status).toBe(400);
    const address = `${answer.pathname}${answer.search}`;
    expect((await bob.open(address)).text).toContain('from now on');
    expect((await bob.open(address)).status).toBe(400);
  });

  test('connects nothing in a session that has ended meanwhile', async () => {
    const id = await makeBob();
    const bob = await signedIn();
    const url = await connect(bob);
    const { fields } = await bob.open(account());
    await bob.post(`${account()}/sign-out`, { csrf: fields.csrf ?? '' });
    expect((await comeBack(bob, url)).status).toBe(400);
    expect(await linksOf(id)).toEqual([]);
  });

  test('removes a passkey where a provider is left to sign in by, and none that is switched off', async () => {
    const id = await makeBob();
    const bob = await signedIn();
    await comeBack(bob, await connect(bob));
    const key = createSoftPasskey(new URL(server.baseUrl).origin);
    const api = async (method: string, path: string, body: object): Promise<Response> => {
      const csrf = (await bob.once(`${account()}/profile`)).headers.get('x-xsrf-token') ?? '';
      const headers = { 'x-xsrf-token': csrf, 'content-type': 'application/json' };
      return bob.once(`${account()}/${path}`, { method, headers, body: JSON.stringify(body) });
    };
    const { ticket, publicKey } = Object(await (await api('POST', 'credentials/webauthn/start', {})).json());
    const made = await api('POST', 'credentials/webauthn', { ticket, response: key.create(publicKey) });
    const passkey = Object(await made.json()).id;
    const password = (await credentialsOf(id)).find(({ type }) => type === 'password')?.id ?? '';
    const params = { realm, userId: id, type: 'password', id: password };
    await server.admin.call(deleteCredential, { params });
    const executions = [{ authenticatorId: 'webauthn', requirement: 'REQUIRED' as const }];
    await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });

    const again = createPerson(server.baseUrl);
    const asked = await again.open(`/realms/${realm}/login?for=account`);
    const home = await again.fill(asked, answerByPasskey(key, asked, publicKey.user.id));
    expect(new URL(home.url).pathname).toBe(account());
    const remove = () =>
      again.post(`${account()}/credentials/webauthn/${passkey}/remove`, { csrf: home.fields.csrf ?? '' });
    await provider({ enabled: false });
    expect((await remove()).text).toContain('The way to sign in was not removed');
    await provider({ enabled: true });
    expect((await remove()).text).toContain('The way to sign in was removed');
    expect([await credentialsOf(id), (await linksOf(id)).length]).toEqual([[], 1]);
  });

  test('sets a password where the realm asks for passwords, and has no button for one where it doesn’t', async () => {
    const { person } = await comeBy(server, realm, upstream);
    const page = await person.open(`${account()}?view=security`);
    expect([page.text.includes('Set a password'), page.text.includes('Change password')]).toEqual([true, false]);
    const flow = async (authenticatorId: string) => {
      const executions = [{ authenticatorId, requirement: 'REQUIRED' as const }];
      await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
    };
    await flow('idp-redirect');
    expect((await person.open(`${account()}?view=security`)).text).not.toContain('Set a password');
    await flow('username-password');
    const csrf = page.fields.csrf ?? '';
    const choose = await person.post(`${account()}/change`, { csrf, action: 'UPDATE_PASSWORD' });
    expect(choose.heading).toBe('Choose a password');
    const home = await person.fill(choose, { password: PASSWORD, repeated: PASSWORD });
    expect([home.text.includes('Set a password'), home.text.includes('Change password')]).toEqual([false, true]);
    const [ada] = await people();
    expect(await credentialsOf(ada?.id ?? '')).toMatchObject([{ type: 'password' }]);
  });

  test('keeps the provider where the only password was reported as stolen', async () => {
    const id = await makeBob();
    const bob = await signedIn();
    const home = await comeBack(bob, await connect(bob));
    await server.pool.query(
      `update credential set secret = secret || '{"reported": true}' where realm_id = $1 and user_id = $2`,
      [realm, id],
    );
    const [link] = await linksOf(id);
    const kept = await bob.post(`${account()}/identities/${link?.id}/remove`, { csrf: home.fields.csrf ?? '' });
    expect([kept.text.includes('The way to sign in was not removed'), await linksOf(id)]).toMatchObject([
      true,
      [{ id: link?.id }],
    ]);
  });

  test.each([
    ['hidden', { hidden: true }],
    ['connected to nobody', { linking: 'never' }],
    ['switched off', { enabled: false }],
  ])('is offered none that is %s, and can’t connect it', async (_, body) => {
    await makeBob();
    await provider(body);
    const bob = await signedIn();
    expect((await bob.open(`${account()}?view=security`)).text).not.toContain('Connect <bdi>Corp</bdi>');
    expect(await connect(bob)).toBe('');
  });
});

describe('an access token of a provider', () => {
  const config = (more: object) => provider({ config: { issuer: upstream.url, ...more }, secret: 'the secret there' });
  const read = (token: unknown, alias = 'corp') =>
    fetch(`${server.baseUrl}${account()}/identities/${alias}/token`, { headers: { authorization: `Bearer ${token}` } });
  /** What an application gets for somebody who comes by the provider. */
  async function tokenFor(clientId: string, scope = 'openid account') {
    const verifier = newVerifier();
    const asked = await comeBy(server, realm, upstream, {
      path: authorizePath(realm, clientId, verifier, { scope }),
    });
    const { person } = asked;
    const page =
      asked.page.heading === 'Allow access?'
        ? await person.post(`/realms/${realm}/oauth2/consent`, { ...asked.page.fields, decision: 'allow' })
        : asked.page;
    const code = new URL(page.url).searchParams.get('code') ?? '';
    return (await redeem(server, realm, clientId, { code, verifier })).body.access_token;
  }
  beforeEach(async () => {
    for (const clientId of ['reader', 'other'])
      await makeClient(server, realm, {
        ...{ clientId, tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] },
        optionalClientScopes: ['account'],
      });
    await config({ storeToken: true, tokenReaders: ['reader'] });
  });

  test('is kept sealed, and read by a client that the provider names, for its person; the audit log knows', async () => {
    const token = await tokenFor('reader');
    const answer = await read(token);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toMatchObject({ accessToken: 'the-access-token', tokenType: 'Bearer', scope: null });
    const { rows } = await server.pool.query('select * from provider_token where realm_id = $1', [realm]);
    expect([rows.length, JSON.stringify(rows).includes(Buffer.from('the-access-token').toString('hex'))]).toEqual([
      1,
      false,
    ]);
    const events = await server.admin.call(listEvents, { params: { realm }, query: { type: 'IDENTITY_TOKEN_READ' } });
    expect(events.body).toMatchObject([{ clientId: 'reader', data: { identityProvider: 'corp' } }]);
    expect(JSON.stringify(events.body)).not.toContain('the-access-token');
  });

  test('is nobody else’s: neither another client’s, nor without the scope, nor by a cookie, nor of another provider', async () => {
    const allowed = await tokenFor('reader');
    expect((await read(await tokenFor('other'))).status).toBe(403);
    expect((await read(await tokenFor('reader', 'openid'))).status).toBe(403);
    expect((await read(allowed, 'nowhere')).status).toBe(403);
    expect((await read('nonsense')).status).toBe(401);
    const { person } = await comeBy(server, realm, upstream);
    expect((await person.once(`${account()}/identities/corp/token`)).status).toBe(403);
  });

  test('is not read any more once the provider keeps none, or it is over', async () => {
    const token = await tokenFor('reader');
    await config({ tokenReaders: ['reader'] });
    expect((await read(token)).status).toBe(403);
    await config({ storeToken: true, tokenReaders: ['reader'] });
    await server.pool.query('update provider_token set expires_at = $2 where realm_id = $1', [realm, new Date(0)]);
    expect((await read(token)).status).toBe(404);
  });

  test('goes when the provider is told to keep none, and is not there again when it keeps some', async () => {
    const token = await tokenFor('reader');
    await config({ storeToken: true, tokenReaders: ['reader', 'other'] });
    expect((await read(token)).status).toBe(200);
    await config({ tokenReaders: ['reader'] });
    const { rows } = await server.pool.query('select * from provider_token where realm_id = $1', [realm]);
    expect(rows).toEqual([]);
    await config({ storeToken: true, tokenReaders: ['reader'] });
    expect((await read(token)).status).toBe(404);
  });

  test('is kept for a day where the provider doesn’t say how long it is good', async () => {
    upstream.lifetime = undefined;
    const before = Date.now();
    const { expiresAt } = Object(await (await read(await tokenFor('reader'))).json());
    expect(expiresAt).toBeGreaterThanOrEqual(before + 86_400_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 86_400_000);
  });

  test('is not kept where the provider doesn’t say so', async () => {
    await config({});
    await comeBy(server, realm, upstream);
    const { rows } = await server.pool.query('select * from provider_token where realm_id = $1', [realm]);
    expect(rows).toEqual([]);
  });
});
