// Decides which usernames and e-mail addresses the users of one batch get, if other users hold them or several users claim
// them. Pure: from-directory.ts reads and writes the rows. Decisions "User federation".
import { foldedName } from '../../../domain/user-names.ts';

export type NameField = 'username' | 'email';
const FIELDS = ['username', 'email'] as const;

/** A user that holds a claimed name, and the column that holds it. */
export interface Holder {
  id: string;
  column: NameField;
}
/** A user that holds a claimed name and is not in the batch. */
export interface Outsider {
  /** The user's entry is gone from its directory and the account is disabled: its names are free. */
  gone: boolean;
  /** The stable id of the user's entry, if it comes from the same directory. */
  external: string | null;
}
export interface Claimant {
  id: string;
  external: string;
  was: Readonly<Record<NameField, string | null>> | undefined;
  /** The names in the directory's entry. A user whose username is null keeps the present one. */
  wants: Readonly<Record<NameField, string | null>>;
  holders: Readonly<Record<NameField, readonly Holder[]>>;
}
export interface LostName {
  field: NameField;
  /** The winner: another entry of the directory, or a user that doesn't come from it. */
  to: 'entry' | 'user';
  /** Stable ids of entries that may give the name up when they are written; undefined: the name stays lost. */
  waitsFor: readonly string[] | undefined;
}
export interface NamesGot {
  /** null: the user is new and gets no username, so it can't be created. */
  username: string | null;
  email: string | null;
  lost: LostName[];
  /** Names that users whose entries are gone have to give up first. */
  frees: Holder[];
}

interface Standing extends Omit<NamesGot, 'frees'> {
  claimant: Claimant;
}

/**
 * The present holder of a name keeps it. After that a username wins over an address, and an earlier entry over a later one.
 */
const HOLDS = 2;
const rankOf = ({ claimant: { was } }: Standing, field: NameField, name: string): number => {
  const before = was?.[field];
  if (typeof before === 'string' && foldedName(before) === foldedName(name)) return HOLDS;
  return field === 'username' ? 1 : 0;
};

function lose(one: Standing, field: NameField, lost: Omit<LostName, 'field'>): void {
  one.lost.push({ field, ...lost });
  if (field === 'email') one.email = null;
  else one.username = one.claimant.was?.username ?? null;
  if (one.username === null) one.email = null;
}

export function settleNames(claimants: readonly Claimant[], outsiders: ReadonlyMap<string, Outsider>): NamesGot[] {
  const inside = new Set(claimants.flatMap(({ id, was }) => (was ? [id] : [])));
  const all = claimants.map((claimant): Standing => {
    const username = claimant.wants.username ?? claimant.was?.username ?? null;
    return { claimant, username, email: username === null ? null : claimant.wants.email, lost: [] };
  });
  for (const one of all) loseToOutsiders(one, inside, outsiders);
  while (loseToEachOther(all));
  return all.map(({ claimant, username, email, lost }) => {
    const got = { username, email };
    const frees = FIELDS.flatMap((field) => {
      const isOwn = got[field] !== null && claimant.wants[field] === got[field];
      return isOwn ? claimant.holders[field].filter(({ id }) => !inside.has(id) && outsiders.get(id)?.gone) : [];
    });
    return { username, email, lost, frees };
  });
}

function loseToOutsiders(one: Standing, inside: ReadonlySet<string>, outsiders: ReadonlyMap<string, Outsider>): void {
  for (const field of FIELDS) {
    const name = one[field];
    if (name === null || rankOf(one, field, name) === HOLDS) continue;
    const holders = one.claimant.holders[field]
      .filter(({ id }) => !inside.has(id))
      .map(({ id }) => outsiders.get(id) ?? { gone: false, external: null })
      .filter(({ gone }) => !gone);
    if (holders.length === 0) continue;
    const externals = holders.flatMap(({ external }) => external ?? []);
    const mayClear = externals.length === holders.length;
    lose(one, field, { to: mayClear ? 'entry' : 'user', waitsFor: mayClear ? externals : undefined });
  }
}

/** @returns whether a claim was lost. A user that gets no new name keeps its old one, which may clash with another claim */
function loseToEachOther(all: readonly Standing[]): boolean {
  const owners = new Map<string, { one: Standing; field: NameField; rank: number }>();
  const losers: { one: Standing; field: NameField; to: Standing }[] = [];
  for (const one of all)
    for (const field of FIELDS) {
      const name = one[field];
      if (name === null) continue;
      const key = foldedName(name);
      const claim = { one, field, rank: rankOf(one, field, name) };
      const owner = owners.get(key);
      if (!owner) owners.set(key, claim);
      else if (owner.one === one || (owner.rank === HOLDS && claim.rank === HOLDS)) continue;
      else if (claim.rank > owner.rank) {
        owners.set(key, claim);
        losers.push({ one: owner.one, field: owner.field, to: one });
      } else losers.push({ one, field, to: owner.one });
    }
  // Only a user that keeps an old name against the directory's entry may give it up later.
  for (const { one, field, to } of losers)
    lose(one, field, { to: 'entry', waitsFor: to.lost.length > 0 ? [to.claimant.external] : undefined });
  return losers.length > 0;
}
