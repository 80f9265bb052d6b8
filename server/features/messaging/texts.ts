// Which template a person gets: of their language, else of the realm's, else the built-in one. Specification 2.6.
import type { TemplateKey } from '../../contract/message-templates.ts';
import type { Sql } from '../../db/sql.ts';
import type { SettingsService } from '../settings/service.ts';
import { BUILT_IN_LOCALE, builtInTemplate } from './built-in-templates.ts';
import * as store from './store.ts';

/** `pt-BR` → `pt-BR`, `pt` */
const withLanguage = (locale: string | undefined): string[] =>
  locale === undefined ? [] : [locale, locale.split('-')[0] ?? locale];

export const createTexts = ({ settings }: { settings: Pick<SettingsService, 'of'> }) => ({
  async of(
    sql: Sql,
    realm: string,
    key: TemplateKey,
    locale: string | undefined,
  ): Promise<store.FoundTemplate & { realmName: string }> {
    const { defaultLocale, displayName } = (await settings.of(realm)) ?? {};
    const locales = [...new Set([...withLanguage(locale), ...withLanguage(defaultLocale), BUILT_IN_LOCALE])];
    const found = await store.template(sql, realm, key, locales);
    return { locale: BUILT_IN_LOCALE, ...builtInTemplate(key), ...found, realmName: displayName ?? realm };
  },
});
export type Texts = ReturnType<typeof createTexts>;
