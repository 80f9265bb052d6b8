// Owns: what recorded answers of well-known OAuth 2.0 providers are as claims.
// Does not own: the requests for them, and the users that come of them (brokering.oauth2.test.ts).
import { describe, expect, test } from 'vitest';
import {
  addressAmong,
  addressesEndpoint,
  claimsOf,
} from '../../../server/features/authentication/brokering/oauth2-shapes.ts';

const shapes: [string, object, object][] = [
  [
    'GitHub',
    { login: 'octocat', id: 583231, node_id: 'MDQ6VXNlcjU4MzIzMQ==', type: 'User', name: 'Mona', email: null },
    { sub: 583231, preferred_username: 'octocat', name: 'Mona', email: null },
  ],
  [
    'GitLab',
    { id: 1, username: 'john_smith', name: 'John Smith', email: 'john@example.com', confirmed_at: '2012-05-23' },
    { sub: 1, preferred_username: 'john_smith', email: 'john@example.com', email_verified: undefined },
  ],
  [
    'Gitea',
    { id: 7, login: 'ada', login_name: '', full_name: 'Ada Byron', email: 'ada@git.example', is_admin: false },
    { sub: 7, preferred_username: 'ada', name: 'Ada Byron', email: 'ada@git.example', email_verified: undefined },
  ],
  [
    'Bitbucket',
    {
      type: 'user',
      uuid: '{f9f4b8a2-0000-4000-8000-000000000001}',
      account_id: '557058:1a2b',
      username: 'ada',
      nickname: 'Ada',
      display_name: 'Ada Byron',
    },
    { sub: '557058:1a2b', preferred_username: 'ada', name: 'Ada Byron' },
  ],
  [
    'Bitbucket without an Atlassian account',
    {
      type: 'user',
      uuid: '{f9f4b8a2-0000-4000-8000-000000000001}',
      account_id: null,
      username: 'ada',
      nickname: 'Ada',
      display_name: 'Ada Byron',
    },
    { sub: '{f9f4b8a2-0000-4000-8000-000000000001}', preferred_username: 'ada', name: 'Ada Byron' },
  ],
  [
    'Bitbucket that leaves account_id out',
    { type: 'user', uuid: '{f9f4b8a2-0000-4000-8000-000000000001}', username: 'ada', display_name: 'Ada Byron' },
    { sub: '{f9f4b8a2-0000-4000-8000-000000000001}', preferred_username: 'ada', name: 'Ada Byron' },
  ],
  [
    'Atlassian',
    { account_type: 'atlassian', account_id: '112233aa', email: 'mia@example.com', name: 'Mia', nickname: 'mia' },
    { sub: '112233aa', email: 'mia@example.com', name: 'Mia', email_verified: undefined },
  ],
  [
    'Amazon',
    { user_id: 'amzn1.account.K2LI23KL2LK2', name: 'Mork', email: 'mork@example.com', postal_code: '98052' },
    { sub: 'amzn1.account.K2LI23KL2LK2', email: 'mork@example.com' },
  ],
  [
    'PayPal',
    {
      user_id: 'https://www.paypal.com/webapps/auth/identity/user/mWq6',
      name: 'Test',
      emails: [
        { value: 'old@example.com', primary: false, confirmed: true },
        { value: 'user1@example.com', primary: true, confirmed: true },
      ],
    },
    {
      sub: 'https://www.paypal.com/webapps/auth/identity/user/mWq6',
      email: 'user1@example.com',
      email_verified: true,
    },
  ],
  ['LINE', { userId: 'U4af4980629', displayName: 'taro', statusMessage: 'hi' }, { sub: 'U4af4980629', name: 'taro' }],
  [
    'WordPress.com',
    { ID: 78972699, display_name: 'Ada', username: 'ada', email: 'ada@wp.example', email_verified: true },
    { sub: 78972699, preferred_username: 'ada', name: 'Ada', email: 'ada@wp.example', email_verified: true },
  ],
  [
    'X',
    { data: { id: '2244994945', name: 'X Dev', username: 'XDevelopers' } },
    { sub: '2244994945', preferred_username: 'XDevelopers', name: 'X Dev', email_verified: undefined },
  ],
  [
    'X with an address',
    { data: { id: '1', name: 'A', username: 'a', confirmed_email: 'a@x.example' } },
    { sub: '1', email: 'a@x.example', email_verified: true },
  ],
  [
    'Twitch',
    { data: [{ id: '141981764', login: 'twitchdev', display_name: 'TwitchDev', email: 'not-real@email.com' }] },
    { sub: '141981764', preferred_username: 'twitchdev', email: 'not-real@email.com', email_verified: undefined },
  ],
  [
    'Slack',
    { ok: true, user: { id: 'U0G9QF9C6', name: 'Sonny', email: 'sonny@example.com' }, team: { id: 'T0G9PQBBK' } },
    { sub: 'T0G9PQBBK.U0G9QF9C6', name: 'Sonny', email: 'sonny@example.com', email_verified: undefined },
  ],
  [
    'Naver',
    { resultcode: '00', message: 'success', response: { id: '32742776', nickname: 'OpenAPI', email: 'o@naver.com' } },
    { sub: '32742776', name: 'OpenAPI', email: 'o@naver.com' },
  ],
  [
    'Nextcloud',
    { ocs: { meta: { status: 'ok' }, data: { id: 'ada', displayname: 'Ada', email: 'ada@nc.example' } } },
    { sub: 'ada', preferred_username: 'ada', name: 'Ada', email: 'ada@nc.example' },
  ],
  [
    'Kakao',
    {
      id: 123456789,
      kakao_account: {
        email: 'a@kakao.com',
        is_email_valid: true,
        is_email_verified: true,
        profile: { nickname: 'Hong' },
      },
    },
    { sub: 123456789, name: 'Hong', email: 'a@kakao.com', email_verified: true },
  ],
  [
    'Discord',
    {
      id: '80351110224678912',
      username: 'nelly',
      global_name: 'Nelly',
      discriminator: '0',
      verified: true,
      email: 'nelly@discord.com',
    },
    { sub: '80351110224678912', preferred_username: 'nelly', name: 'Nelly', email_verified: true },
  ],
  [
    'Discord, unverified',
    { id: '8', username: 'n', discriminator: '1337', verified: false, email: 'n@discord.com' },
    { sub: '8', email_verified: false },
  ],
  [
    'Google before OpenID Connect',
    { id: '1187', email: 'a@gmail.com', verified_email: true, name: 'A B', given_name: 'A', family_name: 'B' },
    { sub: '1187', email: 'a@gmail.com', email_verified: true, given_name: 'A' },
  ],
  [
    'Microsoft Graph',
    {
      id: '87d349ed',
      userPrincipalName: 'AdeleV@contoso.com',
      mail: 'adele@contoso.com',
      givenName: 'Adele',
      surname: 'Vance',
      displayName: 'Adele Vance',
    },
    {
      sub: '87d349ed',
      preferred_username: 'AdeleV@contoso.com',
      email: 'adele@contoso.com',
      given_name: 'Adele',
      family_name: 'Vance',
      name: 'Adele Vance',
      email_verified: undefined,
    },
  ],
  [
    'Facebook',
    { id: '10158', first_name: 'Ada', last_name: 'Byron', name: 'Ada Byron', email: 'ada@fb.example' },
    { sub: '10158', given_name: 'Ada', family_name: 'Byron', email: 'ada@fb.example' },
  ],
  [
    'Yandex',
    { id: '1000034426', login: 'ivan', first_name: 'Ivan', last_name: 'I', default_email: 'ivan@yandex.ru' },
    { sub: '1000034426', preferred_username: 'ivan', given_name: 'Ivan', email: 'ivan@yandex.ru' },
  ],
  [
    'Spotify',
    { id: 'ada', display_name: 'Ada', email: 'ada@sp.example' },
    { sub: 'ada', name: 'Ada', email: 'ada@sp.example', email_verified: undefined },
  ],
  [
    'LinkedIn by its OpenID Connect endpoint',
    {
      sub: 'vaz8tJ1Aah',
      email_verified: true,
      name: 'Example User',
      locale: { country: 'US', language: 'en' },
      given_name: 'Example',
      family_name: 'User',
      email: 'user@example.com',
    },
    { sub: 'vaz8tJ1Aah', given_name: 'Example', email_verified: true },
  ],
  [
    'LinkedIn before OpenID Connect',
    { id: 'yrZCpj2Z12', localizedFirstName: 'Bob', localizedLastName: 'Smith' },
    { sub: 'yrZCpj2Z12', given_name: 'Bob', family_name: 'Smith' },
  ],
  ['Strava', { id: 1234, username: 'm', firstname: 'Marianne', lastname: 'T' }, { sub: 1234, given_name: 'Marianne' }],
];

