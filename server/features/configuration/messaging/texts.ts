// Chooses a user's template: in the user's language, else in the realm's, else in English. In each language the realm's
// own template takes precedence over the built-in one, which is used only for languages that the realm supports.
// Specification 2.6.
import type { TemplateKey } from '../../../contract/message-templates.ts';
import type { Sql } from '../../../db/sql.ts';
import type { SettingsService } from '../settings/service.ts';
import { builtInTemplate } from './built-in-templates.ts';
import * as store from './store.ts';
import { BUILT_IN_LOCALE, hasWords, languageIn } from './words.ts';

/** `pt-BR` → `pt-BR`, `pt` */
const withLanguage = (locale: string): string[] => [locale, languageIn(locale)];

export const createTexts = ({ settings }: { settings: Pick<SettingsService, 'of'> }) => ({
  /** @param wanted locales, the preferred one first */
  async of(
    sql: Sql,
    realm: string,
    key: TemplateKey,
    wanted: readonly string[],
  ): Promise<store.FoundTemplate & { realmName: string }> {
    const {
      defaultLocale = BUILT_IN_LOCALE,
      supportedLocales = [],
      displayName = realm,
    } = (await settings.of(realm)) ?? {};
    const locales = [...new Set([...wanted, defaultLocale, BUILT_IN_LOCALE].flatMap(withLanguage))];
    const spoken = new Set(supportedLocales.map(languageIn));
    const builtIn = locales.find((tag) => hasWords(tag) && spoken.has(tag)) ?? BUILT_IN_LOCALE;
    const own = await store.template(sql, realm, key, locales.slice(0, locales.indexOf(builtIn) + 1));
    return { locale: builtIn, ...builtInTemplate(key, builtIn), ...own, realmName: displayName };
  },
});
export type Texts = ReturnType<typeof createTexts>;
