// Owns: a text of a page by its key, in the language of the request, with its placeholders filled in. A key that doesn't exist, or a
// placeholder without a value, is an error of the compiler.
// Does not own: the texts (languages/<tag>.json), which language a request is answered in (spoken.ts).
import { type PhraseCode, phrases, scopePhrases, type Words } from '../contract/phrases.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { formOf, PLACEHOLDER, type TextKey } from './languages.ts';
import { currentLanguage } from './spoken.ts';
import type { TextPlaceholders } from './text-placeholders.ts';

export type { TextKey } from './languages.ts';

type Values<Key extends TextKey, Value> = Key extends keyof TextPlaceholders
  ? [values: Record<TextPlaceholders[Key], Value>]
  : [];

/** The text, for an attribute or a title. */
export function text<Key extends TextKey>(key: Key, ...[values]: Values<Key, string | number>): string {
  return filled(key, Object(values));
}
/** Splits a text: text and names of placeholders alternate. */
function partsOf(key: TextKey, values: Readonly<Record<string, unknown>>): string[] {
  const { texts, tag } = currentLanguage();
  return formOf(texts[key], tag, values).split(PLACEHOLDER);
}
const filled = (key: TextKey, values: Readonly<Record<string, unknown>>): string =>
  partsOf(key, values)
    .map((part, i) => (i % 2 === 1 ? String(values[part]) : part))
    .join('');

/** The text as a part of a page: values may be markup, as a link; strings are escaped. */
export function textHtml<Key extends TextKey>(key: Key, ...[values]: Values<Key, HtmlValue>): Html {
  const of = Object(values);
  return new Html(
    partsOf(key, of)
      .map((part, i) => html`${i % 2 === 1 ? of[part] : part}`.text)
      .join(''),
  );
}

/** A text without placeholders, which code may choose by a table. */
export type PlainKey = Exclude<TextKey, keyof TextPlaceholders>;
export const plainText = (key: PlainKey): string => filled(key, {});

/** A phrase in the language of the request. Texts that exist only in English stay unchanged. */
export const translated = (words: Words): string =>
  typeof words === 'string' ? words : filled(`said.${words.code}`, words.values);

/** A client scope's text: from the realm's message texts in this language, else its description, else its name. */
export function scopeText(name: string, description: string | null): string {
  const code = builtInCode(name, description);
  return currentLanguage().scopes?.get(name) ?? (code ? translated({ code, values: {} }) : (description ?? name));
}

function builtInCode(name: string, description: string | null): PhraseCode | undefined {
  const code = scopePhrases.get(name);
  return code !== undefined && description === phrases[code] ? code : undefined;
}

/** Whether {@link scopeText} is this program's text, not the realm's. */
export const hasBuiltInText = (name: string, description: string | null): boolean =>
  builtInCode(name, description) !== undefined && !currentLanguage().scopes?.has(name);
