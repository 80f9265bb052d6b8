// Owns: entries that claim a name which another entry of the same directory still held: both are read again and written together, so that names can move between entries in any order.
// Does not own: which user gets a name (features/people/users/directory-names.ts).
// Implements: decisions "User federation".
import type { DirectoryPerson, Faulty, Written } from '../users/from-directory.ts';
import { isBinary, ldapts, type Session } from './connection.ts';
import { personAttributes, personOf, stableId } from './entry.ts';
import type { Directory } from './store.ts';

/** Entries in one transaction: within it, they can all exchange their names. */
const AT_ONCE = 2_000;
/** Stable ids in one filter. */
const IN_FILTER = 100;
/** A further round runs only if the round before changed something. */
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

/** Reads entries again by their stable ids. `absent`: the ids for which the directory has no entry. */
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
  /** By stable id. */
  waiting: ReadonlyMap<string, Faulty>;
  /** Whether the entries that hold the names must be read again: they may have changed or be gone. */
  readsHolders: boolean;
  write(people: readonly DirectoryPerson[]): Promise<Written>;
  disableAbsent(externals: readonly string[]): Promise<void>;
}

/** @returns the entries that still could not be written completely */
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
