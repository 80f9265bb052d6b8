// The realms that the reader may see.
import { listRealms } from '../generated/routes.ts';
import type { OutputOf } from './client.ts';
import { type Read, useRead } from './queries.ts';

export type RealmSummary = OutputOf<typeof listRealms>[number];

/** The most that the list gives at once; a longer list is searched by typing a realm's whole name. */
const MOST = 10_000;

export const useRealms = (enabled = true): Read<typeof listRealms> =>
  useRead(listRealms, { query: { limit: MOST } }, { enabled });

/** Those whose name or display name has the text; one that begins with it comes first. */
export function realmsMatching(realms: readonly RealmSummary[], text: string): RealmSummary[] {
  const wanted = text.trim().toLowerCase();
  const rank = ({ realm, displayName }: RealmSummary): number => {
    if (realm === wanted) return 0;
    if (realm.startsWith(wanted)) return 1;
    if (displayName.toLowerCase().startsWith(wanted)) return 2;
    return realm.includes(wanted) || displayName.toLowerCase().includes(wanted) ? 3 : 4;
  };
  return realms
    .map((realm) => ({ realm, rank: rank(realm) }))
    .filter((one) => one.rank < 4)
    .sort((one, other) => one.rank - other.rank)
    .map(({ realm }) => realm);
}
