// Owns: people by SCIM: created, read, replaced, deleted; who may; what the realm's rules say; errors in SCIM's form.
// Does not own: filters (scim.filters.test.ts), PATCH (scim.patch.test.ts), groups (scim.groups.test.ts).
// Implements: specification 4.11; RFC 7643, RFC 7644; decisions "SCIM token".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { createScimToken, deleteScimToken, listScimTokens } from '../../../server/contract/scim-tokens.ts';
import { listUserSessions } from '../../../server/contract/user-access.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listCredentials, putUser } from '../../../server/contract/users.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
let token = '';
let clock = Date.now();
const realm = 'acme';
const params = { realm };
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PASSWORD = 'a long enough password';

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
  for (const name of [realm, 'other', 'strict']) await server.admin.call(createRealm, { body: { realm: name } });
  token = await scimToken(server, realm);
  scim = scimWith(server, realm, token);
});
afterAll(() => server?.stop());

const made = async (userName: string, more: object = {}) => {
  const answer = await scim('POST', '/Users', { userName, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const stored = async (userId: string) => (await server.admin.call(getUser, { params: { ...params, userId } })).body;

const full = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', ENTERPRISE],
  externalId: '701984',
  userName: 'bjensen@example.com',
  name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara', middleName: 'Jane' },
  displayName: 'Babs Jensen',
  nickName: 'Babs',
  title: 'Tour Guide',
  userType: 'Employee',
  preferredLanguage: 'en-US',
  locale: 'en-US',
  timezone: 'America/Los_Angeles',
  active: true,
  emails: [{ value: 'bjensen@example.com', type: 'work', primary: true }],
  phoneNumbers: [
    { value: '555-555-4444', type: 'mobile' },
    { value: '555-555-5555', type: 'work' },
    { value: '555-555-6666', type: 'work' },
  ],
  addresses: [{ type: 'work', streetAddress: '100 Universal City Plaza', locality: 'Hollywood', country: 'USA' }],
  [ENTERPRISE]: { employeeNumber: '42', department: 'Tours', manager: { value: 'somebody' } },
};

describe('a user', () => {
  test('is created with all that SCIM knows, and answered as it is', async () => {
    const { status, headers, body } = await scim('POST', '/Users', full);
    expect([status, body]).toMatchObject([201, full]);
    const location = `${server.baseUrl}/realms/acme/scim/v2/Users/${body.id}`;
    expect(headers.get('location')).toBe(location);
    expect(headers.get('content-type')).toMatch(/^application\/scim\+json/);
    expect(headers.get('etag')).toBe(body.meta.version);
    expect(body.meta).toMatchObject({ resourceType: 'User', location, version: expect.stringMatching(/^W\/".+"$/) });
    const read = await scim('GET', `/Users/${body.id}`);
    expect([read.status, read.body]).toEqual([200, body]);
  });

  test('is the same person for administrators, with attributes that claims can show', async () => {
    const { id } = await made('ann', { ...full, userName: 'ann', emails: [{ value: 'ann@example.com' }] });
    expect(await stored(id)).toMatchObject({
      username: 'ann',
      email: 'ann@example.com',
      emailVerified: false,
      firstName: 'Barbara',
      lastName: 'Jensen',
      attributes: {
        zoneinfo: ['America/Los_Angeles'],
        locale: ['en-US'],
        middle_name: ['Jane'],
        department: ['Tours'],
        'phoneNumbers.work': ['555-555-5555', '555-555-6666'],
        'addresses.work.locality': ['Hollywood'],
      },
    });
  });

  test('is replaced: what is left out goes, but roles, and attributes that SCIM has no name for', async () => {
    await server.admin.call(createRole, { params, body: { name: 'guide' } });
    const { id } = await made('cleo', { ...full, userName: 'cleo', emails: [], roles: [{ value: 'guide' }] });
    const userId = id;
    const { attributes = {} } = (await stored(id)) ?? {};
    await server.admin.call(putUser, {
      params: { ...params, userId },
      body: { attributes: { ...attributes, badge: ['7'] } },
    });
    const { status, body } = await scim('PUT', `/Users/${id}`, { userName: 'cleo', title: 'Boss' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ userName: 'cleo', title: 'Boss', active: true, roles: [{ value: 'guide' }] });
    expect(Object.keys(body).sort()).toEqual(['active', 'id', 'meta', 'roles', 'schemas', 'title', 'userName']);
    expect(await stored(id)).toMatchObject({ firstName: null, attributes: { badge: ['7'], title: ['Boss'] } });
  });

  test('is deleted, and is gone', async () => {
    const { id } = await made('dora');
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { userName: 'dora' }]] as const)
      expect((await scim(method, `/Users/${id}`, body)).status).toBe(404);
  });

  test('takes what Okta sends: empty texts and lists, groups, a password, "True"', async () => {
    const body = await made('eve@okta.test', {
      name: { givenName: 'Eve', familyName: 'Oh', middleName: '' },
      emails: [{ primary: true, value: 'eve@okta.test', type: 'work' }],
      displayName: 'Eve Oh',
      locale: null,
      externalId: '00u1',
      groups: [],
      password: PASSWORD,
      active: 'True',
    });
    expect(body).toMatchObject({ active: true, externalId: '00u1', name: { givenName: 'Eve', familyName: 'Oh' } });
    expect(JSON.stringify(body)).not.toContain(PASSWORD);
    const { body: credentials } = await server.admin.call(listCredentials, { params: { ...params, userId: body.id } });
    expect(credentials?.map(({ type }) => type)).toEqual(['password']);
  });

  test('who is disabled loses their sessions at once', async () => {
    const { id } = await made('fay', { password: PASSWORD });
    await server.pool.query(
      `insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
       values ($1, gen_random_uuid(), '\\x01', $2, now(), now(), now() + interval '1 hour', now())`,
      [realm, id],
    );
    await scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] });
    const { body: sessions } = await server.admin.call(listUserSessions, { params: { ...params, userId: id } });
    expect([(await stored(id))?.enabled, sessions]).toEqual([false, []]);
    const { body: events } = await server.admin.call(listEvents, { params, query: { userId: id } });
    expect(events?.map(({ type }) => type)).toEqual(expect.arrayContaining(['SESSION_ENDED', 'USER_UPDATED']));
    expect(events?.[0]?.actor).toMatchObject({ type: 'system', name: 'SCIM token entra' });
  });
});

