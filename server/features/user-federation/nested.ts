// Groups in groups of a directory: who is in one is in each that it is in, however deep, by walking. Pure, as far as it can be.
import { dnKey } from './dn.ts';
import type { FoundGroup } from './groups.ts';

/**
 * Groups as a page after the other has them, with the members of the groups in them. They are all held at once, as what is in one
 * may come last; a member's name is held once.
 */
export async function* flattened(pages: AsyncIterable<FoundGroup[]>, pageSize: number): AsyncGenerator<FoundGroup[]> {
  const names = new Map<string, string>();
  const once = (name: string): string => {
    const known = names.get(name);
    if (known === undefined) names.set(name, name);
    return known ?? name;
  };
  const all = new Map<string, FoundGroup>();
  for await (const groups of pages)
    for (const group of groups) all.set(dnKey(group.dn), { ...group, members: group.members.map(once) });
  let some: FoundGroup[] = [];
  for (const group of all.values()) {
    some.push({ ...group, members: membersOf(group, all) });
    if (some.length < pageSize) continue;
    yield some;
    some = [];
  }
  yield some;
}

/** Each once; groups that are in each other end nothing but themselves. */
function membersOf(group: FoundGroup, all: ReadonlyMap<string, FoundGroup>): string[] {
  const within = new Set([group]);
  const people = new Set<string>();
  // a set goes on with what is added meanwhile
  for (const { members } of within)
    for (const member of members) {
      const inner = all.get(member);
      if (inner) within.add(inner);
      else people.add(member);
    }
  return [...people];
}

/** The groups that `found` gives for names, those for the names of these, and so on. */
export async function climbed<Found extends { dn: string }>(
  from: readonly string[],
  found: (names: readonly string[]) => Promise<readonly Found[]>,
  nested: boolean,
): Promise<Found[]> {
  const all = new Map<string, Found>();
  for (let names = from; names.length > 0; ) {
    const fresh = (await found(names)).filter(({ dn }) => !all.has(dnKey(dn)));
    for (const group of fresh) all.set(dnKey(group.dn), group);
    names = nested ? fresh.map(({ dn }) => dn) : [];
  }
  return [...all.values()];
}
