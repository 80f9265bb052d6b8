// Owns: requests as the SCIM validators of Entra ID and Okta, and their provisioning, send them one after the other.
// Does not own: a user with all attributes of either (scim.schema.test.ts), roles as JSON (scim.patch.test.ts).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
let id = '';
let manager = '';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];

beforeAll(async () => {
  server = await startTestServer();
  const params = { realm: 'acme' };
  await server.admin.call(createRealm, { body: params });
  await server.admin.call(createRole, { params, body: { name: 'Admin' } });
  scim = scimWith(server, 'acme', await scimToken(server, 'acme'));
  manager = (await scim('POST', '/Users', { schemas: [USER], userName: 'boss', active: 'True' })).body.id;
  id = (await scim('POST', '/Users', entraUser)).body.id;
});
afterAll(() => server?.stop());

const entraUser = {
  schemas: [USER, ENTERPRISE],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: 'Test_User_ab6490ee@testuser.com',
  active: true,
  displayName: 'lennay',
  emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@testuser.com' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
  [ENTERPRISE]: { employeeNumber: '7', department: 'Sales', manager: null },
};
const patch = async (path: string, ...Operations: object[]) => scim('PATCH', path, { schemas, Operations });
const user = async () => (await scim('GET', `/Users/${id}`)).body;
const found = async (filter: string, query = '', at = '/Users') => {
  const { status, body } = await scim('GET', `${at}?filter=${encodeURIComponent(filter)}${query}`);
  return [status, body.Resources?.map((one: { id: string }) => one.id)];
};

describe('Entra ID', () => {
  test('tests the connection by a user that is not there', async () => {
    expect(await found(`userName eq "${newId()}"`)).toEqual([200, []]);
  });

  test('finds by name in another case, and learns that the name is taken', async () => {
    expect(await found('userName eq "TEST_USER_AB6490EE@testuser.com"')).toEqual([200, [id]]);
    const { status, body } = await scim('POST', '/Users', { ...entraUser, userName: entraUser.userName.toUpperCase() });
    expect([status, body.scimType]).toEqual([409, 'uniqueness']);
  });

  test.each<[string, () => unknown]>([
    ['the id', () => manager],
    ['a list', () => [{ $ref: `https://x.example/Users/${manager}`, value: manager }]],
    ['an object', () => ({ $ref: `https://x.example/Users/${manager}`, value: manager })],
  ])('sets a manager by %s, asks whether it is set, and takes it away', async (_, value) => {
    for (const path of [`${ENTERPRISE}:manager`, 'manager']) {
      expect((await patch(`/Users/${id}`, { op: 'Add', path, value: value() })).status).toBe(200);
      expect((await user())[ENTERPRISE].manager.value).toBe(manager);
      // As Entra checks a reference, without the extension's URN.
      expect(await found(`id eq "${id}" and manager eq "${manager}"`, '&attributes=id')).toEqual([200, [id]]);
      expect(await found(`${ENTERPRISE}:manager eq "${manager}"`)).toEqual([200, [id]]);
      expect(await found(`manager eq "${newId()}"`)).toEqual([200, []]);
      expect((await patch(`/Users/${id}`, { op: 'Remove', path, value: value() })).status).toBe(200);
      const { [ENTERPRISE]: enterprise } = await user();
      expect(enterprise).toEqual({ employeeNumber: '7', department: 'Sales' });
    }
  });

  test('changes several things by names with dots and filters, without a path', async () => {
    const value = {
      displayName: 'Bjfe',
      'name.givenName': 'Kim',
      'emails[type eq "work"].value': 'w@x.example',
      'emails[type eq "work"].primary': true,
      'emails[type eq "other"].value': 'o@x.example',
      [`${ENTERPRISE}:department`]: 'Sales',
      'phoneNumbers[type eq "fax"].value': '55',
      'addresses[type eq "work"].country': 'FR',
      'roles[primary eq "True"].value': 'Admin',
    };
    expect((await patch(`/Users/${id}`, { op: 'replace', value })).status).toBe(200);
    expect(await user()).toMatchObject({
      ...{ displayName: 'Bjfe', name: { givenName: 'Kim', familyName: 'familyName' } },
      emails: [{ value: 'w@x.example' }, { type: 'other', value: 'o@x.example' }],
      ...{ phoneNumbers: [{ type: 'fax', value: '55' }], addresses: [{ type: 'work', country: 'FR' }] },
      ...{ roles: [{ value: 'Admin' }], [ENTERPRISE]: { department: 'Sales' } },
    });
  });

  test('reads a user that it has switched off, and switches it on again', async () => {
    for (const value of ['False', 'True']) {
      await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value });
      expect((await user()).active).toBe(value === 'True');
      expect((await found(`externalId eq "${entraUser.externalId}"`))[1]).toEqual([id]);
    }
  });

  test('makes a group with its own schema beside, adds and removes members by an empty $ref, and asks who is in it', async () => {
    const { status, body } = await scim('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      ...{ externalId: newId(), displayName: 'Sales/EMEA', meta: { resourceType: 'Group' } },
    });
    expect([status, body.displayName]).toEqual([201, 'Sales/EMEA']);
    expect(await found('displayName eq "sales/emea"', '&excludedAttributes=members', '/Groups')).toEqual([
      200,
      [body.id],
    ]);
    const members = (...ids: string[]) => ids.map((value) => ({ $ref: null, value }));
    const at = `/Groups/${body.id}`;
    expect((await patch(at, { op: 'Add', path: 'members', value: members(id, manager) })).status).toBe(204);
    const isIn = () => found(`id eq "${body.id}" and members eq "${id}"`, '&excludedAttributes=members', '/Groups');
    expect(await isIn()).toEqual([200, [body.id]]);
    expect((await patch(at, { op: 'Remove', path: 'members', value: members(id) })).status).toBe(204);
    expect(await isIn()).toEqual([200, []]);
  });
});