describe('the realm’s rules hold', () => {
  test.each([
    ['no userName', { name: { givenName: 'X' } }, 400, 'invalidValue', /userName/],
    ['an address that is none', { userName: 'x1', emails: [{ value: 'nope' }] }, 400, 'invalidValue', /emails.value/],
    ['a weak password', { userName: 'x2', password: 'short' }, 400, 'invalidValue', /password/],
    ['a name that is taken', { userName: 'GITA' }, 409, 'uniqueness', /userName/],
    [
      'an address that is taken',
      { userName: 'x3', emails: [{ value: 'gita@x.test' }] },
      409,
      'uniqueness',
      /emails.value/,
    ],
    ['a role that isn’t there', { userName: 'x4', roles: [{ value: 'nope' }] }, 400, 'invalidValue', /nope/],
    ['a number for an object', { userName: 'x5', name: 7 }, 400, 'invalidValue', /name/],
    ['a list for a text', { userName: ['x6'] }, 400, 'invalidValue', /userName/],
    ['active that is neither', { userName: 'x7', active: 'maybe' }, 400, 'invalidValue', /active/],
    ['NUL', { userName: 'x8', title: 'a\0b' }, 400, 'invalidValue', /title/],
    [
      'a type that is no word',
      { userName: 'x9', phoneNumbers: [{ value: '1', type: 'a.b' }] },
      400,
      'invalidValue',
      /type/,
    ],
  ])('%s is refused', async (_, body, status, scimType, detail) => {
    if (scimType === 'uniqueness')
      await scim('POST', '/Users', { userName: 'gita', emails: [{ value: 'gita@x.test' }] });
    const answer = await scim('POST', '/Users', body);
    expect([answer.status, answer.body]).toEqual([
      status,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
        scimType,
        detail: expect.stringMatching(detail),
      },
    ]);
  });

  test('and the user profile: what it doesn’t allow is refused, what it hides isn’t shown, found or lost', async () => {
    const strict = { realm: 'strict' };
    const title = { name: 'title', validation: { maxLength: 5 } };
    const secret = { name: 'costCenter', view: ['user' as const], edit: ['admin' as const] };
    const body = { unmanagedAttributes: 'disabled' as const, attributes: [title, secret] };
    await server.admin.call(putUserProfile, { params: strict, body });
    const at = scimWith(server, 'strict', await scimToken(server, 'strict'));
    const long = await at('POST', '/Users', { userName: 'ida', title: 'Director' });
    expect([long.status, long.body.scimType, long.body.detail]).toEqual([
      400,
      'invalidValue',
      'title: must have at most 5 characters',
    ]);
    const undeclared = await at('POST', '/Users', { userName: 'ida', [ENTERPRISE]: { department: 'x' } });
    expect([undeclared.status, undeclared.body.detail]).toEqual([400, expect.stringContaining('department')]);
    const { body: ida } = await at('POST', '/Users', {
      userName: 'ida',
      title: 'Boss',
      [ENTERPRISE]: { costCenter: '4711' },
    });
    expect(JSON.stringify(ida)).not.toContain('4711');
    const badge = { name: 'badge', required: ['admin' as const] };
    await server.admin.call(putUserProfile, { params: strict, body: { attributes: [title, secret, badge] } });
    const lacking = await at('POST', '/Users', { userName: 'bob' });
    expect([lacking.status, lacking.body.detail]).toEqual([
      400,
      'badge: is required by the realm’s user profile, and SCIM has no attribute for it: require it of people alone, who are asked when they sign in',
    ]);
    await server.admin.call(putUserProfile, { params: strict, body });
    const asked = await at('GET', `/Users?filter=${encodeURIComponent(`${ENTERPRISE}:costCenter eq "4711"`)}`);
    expect([asked.status, asked.body.scimType]).toEqual([400, 'invalidFilter']);
    expect((await at('PUT', `/Users/${ida.id}`, { userName: 'ida' })).status).toBe(200);
    const { body: kept } = await server.admin.call(getUser, { params: { ...strict, userId: ida.id } });
    const { rows } = await server.pool.query('select attributes from realm_user where id = $1', [ida.id]);
    expect([kept?.attributes, rows[0].attributes]).toEqual([{}, { costCenter: ['4711'] }]);
  });

  test('who administers isn’t changed, disabled or deleted by a SCIM token', async () => {
    const { body } = await server.admin.call(createUser, { params, body: { username: 'boss', password: PASSWORD } });
    const userId = body?.id ?? '';
    await server.admin.call(putUserAdminRoles, {
      params: { ...params, userId },
      body: { grants: [{ role: 'realm-viewer', realm }] },
    });
    for (const [method, sent] of [
      ['PUT', { userName: 'boss', password: 'another long enough password' }],
      ['PATCH', { Operations: [{ op: 'replace', value: { active: false } }] }],
      ['DELETE', undefined],
    ] as const)
      expect((await scim(method, `/Users/${userId}`, sent)).status, method).toBe(403);
    expect(await stored(userId)).toMatchObject({ enabled: true });
  });
});

