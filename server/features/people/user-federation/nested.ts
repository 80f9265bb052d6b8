// Nested groups of a directory: a member of an inner group is a member of every group around it, at any depth. The
// functions walk the groups; they are pure apart from `found` and `pages`.

import { dnKey } from '../../../domain/distinguished-name.ts';
import { DirectoryFault } from './connection.ts';
import type { FoundGroup } from './groups.ts';

/** The most nested groups and members that are held in memory at once. docs/ldap.md names these limits, too. */
const MOST_GROUPS = 50_000;
const MOST_MEMBERS = 1_000_000;
const MOST_LEVELS = 50;
/** The most members visited for all groups together. Members of an inner group count once for each group around it. */
const MOST_STEPS = 20_000_000;
/** A page is yielded once it holds this many members, so pages of large groups have fewer groups. */
const MOST_HANDED_ON = 100_000;
const MOST_GROUPS_OF_ONE = 10_000;

const tooMuch = (what: string): DirectoryFault =>
  new DirectoryFault(`${what}: select fewer by groups.base and groups.filter, or switch groups.nested off`, {
    forGood: true,
  });
const tooDeep = (): DirectoryFault => tooMuch(`the directory’s groups are nested more than ${MOST_LEVELS} levels deep`);
const tooMany = (most: number, what: string): DirectoryFault => tooMuch(`the directory has more than ${most} ${what}`);

/**
 * Yields the groups in pages, each with the members of the groups inside it. All groups are in memory at once, because an
 * inner group can come last; each member's name is held once.
 * @throws DirectoryFault there are too many groups or members, or they are nested too deep
 */
export async function* flattened(pages: AsyncIterable<FoundGroup[]>, pageSize: number): AsyncGenerator<FoundGroup[]> {
  const names = new Map<string, string>();
  const once = (name: string): string => {
    const known = names.get(name);
    if (known === undefined) names.set(name, name);
    return known ?? name;
  };
  const all = new Map<string, FoundGroup>();
  let members = 0;
  for await (const groups of pages)
    for (const group of groups) {
      members += group.members.length;
      if (members > MOST_MEMBERS) throw tooMany(MOST_MEMBERS, 'members in groups');
      all.set(dnKey(group.dn), { ...group, members: group.members.map(once) });
      if (all.size > MOST_GROUPS) throw tooMany(MOST_GROUPS, 'groups');
    }
  const left = { steps: MOST_STEPS };
  let [some, held]: [FoundGroup[], number] = [[], 0];
  for (const group of all.values()) {
    const whole = { ...group, members: membersOf(group, all, left) };
    some.push(whole);
    held += whole.members.length;
    if (some.length < pageSize && held < MOST_HANDED_ON) continue;
    yield some;
    [some, held] = [[], 0];
  }
  yield some;
}

/** The members of a group and of all groups inside it, each once. Cycles of groups are harmless. */
function membersOf(group: FoundGroup, all: ReadonlyMap<string, FoundGroup>, left: { steps: number }): string[] {
  const within = new Set([group]);
  const people = new Set<string>();
  for (let [level, levels] = [[group], 0]; level.length > 0; levels += 1) {
    if (levels > MOST_LEVELS) throw tooDeep();
    const inside: FoundGroup[] = [];
    for (const { members } of level) {
      left.steps -= members.length;
      if (left.steps < 0) throw tooMany(MOST_STEPS, 'members in groups, counting those of groups in groups each time');
      for (const member of members) {
        const inner = all.get(member);
        if (!inner) people.add(member);
        else if (!within.has(inner)) {
          within.add(inner);
          inside.push(inner);
        }
      }
    }
    level = inside;
  }
  return [...people];
}

/**
 * Climbs from names to the groups that `found` gives for them, then to the groups around those, and so on.
 * @throws DirectoryFault there are too many groups, or they are nested too deep
 */
export async function groupsAbove<Found extends { dn: string }>(
  from: readonly string[],
  found: (names: readonly string[]) => AsyncIterable<readonly Found[]>,
  nested: boolean,
): Promise<Found[]> {
  const all = new Map<string, Found>();
  for (let [names, levels] = [from, 0]; names.length > 0; levels += 1) {
    if (levels > MOST_LEVELS) throw tooDeep();
    const fresh: string[] = [];
    for await (const groups of found(names))
      for (const group of groups) {
        const key = dnKey(group.dn);
        if (all.has(key)) continue;
        all.set(key, group);
        fresh.push(group.dn);
        if (all.size > MOST_GROUPS_OF_ONE) throw tooMany(MOST_GROUPS_OF_ONE, 'groups that one person is in');
      }
    names = nested ? fresh : [];
  }
  return [...all.values()];
}