test.each(shapes)('%s says who its user is', (_, body, claims) => {
  const got = claimsOf(body as Record<string, unknown>);
  for (const [name, value] of Object.entries(claims)) expect(got[name], name).toEqual(value);
  // A mapper finds all that the provider has said.
  for (const [name, value] of Object.entries(body)) if (value !== null) expect(got[name], name).toEqual(value);
});

describe('no one is named', () => {
  test.each<[string, object]>([
    ['nothing', {}],
    ['an id of another form', { user_id: 'someone' }],
    [
      'several users',
      {
        data: [
          { id: '1', login: 'a' },
          { id: '2', login: 'b' },
        ],
      },
    ],
    ['a refusal', { ok: false, error: 'token_revoked' }],
    ['a user of a workspace that is not named', { ok: true, user: { id: 'U1' } }],
    ['two shapes at once', { userId: 'U1', displayName: 'a', data: { id: '2', username: 'b' } }],
    ['an error of Naver', { resultcode: '024', response: { id: '1' } }],
  ])('by %s', (_, body) => {
    expect(claimsOf(body as Record<string, unknown>).sub).toBeUndefined();
  });

  test('beside a subject of the provider’s own, which comes first, whatever it is', () => {
    const data = { id: '2', username: 'b' };
    expect(claimsOf({ sub: 's', id: 'i', data }).sub).toBe('s');
    expect(claimsOf({ id: 'i', data }).sub).toBe('i');
    expect(claimsOf({ id: {}, data }).sub).toEqual({});
    expect(claimsOf({ sub: '', data }).sub).toBe('');
  });
});

