// Owns: the languages of a realm's pages, with the realm's own texts in place of built-in ones.
// Does not own: the built-in texts (http/languages.ts), the language of a response (http/spoken.ts).
import { SCOPE_TEXT } from '../../../contract/message-texts.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { isTextKey, type Language, languageOf } from '../../../http/languages.ts';

/** The texts for `de`, then for `de-CH`: the more specific ones replace the others. */
const owns = (sql: Sql, realm: string, tag: string) => sql<{ texts: Record<string, string> }>`
  select texts from message_text
  where realm_id = ${realm} and locale in (${tag}, ${tag.split('-')[0] ?? tag}) order by length(locale)`;

function withTexts(builtIn: Language, all: readonly { texts: Record<string, string> }[]): Language {
  const own = new Map(all.flatMap(({ texts }) => Object.entries(texts)));
  if (own.size === 0) return builtIn;
  const texts = Object.fromEntries([...own].filter(([key]) => isTextKey(key)));
  const scopes = [...own].filter(([key]) => key.startsWith(SCOPE_TEXT));
  return {
    ...builtIn,
    texts: { ...builtIn.texts, ...texts },
    scopes: new Map(scopes.map(([key, words]) => [key.slice(SCOPE_TEXT.length), words])),
  };
}

export function createLanguages({ sql, now }: { sql: Sql; now: () => Date }) {
  const cache = createRealmCache<Language>({
    async load(realm, tag) {
      return withTexts(await languageOf(tag), await owns(sql, realm, tag));
    },
    now,
    // a change of the realm's revision drops the entry; without it a new text shows after this time
    ttlMs: 60_000,
    max: 100,
  });
  return {
    /** @param tag of a language of the pages. If the realm's texts can't be read, the built-in ones are used. */
    of: (realm: string | undefined, tag: string): Promise<Language> =>
      realm === undefined ? languageOf(tag) : cache.get(realm, tag).catch(() => languageOf(tag)),
    /** The language with texts that are not stored, in place of those that are stored for exactly this tag. */
    async unsaved(realm: string, tag: string, texts: Record<string, string>): Promise<Language> {
      const wider = tag.split('-')[0] ?? tag;
      const stored = wider === tag ? [] : await owns(sql, realm, wider);
      return withTexts(await languageOf(tag), [...stored, { texts }]);
    },
    drop: cache.drop,
  };
}
export type Languages = ReturnType<typeof createLanguages>;
