import { expect, test } from 'vitest';
import { patternsOf } from '../../../server/events/erasure.ts';

const email = 'a+b@x.test';
const person = { id: 'b1', username: 'a.b', email, ownEmail: email as string | null };
/** As PostgreSQL reads it: `(?!` and the escapes mean the same there. */
const erased = (text: string, where: 'id' | 'named' | 'own', of = person) =>
  text.replaceAll(new RegExp(patternsOf(of)[where], 'gi'), (match) =>
    where === 'id' ? 'p' : match.replace(/"(?:[^"\\]|\\.)*"$/, '"p"'),
  );

test.each([
  ['an id anywhere', 'id', '["B1", {"x": "b1"}]', '["p", {"x": "p"}]'],
  ['an id in an address', 'id', '{"path": "/users/b1/roles"}', '{"path": "/users/p/roles"}'],
  ['what names somebody, whatever its case', 'named', '{"with": "A.B"}', '{"with": "p"}'],
  [
    'nothing else of other people’s',
    'named',
    '{"to": "a.b", "l": ["a+b@x.test"]}',
    '{"to": "a.b", "l": ["a+b@x.test"]}',
  ],
  ['any text of their own', 'own', '{"x": "", "to": "a.b", "y": "A+B@x.test"}', '{"x": "", "to": "p", "y": "p"}'],
  ['an address in a list of their own', 'own', '["a+b@x.test", "a.b"]', '["p", "a.b"]'],
  [
    'no word of the server',
    'own',
    '{"x": 1, "reason": "a.b", "clientId": "a.b"}',
    '{"x": 1, "reason": "a.b", "clientId": "a.b"}',
  ],
  ['no part of a text', 'own', '{"note": "a.b and c", "other": "axb"}', '{"note": "a.b and c", "other": "axb"}'],
  ['no name of a field of their own', 'own', '{"a.b": 1, "a+b@x.test": 2}', '{"a.b": 1, "a+b@x.test": 2}'],
] as const)('an erasure replaces %s', (_, where, text, wanted) => {
  expect(erased(text, where)).toBe(wanted);
});

test('an address that was never confirmed is replaced in what is their own, and in nothing else', () => {
  const unsure = { ...person, ownEmail: null };
  expect(erased('{"email": "a+b@x.test", "with": "a.b"}', 'named', unsure)).toBe(
    '{"email": "a+b@x.test", "with": "p"}',
  );
  expect(erased('{"email": "a+b@x.test", "l": ["a+b@x.test"]}', 'own', unsure)).toBe('{"email": "p", "l": ["p"]}');
});

test('a username that looks like a pattern or like JSON is taken as it stands', () => {
  const odd = { ...person, username: '.*"}\\', email: 'o@x.test' };
  expect(erased(JSON.stringify({ name: odd.username, other: 'anything' }), 'own', odd)).toBe(
    '{"name":"p","other":"anything"}',
  );
});
