// Owns: the users of the files while they arrive, in batches: finding repeated names, in the files or in the realm.
// Does not own: a user's translation (users.ts), the document's text (writer.ts).
// Implements: decisions "Import, export, plan" (import/keycloak).

import type { UserDocument } from '../../../../contract/users.ts';
import type { Sql } from '../../../../db/sql.ts';
import { foldedName } from '../../../../domain/user-names.ts';
import { MIB } from './files.ts';
import { parseExported } from './lenient.ts';
import { createNameSet } from './name-set.ts';
import type { Notes } from './notes.ts';
import { createPace } from './pace.ts';
import { type Surroundings, type TranslatedUser, userOf } from './users.ts';

/** A user's text in a file. */
export interface UserText {
  text: string;
  file: number;
  index: number;
}
interface Found {
  user: UserDocument;
  note(field: string | undefined, why: string, below?: string): void;
}
type Account = NonNullable<NonNullable<TranslatedUser>['account']>;

export interface Clash {
  n: number;
  field: 'id' | 'username' | 'email';
  owner: string;
}

/** Users of the realm with a name or id of these users, but another username. */
export const clashingUsers = (
  sql: Sql,
  realm: string,
  users: readonly Pick<UserDocument, 'id' | 'username' | 'email'>[],
): Promise<Clash[]> => sql<Clash>`
  select e.n::int - 1 as n, x.field, x.owner
  from unnest(${users.map(({ id }) => id ?? null)}::uuid[], ${users.map(({ username }) => username)}::text[],
    ${users.map(({ email }) => email ?? null)}::text[]) with ordinality as e (id, username, email, n)
  cross join lateral (
    select 'id' as field, u.username as owner from realm_user u where u.realm_id = ${realm} and u.id = e.id
    union all select 'username', u.username from realm_user u
      where u.realm_id = ${realm} and lower(u.email) = lower(normalize(e.username, NFKC))
    union all select 'username', u.username from realm_user u
      where u.realm_id = ${realm} and lower(u.username) = lower(normalize(e.username, NFKC))
    union all select 'username', u.username from realm_user u
      where u.realm_id = ${realm} and lower(normalize(u.username, NFKC)) <> lower(u.username)
        and lower(normalize(u.username, NFKC)) in (lower(normalize(e.username, NFKC)), lower(e.email))
    union all select 'email', u.username from realm_user u where u.realm_id = ${realm} and lower(u.email) = lower(e.email)
    union all select 'email', u.username from realm_user u
      where u.realm_id = ${realm} and lower(u.username) = lower(e.email)) x
  where lower(x.owner) <> lower(e.username)`;

export function createPeople({
  notes,
  clashesWith,
}: {
  notes: Notes;
  /** The clashes with users of the stored realm. */
  clashesWith(users: readonly UserDocument[]): Promise<readonly Clash[]>;
}) {
  const usernames = createNameSet();
  const emails = createNameSet();
  const ids = createNameSet();
  const identities = createNameSet();
  const breathe = createPace();

  async function read(texts: readonly UserText[], around: Surroundings) {
    const found: Found[] = [];
    const accounts: Account[] = [];
    for (const { text, file, index } of texts) {
      await breathe();
      const path = `users[${index}]`;
      const tell = (why: string) => notes.add({ kind: 'user', key: path, path, file }, why);
      if (text.length > MIB) {
        tell('is larger than 1 MiB');
        continue;
      }
      const value = parseExported(text, tell);
      if (value === undefined) continue;
      const { user, account, note } = userOf(value, around, { path, file });
      if (account) accounts.push(account);
      if (user) found.push({ user, note });
    }
    return { found, accounts };
  }

  /** The owner of each username and address in this batch: a username takes precedence over another user's address. */
  const ownersOf = (found: readonly Found[]): Map<string, Found> => {
    const owners = new Map<string, Found>();
    for (const one of found) {
      const name = foldedName(one.user.username);
      if (!owners.has(name)) owners.set(name, one);
    }
    return owners;
  };

  function apart(one: Found, owners: ReadonlyMap<string, Found>): UserDocument | undefined {
    const { user, note } = one;
    const name = foldedName(user.username);
    if (usernames.has(name)) {
      note('username', 'is there twice: the first counts');
      return undefined;
    }
    const own = user.email ? foldedName(user.email) : undefined;
    if (emails.has(name)) {
      note('username', 'is the address of another user before it');
      return undefined;
    }
    const kept = { ...user };
    if (user.id !== undefined && !ids.add(user.id)) {
      note('id', 'is another user’s before it: this one gets a new id');
      delete kept.id;
    }
    const owner = own === undefined ? undefined : owners.get(own);
    const isNamed = own !== undefined && own !== name && (usernames.has(own) || (owner !== undefined && owner !== one));
    if (own !== undefined && (isNamed || emails.has(own))) {
      note('email', isNamed ? 'is another user’s username' : 'is another user’s before it');
      kept.email = null;
      kept.emailVerified = false;
    }
    kept.identities = user.identities?.filter(({ identityProvider, subject }) => {
      const isFirst = identities.add(JSON.stringify([identityProvider, subject]));
      if (!isFirst) note('federatedIdentities', `${identityProvider}: another user before it has this link`);
      return isFirst;
    });
    usernames.add(name);
    if (kept.email) emails.add(foldedName(kept.email));
    return kept;
  }

  return {
    /** Translates users, without those that clash with earlier ones or with the realm's. */
    async take(
      texts: readonly UserText[],
      around: Surroundings,
    ): Promise<{ users: UserDocument[]; accounts: Account[] }> {
      const { found, accounts } = await read(texts, around);
      const owners = ownersOf(found);
      const kept = found.flatMap((one) => {
        const user = apart(one, owners);
        return user ? [{ ...one, user }] : [];
      });
      const dropped = new Set<number>();
      for (const { n, field, owner } of await clashesWith(kept.map(({ user }) => user))) {
        const one = kept[n];
        // the owner is in the files too, and gets its new names from them
        if (!one || dropped.has(n) || usernames.has(foldedName(owner))) continue;
        one.note(field, `is ${owner}’s in this realm`);
        if (field === 'username') dropped.add(n);
        else if (field === 'id') delete one.user.id;
        else Object.assign(one.user, { email: null, emailVerified: false });
      }
      return { users: kept.filter((_, n) => !dropped.has(n)).map(({ user }) => user), accounts };
    },
  };
}
