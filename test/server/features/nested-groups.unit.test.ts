// Groups in groups of a directory, and how many of them are held and walked through at once.
import { expect, test } from 'vitest';
import type { FoundGroup } from '../../../server/features/people/user-federation/groups.ts';
import { flattened, groupsAbove } from '../../../server/features/people/user-federation/nested.ts';

const dnOf = (n: number) => `cn=g${n},dc=example`;
const group = (n: number, members: string[] = []): FoundGroup => ({
  external: `${n}`,
  dn: dnOf(n),
  name: `g${n}`,
  members,
});
async function* pages<T>(most: number, of: (n: number) => T): AsyncGenerator<T[]> {
  for (let n = 0; n < most; n += 1000) yield Array.from({ length: Math.min(1000, most - n) }, (_, i) => of(n + i));
}
/** The largest page. */
async function flat(most: number, of: (n: number) => FoundGroup): Promise<FoundGroup[]> {
  let largest: FoundGroup[] = [];
  for await (const page of flattened(pages(most, of), 1000)) if (page.length > largest.length) largest = page;
  return largest;
}
/** Each is in the one before. */
const chain = (n: number) => group(n, [dnOf(n + 1), `uid=p${n}`]);
/** The groups that a chain of so many has above its last. */
const climb = (from: string, most: number) =>
  groupsAbove(
    [from],
    async function* (names) {
      yield names.flatMap((name) => {
        const n = Number(/\d+/.exec(name)?.[0]) + 1;
        return n < most ? [{ dn: dnOf(n) }] : [];
      });
    },
    true,
  );

test('groups in groups are walked through to a depth that no directory of people has', async () => {
  const [first] = await flat(51, chain);
  expect(first?.members).toHaveLength(52);
  expect(await climb(dnOf(0), 51)).toHaveLength(50);
});

test('large groups are handed on a few at a time', async () => {
  const large = (n: number) =>
    group(
      n,
      Array.from({ length: 20_000 }, (_, i) => `uid=p${i}`),
    );
  expect(await flat(12, large)).toHaveLength(5);
});

test.each([
  ['groups are in each other too deep', () => flat(60, chain), 'more than 50 levels deep'],
  ['groups are in each other too deep, where somebody signs in', () => climb(dnOf(0), 60), 'more than 50 levels deep'],
  ['there are too many groups', () => flat(50_001, (n) => group(n)), 'more than 50000 groups'],
  [
    'they have too many members',
    () =>
      flat(1001, (n) =>
        group(
          n,
          Array.from({ length: 1000 }, (_, i) => `uid=p${i}`),
        ),
      ),
    'more than 1000000 members',
  ],
  [
    'the same groups are in too many others',
    () => flat(900, (n) => group(n, [dnOf(0), ...Array.from({ length: n === 0 ? 40_000 : 0 }, (_, i) => `uid=p${i}`)])),
    'counting those of groups in groups each time',
  ],
  [
    'one person is in too many',
    () => groupsAbove(['uid=ada'], () => pages(10_001, (n) => ({ dn: dnOf(n) })), false),
    'more than 10000 groups that one person is in',
  ],
])('a directory is told to be at fault, for good, where %s', async (_, walk, words) => {
  await expect(walk()).rejects.toMatchObject({ forGood: true, message: expect.stringContaining(words) });
});
