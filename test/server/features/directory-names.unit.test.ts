// Owns: names of a directory's entries in their one form, and values that come in ranges.
// Does not own: talking to directories (ldap-sync.test.ts).
// Implements: RFC 4514; decisions "User federation".
import { expect, test } from 'vitest';
import { entryOf } from '../../../server/features/user-federation/connection.ts';
import { dnKey } from '../../../server/features/user-federation/dn.ts';

test.each([
  ['uid=ada,dc=example', 'UID = Ada , DC=EXAMPLE'],
  ['cn=Doe\\, Jane,dc=example', 'cn=Doe\\2c Jane,dc=example'],
  ['cn=a\\+b,dc=example', 'cn=a\\2Bb,dc=example'],
  ['cn=x+uid=y,dc=example', 'uid=y+cn=x,dc=example'],
  ['cn=Bjørn,dc=example', 'cn=Bj\\C3\\B8rn,dc=example'],
  ['cn=a  b,dc=example', 'cn=a b,dc=example'],
])('%s and %s are one name', (one, other) => expect(dnKey(one)).toBe(dnKey(other)));

test.each([
  ['cn=a\\,dc=b', 'cn=a,dc=b'],
  ['cn=a+b=c', 'cn=a\\+b=c'],
  ['cn=a,b=c', 'cn=a\\,b\\=c'],
  ['cn=ends\\ ', 'cn=ends'],
])('%s and %s are two', (one, other) => expect(dnKey(one)).not.toBe(dnKey(other)));

test('a list that comes in ranges says what to ask for next, and its last part that there is no more', () => {
  const first = entryOf({ dn: 'cn=g', member: [], 'member;range=0-1': ['a', 'b'] });
  expect([first.values('member'), first.rest('member')]).toEqual([['a', 'b'], 'member;range=2-*']);
  const last = entryOf({ dn: 'cn=g', 'member;range=2-*': 'c', 'member;range=2-*;x': [] });
  expect([last.values('Member'), last.rest('member')]).toEqual([['c'], undefined]);
  expect(entryOf({ dn: 'cn=g' }).rest('member')).toBeUndefined();
});

test('bytes stay bytes', () => {
  const id = Buffer.from([0, 255, 128, 1]);
  expect(entryOf({ dn: 'cn=g', objectGUID: id }).bytes('objectguid')).toEqual([id]);
});
