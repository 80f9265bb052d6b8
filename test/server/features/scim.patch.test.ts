// Owns: PATCH by SCIM over HTTP: it deletes only what it is told to; roles as Entra writes them.
// Does not own: what each operation makes of a resource (scim.patch.unit.test.ts), groups (scim.groups.test.ts).
// Implements: specification 4.11; RFC 7644 §3.5.2.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
let id = '';
let group = '';
let count = 0;
const params = { realm: 'acme' };
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
  for (const name of ['Admin', '25', 'User']) await server.admin.call(createRole, { params, body: { name } });
  scim = scimWith(server, 'acme', await scimToken(server, 'acme'));
});
beforeEach(async () => {
  count += 1;
  const { body } = await scim('POST', '/Users', {
    userName: `ada${count}`,
    name: { givenName: 'Ada', familyName: 'Byron' },
    title: 'Countess',
    emails: [{ value: `ada${count}@example.com`, type: 'work', primary: true }],
    phoneNumbers: [
      { value: '1', type: 'work' },
      { value: '2', type: 'home' },
    ],
    addresses: [
      { type: 'work', locality: 'Ulm' },
      { type: 'home', locality: 'Bonn' },
    ],
    roles: [{ value: 'User' }],
    [ENTERPRISE]: { department: 'Engines', manager: { value: 'm' } },
  });
  id = body.id;
  group = (await scim('POST', '/Groups', { displayName: `team ${count}`, members: [{ value: id }] })).body.id;
});
afterAll(() => server?.stop());

const patch = (operation: object, path = `/Users/${id}`) => scim('PATCH', path, { Operations: [operation] });
const user = async () => (await scim('GET', `/Users/${id}`)).body;
const withoutVersion = ({ meta: _, ...rest }: Record<string, unknown>) => rest;

describe('an operation that has no value', () => {
  test.each(
    ['add', 'replace', 'Replace'].flatMap((op) =>
      [
        'title',
        'name',
        'name.givenName',
        'emails',
        'phoneNumbers[type eq "work"].value',
        'roles',
        ENTERPRISE,
        `${ENTERPRISE}:manager`,
        'userName',
      ].map((path) => [op, path] as const),
    ),
  )('%s of %s is refused, and deletes nothing', async (op, path) => {
    const before = await user();
    const { status, body } = await patch({ op, path });
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    expect(await user()).toEqual(before);
  });

  test.each(['add', 'replace'])('%s of the members of a group is refused, and removes none', async (op) => {
    const { status, body } = await patch({ op, path: 'members' }, `/Groups/${group}`);
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    expect((await scim('GET', `/Groups/${group}`)).body.members).toMatchObject([{ value: id }]);
  });

  test('is refused in a bulk request, too', async () => {
    const data = { Operations: [{ op: 'replace', path: 'emails' }] };
    const { body } = await scim('POST', '/Bulk', { Operations: [{ method: 'PATCH', path: `/Users/${id}`, data }] });
    expect(body.Operations[0]).toMatchObject({ status: '400', response: { scimType: 'invalidValue' } });
    expect((await user()).emails).toHaveLength(1);
  });
});

describe('an operation deletes no more than it says', () => {
  test.each<[string, object, number]>([
    ['a complex value without parts', { op: 'replace', path: 'name', value: {} }, 200],
    ['a complex value of unknown parts', { op: 'add', path: 'name', value: { nickName: 'x' } }, 200],
    ['a list of values without known parts', { op: 'replace', path: 'phoneNumbers', value: [{ number: '3' }] }, 400],
    ['a removal that names no value', { op: 'remove', path: 'phoneNumbers', value: [] }, 200],
    [
      'a removal of a value of another type',
      { op: 'remove', path: 'phoneNumbers', value: [{ value: '1', type: 'fax' }] },
      200,
    ],
    ['a removal of an address that is not there', { op: 'remove', path: 'addresses', value: [{ type: 'other' }] }, 200],
  ])('%s', async (_, operation, status) => {
    const before = withoutVersion(await user());
    expect((await patch(operation)).status).toBe(status);
    expect(withoutVersion(await user())).toEqual(before);
  });

  test('the address that a removal names, of several without a value', async () => {
    await patch({ op: 'remove', path: 'addresses', value: [{ type: 'work', locality: 'Ulm' }] });
    expect((await user()).addresses).toEqual([{ type: 'home', locality: 'Bonn' }]);
  });

  test('null takes away what it stands for: a part, a value, all values', async () => {
    await patch({ op: 'replace', path: 'name', value: { familyName: null } });
    await patch({ op: 'replace', path: 'title', value: null });
    await patch({ op: 'remove', path: 'phoneNumbers', value: null });
    const after = await user();
    expect(after.name).toEqual({ givenName: 'Ada' });
    expect([after.title, after.phoneNumbers]).toEqual([undefined, undefined]);
  });
});

