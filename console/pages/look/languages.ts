// Languages of pages and messages, by their tags.
import type { OutputOf } from '../../api/client.ts';
import type { getSettings } from '../../generated/routes.ts';

const names = new Intl.DisplayNames('en', { type: 'language' });

/** `de` → `German` */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The languages of the realm, its own first. */
export const localesOf = (settings: OutputOf<typeof getSettings> | undefined): string[] =>
  settings ? [...new Set([settings.defaultLocale, ...settings.supportedLocales])] : [];

export const isRightToLeft = (tag: string): boolean => /^(ar|he|fa|ur)\b/.test(tag);
