// The hash that is checked where there is none: of a name that nobody has, or of somebody without a password. Hashes from
// elsewhere take another time than today's, so such names are given kinds in the proportions of the realm's people, each name
// always the same one: how long an answer takes says nothing of who exists.
import type { Passwords } from '../../../crypto/passwords.ts';
import { phcOfKind } from '../../../crypto/phc.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import * as store from './store.ts';

/** New people from elsewhere are hidden among others after this long. */
const KEPT_MS = 60_000;

/** With the share of people that it and those before it have. */
export interface Kind {
  phc: string;
  upTo: number;
}

/** @param at where a name stands among all: 0 to 1 */
export const kindAt = (kinds: readonly Kind[], at: number): Kind | undefined =>
  kinds.find(({ upTo }) => at < upTo) ?? kinds.at(-1);

/** Today's kind first: as people sign in and get it, names that nobody has go over to it too, and none comes back. */
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
      // Somebody's username and e-mail address are often the same but for the domain, and have one hash.
      const [part = ''] = name.toLowerCase().split('@');
      const at = seal.digest(part, `nobody:${realm}`).readUInt32BE() / 2 ** 32;
      return kindAt(known, at)?.phc ?? passwords.phcForNobody;
    },
  };
}
