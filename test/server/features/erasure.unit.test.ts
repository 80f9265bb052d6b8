import { expect, test } from 'vitest';
import { identifiersIn } from '../../../server/features/gdpr/erasure.ts';
import type { DataSubject } from '../../../server/features/gdpr/personal-data.ts';

const subject: DataSubject = { id: 'b1', username: 'a.b', email: 'a+b@x.test', pseudonym: 'p' };
/** As PostgreSQL reads it: `(?!` and the escapes mean the same there. */
const erased = (text: string, of = subject) => text.replaceAll(new RegExp(identifiersIn(of), 'gi'), '"p"');

test.each([
  ['a value, whatever its case', '{"username": "A.B"}', '{"username": "p"}'],
  ['an element of a list', '["a+b@x.test", "b1"]', '["p", "p"]'],
  ['no part of another value', '{"note": "a.b and c", "other": "axb"}', '{"note": "a.b and c", "other": "axb"}'],
  ['no field’s name', '{"a.b": 1, "b1" : 2}', '{"a.b": 1, "b1" : 2}'],
])('an identifier is replaced as %s', (_, text, wanted) => {
  expect(erased(text)).toBe(wanted);
});

test('a username that looks like a pattern or like JSON is taken as it stands', () => {
  const odd = { ...subject, username: '.*"}\\', email: null };
  expect(erased(JSON.stringify({ name: odd.username, other: 'anything' }), odd)).toBe(
    '{"name":"p","other":"anything"}',
  );
});
