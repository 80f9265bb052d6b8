// Owns: entries that claim a name which another entry of the same directory held when they were written: both are read again by their
// stable ids and written together, so that names go from one to another in any order, and a name whose entry is gone is free.
// Does not own: who gets a name (features/people/users/directory-names.ts).
// Implements: decisions "User federation".
import type { DirectoryPerson, Faulty, Written } from '../users/from-directory.ts';
import { isBinary, ldapts, type Session } from './connection.ts';
import { personAttributes, personOf, stableId } from './entry.ts';
import type { Directory } from './store.ts';

/** Entries that are written in one transaction, so that they may all exchange their names. */
const AT_ONCE = 2_000;
/** Stable ids in one filter. */
const IN_FILTER = 100;
/** Each goes on only where the one before changed something. */
const MOST_ROUNDS = 10;

export const filterOfIds = async ({ users }: Pick<Directory, 'users'>, externals: readonly string[]) => {
  const { AndFilter, EqualityFilter, FilterParser, OrFilter } = await ldapts();
  const attribute = users.uuidAttribute;
  const filters = externals.map(
    (external) =>
      new EqualityFilter({ attribute, value: isBinary(attribute) ? Buffer.from(external, 'hex') : external }),
  );
  return new AndFilter({ filters: [FilterParser.parseString(users.filter), new OrFilter({ filters })] });
};

/** Reads these entries from the directory again. `absent`: it has none with this stable id. */
async function lookUp(
  session: Pick<Session, 'pages'>,
  directory: Directory,
  externals: readonly string[],
): Promise<{ people: DirectoryPerson[]; absent: string[] }> {
  const { base, scope } = directory.users;
  const people: DirectoryPerson[] = [];
  const absent = new Set(externals);
  for (const some of chunksOf(externals, IN_FILTER)) {
    const search = { base, scope, filter: await filterOfIds(directory, some), attributes: personAttributes(directory) };
    for await (const entries of session.pages(search, directory.pageSize))
      for (const entry of entries) {
        const { person } = personOf(directory, entry);
        if (person) people.push(person);
        absent.delete(stableId(directory, entry) ?? '');
      }
  }
  return { people, absent: [...absent] };
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

export interface WaitingNames {
  directory: Directory;
  session: Pick<Session, 'pages'>;
  /** By stable ids. */
  waiting: ReadonlyMap<string, Faulty>;
  /** Whether the holders of names may have changed since they were read, or be gone. */
  readsHolders: boolean;
  write(people: readonly DirectoryPerson[]): Promise<Written>;
  disableAbsent(externals: readonly string[]): Promise<void>;
}

/** @returns entries that were not taken whole all the same */
export async function claimNamesAgain({
  directory,
  session,
  waiting,
  readsHolders,
  write,
  disableAbsent,
}: WaitingNames): Promise<Faulty[]> {
  const settled: Faulty[] = [];
  const read = new Set<string>();
  let left = new Map(waiting);
  for (let [round, moved] = [0, true]; moved && left.size > 0 && round < MOST_ROUNDS; round += 1) {
    const holders = readsHolders ? [...left.values()].flatMap(({ waitsFor = [] }) => waitsFor) : [];
    const fresh = [...new Set(holders)].filter((external) => !left.has(external) && !read.has(external));
    for (const external of fresh) read.add(external);
    const next = new Map<string, Faulty>();
    moved = fresh.length > 0;
    for (const externals of chunksOf([...fresh, ...left.keys()], AT_ONCE)) {
      const { people, absent } = await lookUp(session, directory, externals);
      if (absent.length > 0) await disableAbsent(absent);
      const { added, updated, faulty } = await write(people);
      if (added + updated > 0) moved = true;
      for (const one of faulty)
        if (one.waitsFor === undefined) settled.push(one);
        else next.set(one.person.external, one);
    }
    for (const [external, { updated }] of left) {
      const still = next.get(external);
      if (still && updated) next.set(external, { ...still, updated });
    }
    left = next;
  }
  return [...settled, ...left.values()];
}