describe('an ETag', () => {
  test('is of the whole user: a write with an old one is refused, a read with the present one has nothing new', async () => {
    const { id, meta } = await made('hal');
    const match = { 'if-match': meta.version };
    const first = await scim('PUT', `/Users/${id}`, { userName: 'hal', title: 'a' }, match);
    expect(first.status).toBe(200);
    for (const [method, body] of [
      ['PUT', { userName: 'hal', title: 'b' }],
      ['PATCH', { Operations: [{ op: 'add', path: 'title', value: 'b' }] }],
      ['DELETE', undefined],
    ] as const)
      expect((await scim(method, `/Users/${id}`, body, match)).status, method).toBe(412);
    const version = first.headers.get('etag') ?? '';
    expect((await scim('GET', `/Users/${id}?attributes=userName`)).headers.get('etag')).toBe(version);
    expect((await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': version })).status).toBe(304);
    expect((await scim('DELETE', `/Users/${id}`, undefined, { 'if-match': version })).status).toBe(204);
  });

  test('changes with the client’s own id, which is kept when nothing else is', async () => {
    const { id, meta } = await made('ian', { externalId: 'a' });
    const { body } = await scim('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'replace', path: 'externalId', value: 'b' }],
    });
    expect([body.externalId, body.meta.version === meta.version]).toEqual(['b', false]);
  });
});

describe('an answer has', () => {
  test.each([
    ['attributes=userName,name.familyName', ['id', 'name', 'schemas', 'userName']],
    [`attributes=${ENTERPRISE}:department`, ['id', 'schemas', ENTERPRISE]],
    ['attributes=nope', ['id', 'schemas']],
    ['excludedAttributes=id,meta,emails,name,active', ['id', 'schemas', 'userName', ENTERPRISE]],
  ])('with %s only that, and what is always there', async (query, keys) => {
    const userName = `jo-${keys.length}-${query.length}`;
    const more = { name: { givenName: 'J', familyName: 'O' }, [ENTERPRISE]: { department: 'd' } };
    const { id } = await made(userName, more);
    const { body } = await scim('GET', `/Users/${id}?${query}`);
    expect(Object.keys(body).sort()).toEqual([...keys].sort());
    if (query.includes('familyName')) expect(body.name).toEqual({ familyName: 'O' });
  });
});

describe('a token', () => {
  test('that is missing, made up, of another realm, expired or taken back is nobody’s', async () => {
    const other = await scimToken(server, 'other');
    const expiresAt = clock + 60_000;
    const body = { name: 'short', permissions: ['read' as const], expiresAt };
    const { body: short } = await server.admin.call(createScimToken, { params, body });
    expect((await scimWith(server, realm, short?.token)('GET', '/Users')).status).toBe(200);
    const { body: gone } = await server.admin.call(createScimToken, { params, body: { ...body, name: 'gone' } });
    await server.admin.call(deleteScimToken, { params: { ...params, id: gone?.id ?? '' } });
    clock += 61_000;
    for (const sent of [undefined, 'nope', `${token.slice(0, -1)}x`, other, short?.token, gone?.token]) {
      const { status, headers, body: error } = await scimWith(server, realm, sent)('GET', '/Users');
      expect([status, error.status, headers.get('www-authenticate')]).toEqual([401, '401', 'Bearer realm="acme"']);
    }
  });

  test('may do what it was given alone, and what it tries besides is audited', async () => {
    const reader = scimWith(server, realm, await scimToken(server, realm, ['read']));
    const writer = scimWith(server, realm, await scimToken(server, realm, ['write']));
    expect((await reader('GET', '/Users?count=1')).status).toBe(200);
    expect((await reader('POST', '/Users/.search', { count: 1 })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/Users'],
      ['POST', '/Bulk'],
      ['DELETE', '/Users/x'],
    ] as const)
      expect((await reader(method, path, method === 'POST' ? {} : undefined)).status).toBe(403);
    expect((await writer('GET', '/Users')).status).toBe(403);
    expect((await writer('POST', '/Users', { userName: 'kim' })).status).toBe(201);
    const { body } = await server.admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
    expect(body?.map(({ data }) => data.permission)).toEqual(['scim:read', 'scim:write', 'scim:write', 'scim:write']);
  });

  test('is shown once, and listed with when it was last used', async () => {
    const { body } = await server.admin.call(listScimTokens, { params });
    expect(JSON.stringify(body)).not.toContain('svc_scim_');
    expect(body?.[0]).toMatchObject({ name: 'entra', permissions: ['read', 'write'], lastUsedAt: expect.any(Number) });
  });

  test('gives no more than whoever makes it holds', async () => {
    const { body } = await server.admin.call(createUser, { params, body: { username: 'clerk', password: PASSWORD } });
    const grants = [{ role: 'security-auditor', realm }];
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId: body?.id ?? '' }, body: { grants } });
    const clerk = await server.signIn({ realm, username: 'clerk', password: PASSWORD });
    const call = clerk.call(createScimToken, { params, body: { name: 'mine', permissions: ['read'] } });
    await expect(call).rejects.toMatchObject({ status: 403 });
  });
});

