// The realms that the reader may see.
import { listRealms } from '../generated/routes.ts';
import type { OutputOf } from './client.ts';
import { type Read, useRead } from './queries.ts';

export type RealmSummary = OutputOf<typeof listRealms>[number];

/** The most that a search or a page of realms shows. */
const MOST = 1000;

/** Those whose name or display name has the text, which the server looks for; '' are all, a page of them. */
export const useRealms = (q = ''): Read<typeof listRealms> =>
  useRead(listRealms, { query: { limit: MOST, ...(q !== '' && { q }) } }, { keep: true });

/** Those with the text in a name, before the server has looked for it. */
export const realmsWith = (realms: readonly RealmSummary[], text: string): RealmSummary[] =>
  realms.filter(({ realm, displayName }) =>
    `${realm} ${displayName}`.toLowerCase().includes(text.trim().toLowerCase()),
  );

/** A name that is the text comes first, then those that begin with it. */
export function realmsMatching(realms: readonly RealmSummary[], text: string): RealmSummary[] {
  const wanted = text.trim().toLowerCase();
  const rank = ({ realm }: RealmSummary): number => (realm === wanted ? 0 : realm.startsWith(wanted) ? 1 : 2);
  return [...realms].sort((one, other) => rank(one) - rank(other));
}
