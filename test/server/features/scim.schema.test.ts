// Owns: the whole User of RFC 7643: what a client says comes back as it was said, can be looked for, changed in part and taken away,
// and what of it is the user's own. Requests as Entra ID and Okta send them.
// Does not own: rights, errors, the user's fields (scim.users.test.ts), PATCH's rules (scim.patch.unit.test.ts).
// Implements: RFC 7643 §4.1, RFC 7644 §3.5.2; specification 4.11.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportUserData } from '../../../server/contract/gdpr.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { getUser, putUser } from '../../../server/contract/users.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
const realm = 'acme';
const params = { realm };
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm } });
  for (const name of ['writer', 'reader']) await server.admin.call(createRole, { params, body: { name } });
  scim = scimWith(server, realm, await scimToken(server, realm));
});
afterAll(() => server?.stop());

const made = async (userName: string, more: object = {}) => {
  const answer = await scim('POST', '/Users', { schemas: [USER], userName, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const patched = async (id: string, ...Operations: object[]) => {
  const answer = await scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const found = async (filter: string): Promise<string[]> => {
  const { status, body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}&sortBy=userName`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.Resources.map(({ userName }: { userName: string }) => userName);
};
const stored = async (userId: string) => (await server.admin.call(getUser, { params: { ...params, userId } })).body;

/** RFC 7643 §8.2, but for what only the server says. */
const full = {
  externalId: '701984',
  name: {
    formatted: 'Ms. Barbara J Jensen, III',
    familyName: 'Jensen',
    givenName: 'Barbara',
    middleName: 'Jane',
    honorificPrefix: 'Ms.',
    honorificSuffix: 'III',
  },
  displayName: 'Babs Jensen',
  nickName: 'Babs',
  profileUrl: 'https://login.example.com/bjensen',
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'Babs@jensen.org', type: 'home', display: 'at home' },
  ],
  addresses: [
    { type: 'home', streetAddress: '456 Hollywood Blvd', locality: 'Hollywood', country: 'USA' },
    {
      type: 'work',
      streetAddress: '100 Universal City Plaza',
      locality: 'Hollywood',
      region: 'CA',
      postalCode: '91608',
      country: 'USA',
      formatted: '100 Universal City Plaza\nHollywood, CA 91608 USA',
      primary: true,
    },
    { type: 'work', locality: 'Berlin', country: 'DE', primary: false },
  ],
  phoneNumbers: [
    { value: '555-555-5555', type: 'mobile' },
    { value: '555-555-4444', type: 'work', primary: true, display: 'desk' },
  ],
  ims: [{ value: 'someaimhandle', type: 'aim' }],
  photos: [
    { value: 'https://photos.example.com/profilephoto/72930000000Ccne/F', type: 'photo', primary: true },
    { value: 'https://photos.example.com/profilephoto/72930000000Ccne/T', type: 'thumbnail' },
  ],
  userType: 'Employee',
  title: 'Tour Guide',
  preferredLanguage: 'en-US',
  locale: 'en-US',
  timezone: 'America/Los_Angeles',
  active: true,
  roles: [{ value: 'writer', type: 'WindowsAzureActiveDirectoryRole', primary: true, display: 'Writes' }],
  entitlements: [{ value: 'wiki:edit', type: 'app', display: 'Edits the wiki' }, { value: 'wiki:read' }],
  x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEFBQAwTjELMAkGA1UEBhMCVVMx', display: 'card' }],
};

describe('the whole User', () => {
  test('comes back as it was said, and an unchanged PUT of it changes nothing', async () => {
    const user = await made('bjensen', full);
    expect(user).toMatchObject(full);
    for (const [name, value] of Object.entries(full))
      if (Array.isArray(value)) expect(user[name]).toHaveLength(value.length);
    const again = await scim('PUT', `/Users/${user.id}`, user);
    expect([again.status, again.body]).toEqual([200, user]);
  });

  test('has no more than it says: PUT without them takes them away', async () => {
    const { id } = await made('sparse', { ...full, userName: 'sparse', emails: [{ value: 'sparse@example.com' }] });
    const { body } = await scim('PUT', `/Users/${id}`, { schemas: [USER], userName: 'sparse' });
    for (const name of ['emails', 'addresses', 'phoneNumbers', 'ims', 'photos', 'entitlements', 'x509Certificates'])
      expect(body).not.toHaveProperty(name);
  });

  test('gives the user the primary address alone; nobody signs in by another, or has it', async () => {
    const emails = [
      { value: 'second@example.com', type: 'home' },
      { value: 'first@example.com', type: 'work', primary: true },
    ];
    const { id } = await made('two', { emails });
    expect(await stored(id)).toMatchObject({ email: 'first@example.com', emailVerified: false });
    // Somebody else may have it for their own.
    const { id: other } = await made('owner', { emails: [{ value: 'second@example.com' }] });
    expect(await stored(other)).toMatchObject({ email: 'second@example.com' });
    const { status } = await scim('POST', '/Users', { userName: 'third', emails: [{ value: 'first@example.com' }] });
    expect(status).toBe(409);
  });

  test('loses nothing of it where an administrator changes the user, and what that takes away is gone', async () => {
    const emails = [{ value: 'ada@example.com', primary: true, display: 'Ada' }, { value: 'ada@home.example' }];
    const phoneNumbers = [{ value: '1', type: 'work', primary: true }];
    const { id } = await made('ada', { emails, phoneNumbers, ims: [{ value: 'ada', type: 'xmpp' }] });
    const { createdAt: _, id: __, ...user } = (await stored(id)) ?? expect.fail();
    const body = { ...user, email: 'lovelace@example.com', attributes: {} };
    await server.admin.call(putUser, { params: { ...params, userId: id }, body: body as never });
    const after = (await scim('GET', `/Users/${id}`)).body;
    expect(after.emails).toEqual([{ value: 'lovelace@example.com', type: 'work', primary: true }, emails[1]]);
    expect(after.ims).toEqual([{ value: 'ada', type: 'xmpp' }]);
    expect(after).not.toHaveProperty('phoneNumbers');
  });

  test.each<[string, object]>([
    ['emails', { emails: [{ value: 'a@example.com' }, { value: 'no address' }] }],
    ['x509Certificates', { x509Certificates: [{ value: 'not base64!' }] }],
    ['photos', { photos: Array.from({ length: 101 }, (_, i) => ({ value: `https://example.com/${i}` })) }],
    ['x509Certificates', { x509Certificates: [{ value: 'A'.repeat(70_000) }] }],
    ['ims', { ims: [{ value: 'a\0b' }] }],
    ['entitlements', { entitlements: [{ value: 'a', primary: 'perhaps' }] }],
  ])('is refused with what doesn’t fit: %s', async (name, more) => {
    const { status, body } = await scim('POST', '/Users', { userName: 'unfit', ...more });
    expect([status, body.scimType, body.detail]).toEqual([400, 'invalidValue', expect.stringContaining(name)]);
  });

  test('is described as it is served', async () => {
    const { body } = await scim('GET', `/Schemas/${USER}`);
    const named = new Map<string, { subAttributes?: { name: string }[] }>(
      body.attributes.map((one: { name: string }) => [one.name, one]),
    );
    const user = (await scim('GET', '/Users?filter=userName%20eq%20%22bjensen%22')).body.Resources[0];
    for (const [name, value] of Object.entries(user)) {
      if (['schemas', 'id', 'externalId', 'meta'].includes(name)) continue;
      const parts = named.get(name)?.subAttributes?.map((part) => part.name);
      expect(named.has(name), name).toBe(true);
      for (const one of [value].flat())
        if (typeof one === 'object') expect(parts, name).toEqual(expect.arrayContaining(Object.keys(one ?? {})));
    }
  });

  test('is in the export of the person’s data, and gone with them', async () => {
    const { id } = await made('leaver', { ims: [{ value: 'leaver-handle', type: 'xmpp' }], externalId: 'L1' });
    const { body } = await server.admin.call(exportUserData, { params: { ...params, userId: id } });
    expect(body?.federatedLinks).toContainEqual({
      by: 'scim',
      externalId: 'L1',
      said: { ims: [{ value: 'leaver-handle', type: 'xmpp' }] },
    });
  });
});

describe('looking for people', () => {
  beforeAll(async () => {
    await made('f1', {
      emails: [
        { value: 'F1@work.example', type: 'work' },
        { value: 'F1@Home.example', type: 'home' },
      ],
      ims: [{ value: 'f-handle', type: 'xmpp', primary: true }],
      addresses: [
        { type: 'work', locality: 'Ulm' },
        { type: 'work', locality: 'Bonn' },
      ],
      phoneNumbers: [{ value: '77', type: 'work', primary: true }],
      roles: [{ value: 'reader', display: 'Reads' }],
    });
    await made('f2', { emails: [{ value: 'f2@work.example' }], x509Certificates: [{ value: 'RjI=' }] });
  });

  test.each<[string, string[]]>([
    ['emails eq "f1@home.example"', ['f1']],
    ['emails.value eq "f1@work.example"', ['f1']],
    ['emails[type eq "home" and value eq "f1@HOME.example"]', ['f1']],
    ['emails[type eq "work" and value ew "home.example"]', []],
    ['emails co "work.example"', ['f1', 'f2']],
    ['emails.type eq "home" and userName sw "f"', ['f1']],
    ['userName sw "f" and not (emails ew "home.example")', ['f2']],
    ['ims eq "F-HANDLE"', ['f1']],
    ['ims[type eq "xmpp" and primary eq true].value sw "f-"', ['f1']],
    ['ims[type eq "xmpp"].value pr and userName sw "f"', ['f1']],
    ['emails[type eq "home"].value ne "f1@home.example" and userName sw "f"', ['f2']],
    ['ims pr and userName sw "f"', ['f1']],
    ['x509Certificates.value eq "RjI="', ['f2']],
    ['x509Certificates.value eq "rji="', []],
    ['addresses.locality eq "Bonn"', ['f1']],
    ['addresses[locality eq "Ulm" and type eq "work"]', ['f1']],
    ['phoneNumbers[primary eq true and value eq "77"]', ['f1']],
    ['roles.display eq "reads"', ['f1']],
    ['entitlements pr and userName sw "f"', []],
    ['userName sw "f" and emails.primary ne true', []],
    [`ims eq "x' or true --"`, []],
    ['emails.display eq "\\"]} , $.** ? (@ == 1)"', []],
  ])('%s', async (filter, names) => {
    expect(await found(filter)).toEqual(names);
  });

  test.each(['ims.__proto__ eq "a"', 'x509Certificates.value gt "a"', 'photos.constructor pr', 'emails[__proto__ pr]'])(
    '%s is no filter',
    async (filter) => {
      const { status, body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
    },
  );
});

describe('a PATCH', () => {
  test('adds, replaces and removes values of what is kept for SCIM alone', async () => {
    const { id } = await made('p1');
    const ims = { value: 'one', type: 'xmpp' };
    expect((await patched(id, { op: 'add', path: 'ims', value: [ims] })).ims).toEqual([ims]);
    expect((await patched(id, { op: 'add', path: 'ims', value: { value: 'two', type: 'skype' } })).ims).toHaveLength(2);
    const replaced = await patched(id, { op: 'replace', path: 'ims[type eq "skype"].value', value: 'three' });
    expect(replaced.ims).toEqual([ims, { value: 'three', type: 'skype' }]);
    expect((await patched(id, { op: 'remove', path: 'ims[value eq "one"]' })).ims).toHaveLength(1);
    expect(await patched(id, { op: 'remove', path: 'ims' })).not.toHaveProperty('ims');
  });

  test('that makes another address the primary one changes the user’s', async () => {
    const emails = [
      { value: 'old@example.com', type: 'work', primary: true },
      { value: 'new@example.com', type: 'home', primary: false },
    ];
    const { id } = await made('p2', { emails });
    const after = await patched(id, { op: 'replace', path: 'emails[type eq "home"].primary', value: true });
    expect(after.emails).toEqual([
      { value: 'new@example.com', type: 'home', primary: true },
      { value: 'old@example.com', type: 'work', primary: false },
    ]);
    expect(await stored(id)).toMatchObject({ email: 'new@example.com', emailVerified: false });
  });

  test.each([
    '__proto__',
    'ims.__proto__',
    'ims[__proto__ eq "a"].value',
    'constructor.prototype',
    'photos.constructor',
  ])('with the path %s is refused, and nothing is changed', async (path) => {
    const { body: before } = await scim('GET', '/Users?filter=userName%20eq%20%22p1%22');
    const Operations = [{ op: 'add', path, value: 'polluted' }];
    const { status } = await scim('PATCH', `/Users/${before.Resources[0].id}`, { schemas: [PATCH], Operations });
    expect(status).toBe(400);
    expect((await scim('GET', '/Users?filter=userName%20eq%20%22p1%22')).body).toEqual(before);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('as Entra ID sends it', () => {
  test('a user with its default mappings, changed afterwards', async () => {
    const created = await scim('POST', '/Users', {
      schemas: [USER, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee@example.onmicrosoft.com',
      active: true,
      addresses: [
        { primary: false, type: 'other', formatted: 'Room 1' },
        { primary: true, type: 'work', locality: 'Oslo' },
      ],
      displayName: 'lennay',
      emails: [{ type: 'work', value: 'lennay@example.com', primary: true }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      phoneNumbers: [
        { primary: true, type: 'work', value: '1' },
        { primary: false, type: 'mobile', value: '2' },
      ],
      preferredLanguage: 'nb-NO',
      roles: [],
    });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const { id } = created.body;
    const after = await patched(
      id,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@example.com' },
      { op: 'Add', path: 'emails[type eq "other"].value', value: 'other@example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: 'phoneNumbers[type eq "fax"].value', value: '3' },
      { op: 'Replace', path: 'addresses[type eq "work"].locality', value: 'Bergen' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'reader' },
      { op: 'Replace', path: 'active', value: 'False' },
    );
    expect(after).toMatchObject({
      active: false,
      emails: [
        { type: 'work', value: 'updatedEmail@example.com', primary: true },
        { type: 'other', value: 'other@example.com' },
      ],
      roles: [{ value: 'reader', primary: true }],
      name: { familyName: 'updatedFamilyName' },
    });
    expect(after.phoneNumbers).toContainEqual({ type: 'work', value: '1', primary: true });
    expect(after.phoneNumbers).toContainEqual({ type: 'fax', value: '3' });
    expect(after.addresses).toContainEqual({ type: 'work', locality: 'Bergen', primary: true });
    expect(await stored(id)).toMatchObject({ email: 'updatedEmail@example.com', roles: ['reader'], enabled: false });
  });
});

describe('as Okta sends it', () => {
  test('is looked for, created with two addresses, read, and put again as a whole', async () => {
    expect(await found('userName eq "test.user@okta.local"')).toEqual([]);
    const body = {
      schemas: [USER],
      userName: 'test.user@okta.local',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [
        { primary: true, value: 'test.user@okta.local', type: 'work' },
        { primary: false, value: 'test.user@home.local', type: 'home' },
      ],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq but longer',
      active: true,
    };
    const created = await scim('POST', '/Users', body);
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const { password: _, groups: __, ...answered } = body;
    expect(created.body).toMatchObject(answered);
    const read = await scim('GET', `/Users/${created.body.id}`);
    const put = await scim('PUT', `/Users/${created.body.id}`, {
      ...read.body,
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    });
    expect([put.status, put.body.emails]).toEqual([
      200,
      [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    ]);
    const off = await patched(created.body.id, { op: 'replace', value: { active: false } });
    expect(off.active).toBe(false);
  });
});
