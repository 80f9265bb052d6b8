// The hash to verify when there is none: for an unknown name, or for a user without a password. An imported hash takes
// another time to verify than today's kind. So unknown names get kinds of hashes in the same proportions as the realm's
// users, and one name always gets the same kind: the time of an answer doesn't tell whether the user exists.
import type { Passwords } from '../../../crypto/passwords.ts';
import { phcOfKind } from '../../../crypto/phc.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { lowerForms } from '../../../domain/user-names.ts';
import * as store from './store.ts';

/** After this long, newly imported users are among the proportions. */
const KEPT_MS = 60_000;

/** A kind of hash; `upTo` is the share of users with this kind or one before it. */
export interface Kind {
  phc: string;
  upTo: number;
}

/** @param at the place of a name among all names, from 0 to 1 */
export const kindAt = (kinds: readonly Kind[], at: number): Kind | undefined =>
  kinds.find(({ upTo }) => at < upTo) ?? kinds.at(-1);

/** Today's kind comes first. As users sign in and get today's kind, unknown names move to it too, and none moves back. */
export function kindsOf(usual: string, people: number, others: readonly { kind: string; people: number }[]): Kind[] {
  let before = Math.max(0, people - others.reduce((sum, other) => sum + other.people, 0));
  const all = Math.max(1, people);
  return [
    { phc: usual, upTo: before / all },
    ...others.map(({ kind, people: theirs }) => {
      before += theirs;
      return { phc: phcOfKind(kind), upTo: before / all };
    }),
  ];
}

export function createNobody({
  sql,
  seal,
  passwords,
  now,
}: {
  sql: Sql;
  seal: Seal;
  passwords: Pick<Passwords, 'phcForNobody'>;
  now: () => Date;
}) {
  const kinds = createRealmCache<Kind[]>({
    now,
    ttlMs: KEPT_MS,
    async load(realm) {
      const others = await store.importedKinds(sql, realm);
      const people = others.length === 0 ? 0 : await store.countPasswords(sql, realm);
      return kindsOf(passwords.phcForNobody, people, others);
    },
  });
  return {
    async phcFor(realm: string, name: string): Promise<string> {
      const known = await kinds.get(realm, '');
      if (known.length === 1) return passwords.phcForNobody;
      // A user's name and e-mail address often differ only by the domain, and both must have the same kind of hash.
      // So have all spellings of one name.
      const [part = ''] = (lowerForms(name).at(-1) ?? '').split('@');
      const at = seal.digest(part, `nobody:${realm}`).readUInt32BE() / 2 ** 32;
      return kindAt(known, at)?.phc ?? passwords.phcForNobody;
    },
  };
}