test('a person of another realm is nobody at every address', async () => {
  const { id } = await made('lea');
  const other = scimWith(server, 'other', await scimToken(server, 'other'));
  const operations = { Operations: [{ op: 'replace', path: 'title', value: 'x' }] };
  for (const [method, body] of [['GET'], ['PUT', { userName: 'lea' }], ['PATCH', operations], ['DELETE']] as const)
    expect((await other(method, `/Users/${id}`, body)).status, method).toBe(404);
  const { body } = await other('POST', '/Bulk', { Operations: [{ method: 'DELETE', path: `/Users/${id}` }] });
  expect(body.Operations[0].status).toBe('404');
  expect((await scim('GET', `/Users/${id}`)).body).toMatchObject({ userName: 'lea' });
});

test('an address that isn’t there, a realm that isn’t, and a body that is none are SCIM errors', async () => {
  expect((await scim('GET', '/Nope')).body).toMatchObject({ status: '404' });
  expect((await scim('PATCH', '/Users')).body).toMatchObject({ status: '405' });
  expect((await scimWith(server, 'nope', token)('GET', '/Users')).body).toMatchObject({ status: '404' });
  const broken = await scim('POST', '/Users', '{"userName":');
  expect([broken.status, broken.body.scimType]).toEqual([400, 'invalidSyntax']);
  const poisoned = await scim('POST', '/Users', '{"userName":"x","__proto__":{"active":true}}');
  expect([poisoned.status, Object.hasOwn(Object.prototype, 'active')]).toEqual([400, false]);
});