describe('a required attribute', () => {
  test.each<[string, object]>([
    ['removed', { op: 'remove', path: 'userName' }],
    ['replaced by null', { op: 'replace', path: 'userName', value: null }],
    ['replaced by null without a path', { op: 'replace', value: { userName: '' } }],
  ])('%s is `mutability`', async (_, operation) => {
    const { status, body } = await patch(operation);
    expect([status, body.scimType]).toEqual([400, 'mutability']);
    expect((await user()).userName).toBe(`ada${count}`);
  });

  test('of a group, too', async () => {
    const { status, body } = await patch({ op: 'remove', path: 'displayName' }, `/Groups/${group}`);
    expect([status, body.scimType]).toEqual([400, 'mutability']);
  });
});

describe('roles as Entra’s AppRoleAssignmentsComplex writes them', () => {
  const text = (value: string, displayName = value) =>
    JSON.stringify({ id: '06b07648-ecfe-589f-9d2f-6325724a46ee', value, displayName });

  test('are added, replaced and removed by the JSON in their value', async () => {
    const added = await patch({
      op: 'Add',
      path: 'roles',
      value: [{ value: text('Admin') }, { value: text('25', 'Role1234') }],
    });
    expect([added.status, added.body.roles]).toEqual([
      200,
      [{ value: '25', display: 'Role1234' }, { value: 'Admin', display: 'Admin' }, { value: 'User' }],
    ]);
    await patch({ op: 'Remove', path: 'roles', value: [{ value: text('25', 'Role1234') }] });
    expect((await user()).roles.map(({ value }: { value: string }) => value)).toEqual(['Admin', 'User']);
    await patch({ op: 'Replace', path: 'roles', value: [{ value: text('Admin') }] });
    expect((await user()).roles).toEqual([{ value: 'Admin', display: 'Admin' }]);
  });

  test('are removed by a path whose filter has the JSON', async () => {
    await patch({ op: 'Add', path: 'roles', value: [{ value: text('Admin') }] });
    await patch({ op: 'Remove', path: `roles[value eq ${JSON.stringify(text('Admin'))}]` });
    expect((await user()).roles).toEqual([{ value: 'User' }]);
  });

  test('have the name that users see where Entra’s role has no value, and an unknown one is named', async () => {
    const nameless = JSON.stringify({ id: '18d14569', value: null, displayName: 'Admin' });
    await patch({ op: 'Replace', path: 'roles', value: [{ value: nameless }] });
    expect((await user()).roles).toEqual([{ value: 'Admin', display: 'Admin' }]);
    const unknown = await patch({ op: 'Add', path: 'roles', value: [{ value: text('Pilot') }] });
    expect([unknown.status, unknown.body.detail]).toEqual([
      400,
      expect.stringContaining('there is no role Pilot in this realm'),
    ]);
  });

  test('are understood in a new user, beside those of other clients', async () => {
    const { status, body } = await scim('POST', '/Users', {
      userName: `new${count}`,
      roles: [{ primary: false, type: 'WindowsAzureActiveDirectoryRole', value: text('Admin') }, { value: 'User' }],
    });
    expect([status, body.roles]).toMatchObject([201, [{ value: 'Admin', display: 'Admin' }, { value: 'User' }]]);
  });

  test.each(['{"value":7}', '{"id":"x"}', '{not json', '[]'])('other text is a role’s name: %s', async (value) => {
    const { status, body } = await patch({ op: 'Add', path: 'roles', value: [{ value }] });
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    expect((await user()).roles).toEqual([{ value: 'User' }]);
  });
});

test('null for what a client leaves out is no fault of an operation', async () => {
  const { status, body } = await patch({ op: 'replace', path: null, value: { title: 'Dr' } });
  expect([status, body.title]).toEqual([200, 'Dr']);
});
