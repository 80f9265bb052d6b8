// Owns: signing in with a directory: finding the entry of a name, binding as that entry, importing the user. Unknown names take the same steps with a random entry, so that no answer is quicker than another.
// Does not own: local passwords, lockouts (features/people/credentials), pages.
// Implements: specification 4.2; decisions "User federation".
import { randomBytes } from 'node:crypto';
import type { Filter } from 'ldapts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import { fragment } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';
import { createSemaphore } from '../../../schedule/semaphore.ts';
import type { ElsewhereAttempt, PasswordSource } from '../credentials/sources.ts';
import type { DirectoryPerson, FromDirectoryWriter } from '../users/from-directory.ts';
import { DirectoryFault, type DirectoryOutbound, type Entry, ldapts, withDirectory } from './connection.ts';
import { personAttributes, personOf, stableId, writtenAttributes } from './entry.ts';
import { type DirectoryGroups, groupAttributes } from './groups.ts';
import { createLastPasswords, type LastPasswordDeps } from './last-passwords.ts';
import { claimNamesAgain, filterOfIds } from './names-again.ts';
import { groupsAbove } from './nested.ts';
import * as store from './store.ts';

const KEPT_MS = 60_000;
const TIMEOUT_MS = 5_000;
/** A directory that did not answer is not asked for this long; sign-ins fail at once meanwhile. */
const AWAY_MS = 5_000;
/** The most concurrent sign-ins of one process with one directory. */
const AT_ONCE = 16;
/**
 * The limit of attempts at an entry that has no user here, which no lockout counts. The directory's own rules apply
 * besides.
 */
const GUESSES = { limit: 10, windowMs: 900_000 };

export interface DirectorySourceDeps extends LastPasswordDeps {
  transact: Transact;
  seal: Seal;
  outbound: DirectoryOutbound;
  people: FromDirectoryWriter;
  groups: DirectoryGroups;
  log(message: string): void;
}

type Answer = { found: DirectoryPerson } | 'wrong' | 'away';