test('an address counts as verified only if the provider says so of this address', () => {
  const data = { id: '1', username: 'a', confirmed_email: 'a@x.example' };
  expect(claimsOf({ data, email: 'other@x.example' })).toMatchObject({ email: 'other@x.example' });
  expect(claimsOf({ data, email: 'other@x.example' }).email_verified).toBeUndefined();
  expect(claimsOf({ id: 'a', verified_email: true, email: 'a@g.example', email_verified: false })).toMatchObject({
    email_verified: false,
  });
});

describe('of several addresses counts', () => {
  const primary = { email: 'p@x.example', primary: true, verified: true, visibility: 'private' };
  const other = { email: 'o@x.example', primary: false, verified: true, visibility: null };
  const hidden = { email: '1+octo@users.noreply.github.com', primary: false, verified: true, visibility: null };
  test.each<[string, unknown, object]>([
    ['the primary one', [hidden, other, primary], { email: 'p@x.example', email_verified: true }],
    ['a verified one', [{ ...primary, verified: false }, other], { email: 'o@x.example', email_verified: true }],
    ['else the primary one', [{ ...primary, verified: false }], { email: 'p@x.example', email_verified: false }],
    ['none that receives no mail', [hidden], {}],
    [
      'Bitbucket’s confirmed one',
      { values: [{ email: 'b@x.example', is_primary: true, is_confirmed: true, type: 'email' }] },
      { email: 'b@x.example', email_verified: true },
    ],
    ['none of what is no list', { message: 'Not Found' }, {}],
    ['none of what is no address', [null, 7, { email: 7 }, { email: '' }], {}],
    ['none of nothing', undefined, {}],
  ])('%s', (_, list, said) => {
    expect(addressAmong(list)).toEqual(said);
  });
});

test('a provider is asked for addresses only where it has them', () => {
  const octocat = { login: 'octocat', id: 583231, email: null };
  const at = (url: string, body: Record<string, unknown> = octocat) => addressesEndpoint(url, body);
  expect(at('https://api.github.com/user')).toBe('https://api.github.com/user/emails');
  expect(at('https://git.example/api/v3/user/')).toBe('https://git.example/api/v3/user/emails');
  expect(at('https://git.example/api/v1/user?a=b')).toBe('https://git.example/api/v1/user/emails?a=b');
  expect(at('https://api.bitbucket.org/2.0/user', { type: 'user', account_id: 'a', uuid: '{u}' })).toContain('/emails');
  expect(
    at('https://api.bitbucket.org/2.0/user', { type: 'user', uuid: '{f9f4b8a2-0000-4000-8000-000000000001}' }),
  ).toContain('/emails');
  expect(at('https://id.example/user', { type: 'user', uuid: 'f9f4b8a2' })).toBeUndefined();
  expect(at('https://api.github.com/user', { ...octocat, email: 'a@x.example' })).toContain('/emails');
  expect(at('https://api.github.com/user', { ...octocat, email: 'a@x.example', email_verified: true })).toBeUndefined();
  // GitLab's answer has no list beside it.
  expect(at('https://gitlab.example/api/v4/user', { id: 1, username: 'a' })).toBeUndefined();
  expect(at('https://id.example/userinfo')).toBeUndefined();
  expect(at('https://id.example/user', { id: 'a' })).toBeUndefined();
});
