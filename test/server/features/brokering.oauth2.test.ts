// Owns: sign-ins by providers of plain OAuth 2.0: GitHub with a hidden address, odd token answers, other providers' shapes.
// Does not own: each provider's shape (oauth2-shapes.unit.test.ts), what is asked of a new user (brokering.first.test.ts).
// Implements: decisions "Identity provider".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { type Brokered, makeProvider, startBrokered, wayIn } from '../../support/brokering.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';

let brokered: Brokered;
let realm = '';
let shown: ShownPage;
beforeAll(async () => {
  brokered = await startBrokered();
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  realm = brokered.another('hub');
  const { server } = brokered;
  await server.admin.call(createRealm, { body: { realm } });
  const body = { registrationEmailAsUsername: false, registrationVerifyEmail: false };
  await server.admin.call(putSettings, { params: { realm }, body });
});

async function comeBy(userinfoPath = '/user', { posts = false } = {}) {
  const { server, upstream } = brokered;
  await makeProvider(server, realm, {
    alias: 'hub',
    type: 'oauth2',
    displayName: 'Hub',
    clientId: 'realm',
    secret: 'the secret there',
    scopes: ['user:email'],
    config: {
      authorizationEndpoint: `${upstream.url}/login/oauth/authorize${posts ? '?response_mode=form_post' : ''}`,
      tokenEndpoint: `${upstream.url}/token`,
      userinfoEndpoint: `${upstream.url}${userinfoPath}`,
    },
  });
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  const there = (await person.open(wayIn(page, 'hub'))).url;
  const back = new URL(upstream.answer(there));
  // Apple posts the user beside the parameters, once.
  const fields = {
    ...Object.fromEntries(back.searchParams),
    user: '{"name":{"firstName":"Eve"},"email":"eve@x.example"}',
  };
  shown = await (posts ? person.post(back.pathname, fields) : person.open(`${back.pathname}${back.search}`));
  expect(new URL(there).searchParams.get('response_mode')).toBe(posts ? 'form_post' : null);
  const { body: users = [] } = await server.admin.call(listUsers, { params: { realm } });
  return users;
}
const asked = (path: string) => brokered.upstream.received.filter(({ url }) => url === path);
const octocat = { id: 583_231, login: 'octocat', name: 'Mona Octocat', email: null };

describe('GitHub with a hidden address', () => {
  test('says it at /user/emails, with whether it is verified', async () => {
    brokered.upstream.userinfo = octocat;
    const emails = [
      { email: '583231+octocat@users.noreply.github.com', primary: false, verified: true, visibility: null },
      { email: 'octo@hub.example', primary: true, verified: true, visibility: 'private' },
    ];
    brokered.upstream.also = { '/user/emails': { body: emails } };
    expect(await comeBy()).toMatchObject([{ username: 'octocat', email: 'octo@hub.example', emailVerified: true }]);
    expect(asked('/user/emails')[0]?.headers).toMatchObject({
      authorization: 'Bearer the-access-token',
      'user-agent': expect.stringMatching(/./),
    });
  });

  test('that is not verified counts as not verified', async () => {
    brokered.upstream.userinfo = octocat;
    brokered.upstream.also = { '/user/emails': { body: [{ email: 'o@hub.example', primary: true, verified: false }] } };
    expect(await comeBy()).toMatchObject([{ email: 'o@hub.example', emailVerified: false }]);
  });

  test.each([
    { status: 404, body: { message: 'Not Found' } },
    { status: 403, body: {} },
    { body: { message: 'odd' } },
    { body: [] },
  ])('that the token does not reach is asked of the user, who is not turned away: %j', async (answer) => {
    brokered.upstream.userinfo = octocat;
    brokered.upstream.also = { '/user/emails': answer };
    expect(await comeBy()).toEqual([]);
    expect([shown.status, Object.keys(shown.fields)]).toEqual([200, expect.arrayContaining(['email'])]);
  });

  test.each<[string, object[], boolean]>([
    ['is verified by the list', [{ email: 'Shown@hub.example', primary: false, verified: true }], true],
    ['is not verified by the list', [{ email: 'shown@hub.example', primary: true, verified: false }], false],
    ['is not in the list', [{ email: 'other@hub.example', primary: true, verified: true }], false],
  ])('that shows another one keeps that, which %s', async (_, body, emailVerified) => {
    brokered.upstream.userinfo = { ...octocat, email: 'shown@hub.example' };
    brokered.upstream.also = { '/user/emails': { body } };
    expect(await comeBy()).toMatchObject([{ email: 'shown@hub.example', emailVerified }]);
    expect(asked('/user/emails')).toHaveLength(1);
  });
});

