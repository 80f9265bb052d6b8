// The links on the page of a step, which other features offer: a forgotten password, a new account.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { type PlainKey, plainText } from '../../../http/texts.ts';
import type { View } from './service.ts';

/** A link on the page of a step, for visitors without any proof yet. */
export interface PageLink {
  words: PlainKey;
  /** The authenticator on whose page the link stands; absent: on any. */
  beside?: string;
  offered(realm: string, settings: RealmSettingsDto): Promise<boolean>;
  /** @param asked the request of the sign-in, as its forms carry it */
  path(realm: string, asked: string | undefined, tab: number): string;
}

/** The links of the step that is shown. */
export async function linksOn(
  realm: string,
  { nextStep, settings, state, page }: View,
  { links, asked, tab }: { links: readonly PageLink[]; asked: string | undefined; tab: number },
): Promise<{ words: string; path: string }[]> {
  if (state.is !== 'unknown' || nextStep.do !== 'ask' || page?.underWay) return [];
  const here = links.filter(({ beside }) => beside === undefined || beside === nextStep.authenticatorId);
  const open = await Promise.all(here.map((way) => way.offered(realm, settings)));
  return here
    .filter((_, i) => open[i])
    .map(({ words, path }) => ({ words: plainText(words), path: path(realm, asked, tab) }));
}
