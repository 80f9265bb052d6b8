// Owns: names of a directory's entries in their one form, and values that come in ranges.
// Does not own: talking to directories (ldap-sync.test.ts).
// Implements: RFC 4514; decisions "User federation".
import { expect, test } from 'vitest';
import { dnKey } from '../../../server/domain/distinguished-name.ts';
import { entryOf, sessionOf } from '../../../server/features/people/user-federation/connection.ts';

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

/** A directory that gives so many members at a time, whatever is asked for, as Active Directory does. */
function givingInRanges(members: readonly string[], atOnce: number) {
  const asked: string[] = [];
  const ranged = (from: number) => {
    const upTo = from + atOnce;
    const last = upTo >= members.length;
    return { dn: 'cn=g', member: [], [`member;range=${from}-${last ? '*' : upTo - 1}`]: members.slice(from, upTo) };
  };
  const search = async (_: string, { attributes = [] }: { attributes?: string[] } = {}) => {
    const [attribute = ''] = attributes;
    asked.push(attribute);
    const from = Number(/;range=(\d+)-\*/.exec(attribute)?.[1] ?? 0);
    return { searchEntries: from < members.length ? [ranged(from)] : [], searchReferences: [] };
  };
  const none = () => Promise.reject(new Error('it is not asked for this'));
  const session = sessionOf({ search, searchPaginated: none as never, bind: none });
  return { asked, first: entryOf(ranged(0)), session };
}

test('all of a list that comes in ranges is asked for, range by range, and a short one not again', async () => {
  const members = Array.from({ length: 3000 }, (_, i) => `uid=u${i}`);
  const { asked, first, session } = givingInRanges(members, 1500 - 1);
  expect(await session.whole(first, 'member')).toEqual(members);
  expect(asked).toEqual(['member;range=1499-*', 'member;range=2998-*']);
  const short = givingInRanges(members.slice(0, 10), 1500);
  expect(await short.session.whole(short.first, 'member')).toHaveLength(10);
  expect(short.asked).toEqual([]);
});

test('a directory that says the same range again, or no more of it, ends the list', async () => {
  const { first, session } = givingInRanges(['a', 'b', 'c'], 2);
  const stuck = { searchEntries: [{ dn: 'cn=g', 'member;range=0-1': ['a', 'b'] }], searchReferences: [] };
  const again = sessionOf({ search: async () => stuck, searchPaginated: null as never, bind: null as never });
  expect(await session.whole(first, 'member')).toEqual(['a', 'b', 'c']);
  expect(await again.whole(first, 'member')).toEqual(['a', 'b', 'a', 'b']);
  const gone = async () => ({ searchEntries: [], searchReferences: [] });
  const empty = sessionOf({ search: gone, searchPaginated: null as never, bind: null as never });
  expect(await empty.whole(first, 'member')).toEqual(['a', 'b']);
});

test('bytes stay bytes', () => {
  const id = Buffer.from([0, 255, 128, 1]);
  expect(entryOf({ dn: 'cn=g', objectGUID: id }).bytes('objectguid')).toEqual([id]);
});

test('an attribute with options stands beside the one without, and for it where that is missing', () => {
  const entry = entryOf({ dn: 'cn=g', cn: 'Hans', 'cn;lang-en': 'John', 'givenName;lang-ja': '太郎', sn: [] });
  expect(entry.values('cn')).toEqual(['Hans']);
  expect(entry.values('CN;lang-EN')).toEqual(['John']);
  expect(entry.values('cn;lang-fr')).toEqual([]);
  expect(entry.values('givenname')).toEqual(['太郎']);
  expect(entry.values('sn')).toEqual([]);
});

test('bytes are text in Base64, whole lists of them, and text stays text', () => {
  const entry = entryOf({
    dn: 'cn=g',
    jpegPhoto: Buffer.from([0xff, 0xd8, 0xff]),
    'userCertificate;binary': Buffer.from('MII'),
    mixed: [Buffer.from('text'), Buffer.from([0xff])],
    withNul: Buffer.from('a\0b'),
    description: Buffer.from('Grüße'),
  });
  expect(entry.texts('jpegphoto')).toEqual(['/9j/']);
  expect(entry.texts('userCertificate;binary')).toEqual(['TUlJ']);
  expect(entry.texts('userCertificate')).toEqual(['TUlJ']);
  expect(entry.texts('mixed')).toEqual(['dGV4dA==', '/w==']);
  expect(entry.texts('withNul')).toEqual(['YQBi']);
  expect(entry.texts('description')).toEqual(['Grüße']);
});