describe('Okta', () => {
  test('renames a group together with its id, replaces its members, and puts it without any', async () => {
    const { body } = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] });
    const at = `/Groups/${body.id}`;
    await patch(at, { op: 'replace', value: { id: body.id, displayName: 'Test SCIMv0' } });
    await patch(at, { op: 'replace', path: 'members', value: [{ value: id, display: 'someone' }] });
    const { body: after } = await scim('GET', at);
    expect([after.displayName, after.members.map(({ value }: { value: string }) => value)]).toEqual([
      'Test SCIMv0',
      [id],
    ]);
    await patch(at, { op: 'remove', path: `members[value eq "${id}"]` });
    expect((await patch(at, { op: 'remove', path: `members[value eq "${id}"]` })).status).toBe(204);
    const put = await scim('PUT', at, { schemas: [GROUP], id: body.id, displayName: 'Test SCIMv0', members: [] });
    expect([put.status, put.body.members]).toEqual([200, undefined]);
  });

  test.each([newId(), 'abf4dd94'])('adds a member that is not there: %s', async (value) => {
    const { body } = await scim('POST', '/Groups', { schemas: [GROUP], displayName: `Group of ${value}` });
    const answer = await patch(`/Groups/${body.id}`, { op: 'add', path: 'members', value: [{ value, display: 'x' }] });
    expect([answer.status, answer.body.scimType, answer.body.detail]).toEqual([
      400,
      'invalidValue',
      `members: ${value} is no user’s id`,
    ]);
  });

  test('sends nothing of use, and asks for an id of another form', async () => {
    for (const body of [{}, { schemas: [USER] }, { schemas: [USER], userName: '', name: {}, emails: [] }]) {
      const { status, body: error } = await scim('POST', '/Users', body);
      expect([status, error.scimType]).toEqual([400, 'invalidValue']);
    }
    const missing = await scim('GET', '/Users/010101001010101011001010101011');
    expect([missing.status, missing.body.schemas]).toEqual([404, ['urn:ietf:params:scim:api:messages:2.0:Error']]);
  });

  test('switches a user off and on without a path, and pages from one', async () => {
    for (const active of [false, true]) {
      await patch(`/Users/${id}`, { op: 'replace', value: { active } });
      expect((await user()).active).toBe(active);
    }
    const { body } = await scim('GET', '/Users?startIndex=1&count=1');
    expect(body).toMatchObject({ totalResults: 2, itemsPerPage: 1, startIndex: 1 });
  });
});
