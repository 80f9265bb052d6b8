import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { UserDocument } from '../../../server/contract/users.ts';
import { isPlainUser } from '../../../server/features/people/users/plain-user.ts';

const PLAIN = {
  username: 'ana.müller-7',
  email: 'ana@example.org',
  emailVerified: true,
  firstName: 'Ana Maria',
  lastName: null,
  enabled: false,
  attributes: { department: ['d1', ''], locale: ['en'] },
};

const long = (length: number) => 'x'.repeat(length);
const texts = [
  '',
  ' ',
  'a',
  ' a',
  'a ',
  'a b',
  'a\0',
  'a\nb',
  'a\u009b',
  'a\u200b',
  'a\u3164',
  'ü',
  '名',
  '🙂',
  '0198c2a4-0000-7000-8000-00000000000A',
  'a@b',
  'a@b.cd',
  '.a@b.cd',
];
const lengths = [
  long(254),
  long(255),
  long(256),
  long(4096),
  long(4097),
  `${long(240)}@example.org`,
  `${long(250)}@b.cd`,
];
const names = [...texts, ...lengths, 'constructor', 'toString', '0', '1e3'];
const others = [null, true, false, 0, 1.5, [], {}, ['a'], [null], [1], [['a']], { a: 'b' }, { a: null }];
const lists = [
  ...[...texts, ...lengths].map((value) => ({ a: [value] })),
  ...names.map((key) => ({ [key]: ['value'] })),
  ...others.map((value) => ({ a: value })),
  { a: Array.from({ length: 100 }, () => 'x') },
  { a: Array.from({ length: 101 }, () => 'x') },
];
const values: unknown[] = [...names, ...others, ...lists];
const fields = [...Object.keys(UserDocument.shape), 'id', 'constructor', 'hasOwnProperty'];

test('whom the schema would refuse or change is never taken for plainly right', () => {
  const candidates: unknown[] = [
    ...values,
    ...fields.flatMap((field) => values.map((value) => ({ ...PLAIN, [field]: value }))),
    { email: 'nobody@example.org' },
  ];
  const passed = candidates.filter(isPlainUser);
  expect(passed.length).toBeGreaterThan(50);
  // not toStrictEqual, which takes an attribute `constructor` for the object's own
  expect(passed.filter((user) => !isDeepStrictEqual(UserDocument.parse(user), user))).toEqual([]);
});

test('who has what most people have is plainly right, and the schema need not be asked', () => {
  expect(isPlainUser(PLAIN)).toBe(true);
  for (const field of Object.keys(PLAIN)) {
    const rest = Object.fromEntries(Object.entries(PLAIN).filter(([name]) => name !== field));
    expect(isPlainUser(rest)).toBe(field !== 'username');
  }
});