export function createDirectorySource(
  deps: DirectorySourceDeps,
): PasswordSource & { drop(realm: string | undefined): void } {
  const { sql, transact, seal, outbound, people, groups, log, now } = deps;
  const enabled = createRealmCache<store.Directory[]>({
    now,
    ttlMs: KEPT_MS,
    load: (realm) => store.directories(sql, seal, realm, fragment`enabled`),
  });
  const lastPasswords = createLastPasswords(deps);
  const turn = createSemaphore({ perKey: AT_ONCE });
  const guesses = createRateLimit({ ...GUESSES, now });
  const awayUntil = new Map<string, number>();

  async function filterOf({ users }: store.Directory, username: string) {
    const { AndFilter, EqualityFilter, FilterParser, OrFilter } = await ldapts();
    const names = [users.attributes.username, users.attributes.email].flatMap((attribute) => attribute ?? []);
    // Values of a filter object, not of a text: no name can change the filter.
    const which = new OrFilter({
      filters: names.map((attribute) => new EqualityFilter({ attribute, value: username })),
    });
    return new AndFilter({ filters: [FilterParser.parseString(users.filter), which] });
  }

  /** Whether the password may be tried at this entry. */
  const mayTry = (directory: store.Directory, person: DirectoryPerson, known: boolean): boolean =>
    known || guesses.take(`${directory.id} ${person.external}`) === undefined;

  async function ask(
    directory: store.Directory,
    { username, password, tried, guessAt }: ElsewhereAttempt,
    external: string | undefined,
  ): Promise<Answer> {
    const { base, scope } = directory.users;
    return withDirectory(directory, { outbound, timeoutMs: TIMEOUT_MS }, async (session): Promise<Answer> => {
      const find = (filter: Filter) =>
        session.some({ base, scope, filter, attributes: personAttributes(directory) }, 2);
      const linked = external === undefined ? [] : await find(await filterOfIds(directory, [external]));
      // If a user's entry is gone, its name may belong to another entry by now.
      const isLinked = linked.length > 0;
      const entries = isLinked ? linked : await find(await filterOf(directory, username));
      const [only] = entries;
      const { person } = only && entries.length === 1 ? personOf(directory, only) : {};
      // The directory can match names that differ here: in case, or a second or former address.
      const unnamed = tried && !isLinked ? person?.external : undefined;
      const userId = await store.userOf(sql, directory.realm, directory.id, unnamed ?? null);
      const proven = await guessAt(userId, async (free) => {
        if (free && only && person && tried && mayTry(directory, person, isLinked))
          return session.proves(only.dn, password);
        await session.proves(`cn=${randomBytes(12).toString('hex')},${base}`, randomBytes(12).toString('hex'));
        return false;
      });
      return proven && person ? { found: person } : 'wrong';
    });
  }

  async function asked(
    directory: store.Directory,
    attempt: ElsewhereAttempt,
    external: string | undefined,
  ): Promise<Answer> {
    if ((awayUntil.get(directory.id) ?? 0) > now().getTime()) return 'away';
    try {
      const answer = await turn(directory.id, () => ask(directory, attempt, external));
      awayUntil.delete(directory.id);
      return answer;
    } catch (error) {
      if (!(error instanceof DirectoryFault)) throw error;
      if (!awayUntil.has(directory.id))
        log(`the directory ${directory.alias} of ${directory.realm} can't be asked: ${error.message}`);
      awayUntil.set(directory.id, now().getTime() + AWAY_MS);
      return 'away';
    }
  }

  /** The directory's groups that contain the user. */
  async function groupsOf(directory: store.Directory, person: DirectoryPerson): Promise<Entry[]> {
    const { groups: of } = directory;
    if (!of) return [];
    const { AndFilter, EqualityFilter, FilterParser, OrFilter } = await ldapts();
    const member = (value: string) => new EqualityFilter({ attribute: of.memberAttribute, value });
    const holding = (names: readonly string[]) =>
      new AndFilter({ filters: [FilterParser.parseString(of.filter), new OrFilter({ filters: names.map(member) })] });
    const attributes = groupAttributes(directory).filter((name) => name !== of.memberAttribute);
    return withDirectory(directory, { outbound, timeoutMs: TIMEOUT_MS }, async (session) => {
      const found = (names: readonly string[]) => {
        const search = { base: of.base, scope: 'sub' as const, filter: holding(names), attributes };
        return session.pages(search, directory.pageSize);
      };
      return groupsAbove([person.dn, ...(person.login === '' ? [] : [person.login])], found, of.nested);
    });
  }

  /**
   * Creates or updates the user of an entry that has signed in. @returns the user's id; undefined: the entry can't become a
   * user
   */
  async function arrive(directory: store.Directory, person: DirectoryPerson): Promise<string | undefined> {
    const { realm, id: directoryId, alias, users } = directory;
    const found = await groupsOf(directory, person);
    const from = { realm, directoryId, alias };
    const write = (some: readonly DirectoryPerson[]) =>
      people.write({
        ...from,
        fields: new Set(Object.keys(users.attributes)),
        attributes: writtenAttributes(directory),
        trustEmail: users.trustEmail,
        people: some,
      });
    const { faulty } = await write([person]);
    const waiting = new Map(
      faulty.filter(({ waitsFor }) => waitsFor !== undefined).map((one) => [one.person.external, one]),
    );
    const left =
      waiting.size === 0
        ? faulty
        : await withDirectory(directory, { outbound, timeoutMs: TIMEOUT_MS }, (session) =>
            claimNamesAgain({
              directory,
              session,
              waiting,
              readsHolders: true,
              write,
              async disableAbsent(externals) {
                if (directory.removed !== 'disable') return;
                await people.disableAbsent(
                  { ...from, externals },
                  { before: async () => true, behind: async () => {}, kept: new Map() },
                );
              },
            }),
          );
    for (const one of left) log(`an entry of the directory ${alias} of ${realm}: ${one.person.dn} ${one.message}`);
    const id = await store.userOf(sql, realm, directoryId, person.external);
    if (id !== undefined && directory.groups) {
      const { nameAttribute } = directory.groups;
      const named = found.flatMap((entry) => {
        const [external, [name]] = [stableId(directory, entry), entry.values(nameAttribute)];
        return external === undefined || name === undefined ? [] : [{ external, dn: entry.dn, name, members: [] }];
      });
      await transact(realm, (tx) => groups.ofPerson(tx, directory, { id, key: person.dnKey }, named), {
        bookkeeping: true,
      });
    }
    return id;
  }

  return {
    async check(attempt) {
      const { realm, user, settled } = attempt;
      const all = await enabled.get(realm, '');
      if (all.length === 0) return 'wrong';
      const link = await store.linkOf(sql, realm, user?.id ?? null);
      const answers = await Promise.all(
        all.map((directory) => {
          const theirs = link?.directory_id === directory.id;
          // The name of a local user, or of another directory's user, is not tried at this directory.
          const tried = attempt.tried && (user === undefined || theirs);
          return asked(directory, { ...attempt, tried }, theirs ? link.external_id : undefined);
        }),
      );
      for (const [i, answer] of answers.entries()) {
        const directory = all[i];
        if (!directory || typeof answer === 'string') continue;
        const { passwordChanged } = answer.found;
        try {
          const isTheirs = link?.directory_id === directory.id && link.external_id === answer.found.external;
          // An account that is disabled in the directory is disabled here at once.
          const stays = isTheirs && settled && directory.mode === 'import' && answer.found.enabled;
          const userId = stays ? link.user_id : await arrive(directory, answer.found);
          if (userId === undefined) return 'wrong';
          await lastPasswords.remember(directory, userId, { password: attempt.password, passwordChanged });
          return { userId };
        } catch (error) {
          if (!(error instanceof DirectoryFault)) throw error;
          log(`the groups of a user of the directory ${directory.alias} of ${realm} can't be read: ${error.message}`);
          return 'away';
        }
      }
      if (!answers.includes('away')) return 'wrong';
      const lenient = all.filter(({ away }, i) => answers[i] === 'away' && away === 'lastPassword');
      if (lenient.length > 0) {
        const theirs = lenient.find(({ id }) => id === link?.directory_id);
        const matches = await lastPasswords.matches(theirs, link?.user_id, attempt);
        if (link && matches) return { userId: link.user_id, away: true };
        // The last password was compared, so this was an attempt.
        if (matches === false) return 'wrong-or-away';
      }
      // The password of a directory's user is known to that directory alone: answers of other directories don't count.
      const keepers = answers.filter((_, i) => !link || all[i]?.id === link.directory_id);
      return keepers.length > 0 && keepers.every((answer) => answer === 'away') ? 'away' : 'wrong-or-away';
    },
    keeperOf: (realm, userId) => store.aliasOf(sql, realm, userId),
    drop: enabled.drop,
  };
}
