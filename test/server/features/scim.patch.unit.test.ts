// Owns: what PATCH makes of a resource, by RFC 7644 §3.5.2 and by the habits of Entra and Okta; how paths and filters are read.
// Does not own: what follows from it (scim.users.test.ts, scim.groups.test.ts).
import { describe, expect, test } from 'vitest';
import { ScimPatch } from '../../../server/contract/scim.ts';
import { parseFilter, parsePath } from '../../../server/features/operations/scim/filter.ts';
import { applyPatch, stepsOf } from '../../../server/features/operations/scim/patch.ts';
import { userType } from '../../../server/features/operations/scim/schema.ts';

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const before = {
  userName: 'ada',
  active: true,
  name: { givenName: 'Ada', familyName: 'Byron' },
  emails: [{ value: 'ada@x.test', type: 'work', primary: true }],
  phoneNumbers: [
    { value: '1', type: 'work' },
    { value: '2', type: 'home' },
  ],
  [ENTERPRISE]: { department: 'Engines', manager: { value: 'm' } },
};
const outcome = (...operations: object[]) =>
  applyPatch(before, stepsOf(userType, ScimPatch.parse({ Operations: operations }).Operations));
const [work, home] = before.phoneNumbers;

describe('an operation', () => {
  test.each<[string, object, object]>([
    ['adds a value', { op: 'add', path: 'title', value: 'Countess' }, { title: 'Countess' }],
    ['in capitals and another case', { op: 'Replace', path: 'USERNAME', value: 'x' }, { userName: 'x' }],
    [
      'replaces a part',
      { op: 'replace', path: 'name.familyName', value: 'L' },
      { name: { ...before.name, familyName: 'L' } },
    ],
    [
      'leaves the other parts',
      { op: 'replace', path: 'name', value: { familyName: 'L' } },
      { name: { ...before.name, familyName: 'L' } },
    ],
    ['removes a part', { op: 'remove', path: 'name.familyName' }, { name: { givenName: 'Ada' } }],
    ['removes all', { op: 'remove', path: 'name' }, { name: undefined }],
    ['reads "False" as false', { op: 'Replace', path: 'active', value: 'False' }, { active: false }],
    ['reads [null] as nothing', { op: 'replace', path: 'phoneNumbers', value: [null] }, { phoneNumbers: undefined }],
    [
      'adds to a list',
      { op: 'add', path: 'phoneNumbers', value: [{ value: '3', type: 'fax' }] },
      { phoneNumbers: [work, home, { value: '3', type: 'fax' }] },
    ],
    ['adds what is there once', { op: 'add', path: 'phoneNumbers', value: work }, { phoneNumbers: [work, home] }],
    ['replaces a list', { op: 'replace', path: 'phoneNumbers', value: [home] }, { phoneNumbers: [home] }],
    [
      'makes another address primary',
      { op: 'add', path: 'emails', value: { value: 'b@x.test', primary: 'true' } },
      {
        emails: [
          { ...before.emails[0], primary: false },
          { value: 'b@x.test', primary: true },
        ],
      },
    ],
    [
      'replaces a chosen value’s part',
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'b@x.test' },
      { emails: [{ ...before.emails[0], value: 'b@x.test' }] },
    ],
    [
      'chooses by all operators',
      { op: 'remove', path: 'phoneNumbers[type ne "work" and not (value pr and value sw "9")]' },
      { phoneNumbers: [work] },
    ],
    ['removes a chosen value', { op: 'remove', path: 'phoneNumbers[value eq "1"]' }, { phoneNumbers: [home] }],
    [
      'removes a chosen value’s part',
      { op: 'remove', path: 'phoneNumbers[value eq "1"].type' },
      { phoneNumbers: [{ value: '1' }, home] },
    ],
    [
      'removes by a value beside the path',
      { op: 'Remove', path: 'phoneNumbers', value: [{ value: '1' }] },
      { phoneNumbers: [home] },
    ],
    [
      'adds a typed value that isn’t there',
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '4' },
      { phoneNumbers: [work, home, { type: 'mobile', value: '4' }] },
    ],
    [
      'as Entra does by replace, too',
      { op: 'Replace', path: 'addresses[type eq "work"].country', value: 'UK' },
      { addresses: [{ type: 'work', country: 'UK' }] },
    ],
    [
      'sets a manager by id alone',
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'n' },
      { [ENTERPRISE]: { department: 'Engines', manager: { value: 'n' } } },
    ],
    [
      'removes of an extension',
      { op: 'remove', path: `${ENTERPRISE}:department` },
      { [ENTERPRISE]: { manager: { value: 'm' } } },
    ],
    ['removes an extension', { op: 'remove', path: ENTERPRISE }, { [ENTERPRISE]: undefined }],
    [
      'replaces an extension’s attributes',
      { op: 'replace', path: ENTERPRISE, value: { department: 'x' } },
      { [ENTERPRISE]: { department: 'x', manager: { value: 'm' } } },
    ],
    [
      'takes a URN before a core attribute',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', value: 'x' },
      { name: { ...before.name, givenName: 'x' } },
    ],
    [
      'takes paths for keys, and passes over what the client read',
      {
        op: 'Replace',
        value: {
          schemas: ['x'],
          id: 'x',
          'name.givenName': 'G',
          [`${ENTERPRISE}:department`]: 'D',
          [ENTERPRISE]: { costCenter: 'C' },
          'phoneNumbers[type eq "work"].value': '9',
          active: 'False',
        },
      },
      {
        name: { givenName: 'G', familyName: 'Byron' },
        [ENTERPRISE]: { department: 'D', manager: { value: 'm' }, costCenter: 'C' },
        phoneNumbers: [{ value: '9', type: 'work' }, home],
        active: false,
      },
    ],
  ])('%s', (_, operation, changed) => {
    const expected = Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, v]) => v !== undefined));
    expect(outcome(operation)).toEqual(expected);
  });

  test.each<[string, object, string]>([
    ['on no attribute', { op: 'add', path: 'nope', value: 1 }, 'invalidPath'],
    ['on the prototype', { op: 'add', path: '__proto__.x', value: 1 }, 'invalidPath'],
    ['on the prototype of a part', { op: 'add', path: 'name.__proto__', value: 1 }, 'invalidPath'],
    ['on the prototype by a key', { op: 'add', value: { 'constructor.prototype': 1 } }, 'invalidPath'],
    ['on the id', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['on groups', { op: 'add', path: 'groups', value: [{ value: 'x' }] }, 'mutability'],
    ['by a path that can’t be read', { op: 'add', path: 'emails[type eq "work"', value: 1 }, 'invalidPath'],
    ['by a filter on one value', { op: 'add', path: 'name[givenName pr]', value: 1 }, 'invalidPath'],
    ['that removes everything', { op: 'remove' }, 'noTarget'],
    ['that replaces nobody', { op: 'replace', path: 'emails[value co "nope"].value', value: 'x' }, 'noTarget'],
    ['with a value of another type', { op: 'replace', path: 'active', value: 'perhaps' }, 'invalidValue'],
    ['with a list for one value', { op: 'replace', path: 'title', value: ['a'] }, 'invalidValue'],
    ['without a value', { op: 'replace', path: 'title' }, 'invalidValue'],
    ['that removes a required attribute', { op: 'remove', path: 'userName' }, 'mutability'],
    ['without a path and with a text', { op: 'add', value: 'x' }, 'invalidValue'],
  ])('%s is refused', (_, operation, scimType) => {
    expect(() => outcome(operation)).toThrow(expect.objectContaining({ extra: { scimType } }));
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('changes nothing of what it was given', () => {
    const copy = structuredClone(before);
    outcome({ op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '9' }, { op: 'remove', path: 'name' });
    expect(before).toEqual(copy);
  });
});

describe('a filter is read', () => {
  const compare = (path: string) => ({ is: 'compare', path, op: 'eq', value: 1 });
  test('with `and` before `or`, and brackets before both', () => {
    expect(parseFilter('a eq 1 or b eq 1 and c eq 1')).toEqual({
      is: 'or',
      of: [compare('a'), { is: 'and', of: [compare('b'), compare('c')] }],
    });
    expect(parseFilter('( a eq 1 or b EQ 1 )and not(c eq 1)')).toEqual({
      is: 'and',
      of: [
        { is: 'or', of: [compare('a'), compare('b')] },
        { is: 'not', of: compare('c') },
      ],
    });
  });
  test('with escapes, brackets and operators inside of texts', () => {
    expect(parseFilter(String.raw`a eq "\"x\" (or) [y] é"`)).toMatchObject({ value: '"x" (or) [y] é' });
  });
  test('in time that grows with its length alone', () => {
    const started = process.cpuUsage();
    for (const text of ['"'.repeat(7999), `a eq "${'\\'.repeat(7000)}`, ' '.repeat(7999), 'a '.repeat(3900)])
      expect(() => parseFilter(text)).toThrow();
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });
  test('as a path of a PATCH, with a filter and a part', () => {
    expect(parsePath('a[b eq 1].c')).toEqual({ path: 'a', filter: compare('b'), sub: 'c' });
    for (const path of ['a[b eq 1]c', 'a[b eq 1].c.d', 'a b', 'a[]', ''])
      expect(() => parsePath(path), path).toThrow(expect.objectContaining({ extra: { scimType: 'invalidPath' } }));
  });
});
