// Owns: files of users as rows; the filters of the list as a query; a user profile as a form.
// Does not own: the pages that show them (users.test.ts).
// Implements: decisions "Console".
import { describe, expect, test } from 'vitest';
import { filtersOf, isFiltered, queryOf } from '../../console/pages/users/filters.ts';
import { cellsOf, kindOfFile, rowsOfCsv, rowsOfJson, rowsOfLines } from '../../console/pages/users/import-rows.ts';
import { bodyOf, type Profile, userFields, valuesOf } from '../../console/pages/users/profile-fields.ts';

describe('a file of users', () => {
  test('is CSV, a JSON array, or a JSON object a line, whatever its name', () => {
    expect(kindOfFile('people.txt', '\ufeff [ {"username": "ana"} ]')).toBe('json');
    expect(kindOfFile('people.json', '{"username": "ana"}\n')).toBe('ndjson');
    expect(kindOfFile('people.csv', 'username\nana\n')).toBe('csv');
    expect(kindOfFile('people', 'username;email\n')).toBe('csv');
    expect(() => kindOfFile('people.docx', 'PK')).toThrow('neither a JSON array');
  });

  test('in CSV has quoted cells, line ends in them, and line numbers that an editor shows', () => {
    expect(cellsOf('a,b\r\n"x, ""y""\nz",\n\n,2\n')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x, "y"\nz', ''] },
      { line: 5, cells: ['', '2'] },
    ]);
    expect(() => cellsOf('a\n"never closed')).toThrow('line 2: a quote is never closed');
  });

  test('in CSV has names of fields in its first line; an empty cell leaves the field out', () => {
    const text = `\ufeffusername;email;enabled;groups;attributes.team
ana;ana@example.com;FALSE;/a|/b;red|blue
ben;;;;`;
    expect(rowsOfCsv(text)).toEqual([
      {
        at: 'line 2',
        row: {
          username: 'ana',
          email: 'ana@example.com',
          enabled: false,
          groups: ['/a', '/b'],
          attributes: { team: ['red', 'blue'] },
        },
      },
      { at: 'line 3', row: { username: 'ben' } },
    ]);
    expect(() => rowsOfCsv('name\nana')).toThrow('no column “username”');
    expect(() => rowsOfCsv('username,colour\nana,red')).toThrow('unknown column “colour”');
    // the other rows are good: such a row is not sent, and is listed
    const [perhaps] = rowsOfCsv('username,enabled\nana,perhaps');
    expect(perhaps).toMatchObject({ at: 'line 2', fault: { path: 'enabled', message: 'is neither true nor false' } });
    const [nameless, named] = rowsOfCsv('username,email\n,a@example.com\nben,b@example.com');
    expect(nameless).toMatchObject({ at: 'line 2', fault: { path: 'username' } });
    expect(named).toEqual({ at: 'line 3', row: { username: 'ben', email: 'b@example.com' } });
  });

  test('in JSON names the place of what is wrong', () => {
    expect(rowsOfJson('[{"username":"ana"}]')).toEqual([{ at: 'user 1', row: { username: 'ana' } }]);
    expect(() => rowsOfJson('[{"username":"ana"}, 3]')).toThrow('user 2 is no user');
    expect(rowsOfJson('[{"email":"a@example.com"}]')).toMatchObject([{ at: 'user 1', fault: { path: 'username' } }]);
    expect(() => rowsOfJson('[')).toThrow('The file is no JSON');
    expect(rowsOfLines('\n{"username":"ana"}\r\n\n')).toEqual([{ at: 'line 2', row: { username: 'ana' } }]);
    expect(() => rowsOfLines('{"username":"ana"}\n{')).toThrow('line 2 is no JSON');
  });
});

const inAddress = (text: string) => ({ get: (name: string) => new URLSearchParams(text).get(name) ?? '' });
test('the filters of an address are the query of the API; a state that there is not is none', () => {
  const of = (text: string) => queryOf(filtersOf(inAddress(text)));
  expect(of('state=locked&q=a&group=%2Fsales')).toEqual({ locked: 'true', q: 'a', group: '/sales' });
  expect(of('state=disabled&attribute=team&value=red')).toEqual({ enabled: 'false', 'attribute.team': 'red' });
  expect(of('state=asleep&attribute=team')).toEqual({});
  expect(isFiltered(filtersOf(inAddress('cursor=x')))).toBe(false);
});

describe('the form of a user', () => {
  const fresh = {
    displayName: null,
    type: 'string' as const,
    multivalued: false,
    required: [],
    view: ['admin' as const, 'user' as const],
    edit: ['admin' as const, 'user' as const],
    validation: {},
    annotations: {},
  };
  const profile: Profile = {
    unmanagedAttributes: 'adminView',
    attributes: [
      { ...fresh, name: 'email', displayName: 'Mail', required: ['admin'] },
      { ...fresh, name: 'team', displayName: 'Team', validation: { options: ['red', 'blue'] } },
      { ...fresh, name: 'phones', multivalued: true, edit: ['admin'] },
      { ...fresh, name: 'hidden', view: ['user'] },
    ],
  };
  const user = { username: 'ana', email: null, attributes: { team: ['red'], phones: ['1'], old: ['x, y', 'z'] } };

  test('has the declared attributes, without those that administrators do not see', () => {
    const fields = userFields(profile, false);
    expect(fields.map(({ name }) => name)).toEqual([
      'username',
      'email',
      'firstName',
      'lastName',
      'attributes.team',
      'attributes.phones',
      'attributes',
    ]);
    expect(fields.find(({ name }) => name === 'email')).toMatchObject({ label: 'Mail', required: true });
    expect(fields.find(({ name }) => name === 'attributes')).toMatchObject({ isReadOnly: true });
    expect(valuesOf(fields, user)).toMatchObject({
      'attributes.team': 'red',
      'attributes.phones': ['1'],
      attributes: { old: ['x, y', 'z'] },
    });
  });

  test('lets an administrator of single groups change what users change themselves', () => {
    const readOnly = userFields(profile, true).filter(({ isReadOnly }) => isReadOnly);
    expect(readOnly.map(({ name }) => name)).toEqual(['username', 'attributes.phones', 'attributes']);
  });

  test('sends all attributes if one of them is edited, and none otherwise', () => {
    const fields = userFields(profile, false);
    expect(bodyOf(fields, user, { firstName: 'Ana' })).toEqual({ firstName: 'Ana' });
    expect(bodyOf(fields, user, { 'attributes.team': 'blue' })).toEqual({
      attributes: { team: ['blue'], phones: ['1'], old: ['x, y', 'z'] },
    });
    expect(bodyOf(fields, user, { 'attributes.team': null, 'attributes.phones': ['', '2'] })).toEqual({
      attributes: { phones: ['2'], old: ['x, y', 'z'] },
    });
    expect(bodyOf(fields, user, { attributes: { other: ['a'] } })).toEqual({
      attributes: { team: ['red'], phones: ['1'], other: ['a'] },
    });
  });

  test('without the profile has all attributes in one map', () => {
    const fields = userFields(undefined, false);
    expect(valuesOf(fields, user).attributes).toEqual(user.attributes);
    expect(bodyOf(fields, user, { attributes: {} })).toEqual({ attributes: {} });
  });
});