describe('a token answer', () => {
  test.each<[string, string]>([
    ['as a form', 'access_token=the-access-token&scope=user%3Aemail%2Crepo&token_type=bearer'],
    ['behind a byte order mark', '\uFEFF{"access_token":"the-access-token"}'],
    [
      'with the user’s token beside the workspace’s',
      '{"access_token":"x","authed_user":{"access_token":"the-access-token"}}',
    ],
    ['with a list of scopes', '{"access_token":"the-access-token","scope":["a","b"],"expires_in":"3600"}'],
  ])('is read %s', async (_, body) => {
    brokered.upstream.userinfo = { ...octocat, email: 'octo@hub.example' };
    brokered.upstream.token = { status: 200, body };
    expect(await comeBy()).toMatchObject([{ username: 'octocat' }]);
  });

  test('that refuses by 200, as GitHub does, is audited by its error', async () => {
    brokered.upstream.userinfo = octocat;
    const body = '{"error":"bad_verification_code","error_description":"The code passed is incorrect or expired."}';
    brokered.upstream.token = { status: 200, body };
    expect(await comeBy()).toEqual([]);
    const { body: events = [] } = await brokered.server.admin.call(listEvents, { params: { realm } });
    expect(JSON.stringify(events)).toContain('token-error-bad_verification_code');
  });
});

test.each<[string, object, object]>([
  [
    'X',
    { data: { id: '22', username: 'xdev', name: 'X Dev', confirmed_email: 'x@x.example' } },
    { username: 'xdev', emailVerified: true },
  ],
  [
    'Slack',
    { ok: true, user: { id: 'U1', name: 'Sonny W', email: 's@x.example' }, team: { id: 'T1' } },
    { email: 's@x.example', emailVerified: false },
  ],
  [
    'Discord',
    { id: '80351', username: 'nelly', discriminator: '0', global_name: 'Nelly', verified: true, email: 'n@x.example' },
    { username: 'nelly', email: 'n@x.example', emailVerified: true },
  ],
])('%s signs its user in', async (_, body, user) => {
  brokered.upstream.also = { '/me': { body } };
  expect(await comeBy('/me')).toMatchObject([user]);
});

test('an answer by form_post signs its user in, and what is posted beside it says nothing of the user', async () => {
  brokered.upstream.userinfo = { ...octocat, name: 'Mona Octocat', email: 'm@hub.example' };
  expect(await comeBy('/user', { posts: true })).toMatchObject([
    { username: 'octocat', email: 'm@hub.example', firstName: 'Mona' },
  ]);
  expect(new URL(shown.url).search).not.toContain('user=');
});

test.each([
  ['of another sign-in', { state: 'x', code: 'y' }],
  ['without parameters', {}],
  ['with parameters that are too long', { state: 'x'.repeat(300), code: 'y'.repeat(5_000) }],
])('an answer by form_post %s signs nobody in', async (_, fields) => {
  brokered.upstream.userinfo = { ...octocat, email: 'm@hub.example' };
  await comeBy();
  const stranger = createPerson(brokered.server.baseUrl);
  const page = await stranger.post(`/realms/${realm}/broker/hub/endpoint`, fields);
  expect(page.text).not.toContain('Mona');
  expect([200, 400, 403, 404]).toContain(page.status);
  expect((await stranger.open(`/realms/${realm}/account`)).url).toContain('/login');
});
