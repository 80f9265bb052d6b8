// The texts of the pages by key, in the language of who asked for the page: a key that doesn't exist, or a placeholder without a
// value, is an error of the compiler. A language is a file with the same keys (languages/).
import { Html, type HtmlValue, html } from './html.ts';
import { isTextKey, PLACEHOLDER, sourceTexts, type TextKey } from './languages.ts';
import { spoken } from './spoken.ts';

export type { TextKey } from './languages.ts';

type Source = typeof sourceTexts;
type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
type Values<Key extends TextKey, Value> = [Placeholder<Source[Key]>] extends [never]
  ? []
  : [values: Record<Placeholder<Source[Key]>, Value>];
type Plain = { [Key in TextKey]: [Placeholder<Source[Key]>] extends [never] ? Key : never }[TextKey];

/** The text, for an attribute or a title. */
export function text<Key extends TextKey>(key: Key, ...[values]: Values<Key, string | number>): string {
  return filled(spoken().texts[key], Object(values));
}
const filled = (pattern: string, values: Readonly<Record<string, unknown>>): string =>
  pattern
    .split(PLACEHOLDER)
    .map((part, i) => (i % 2 === 1 ? String(values[part]) : part))
    .join('');

/** The text as a part of a page: values may be markup, as a link; strings are escaped. */
export function textHtml<Key extends TextKey>(key: Key, ...[values]: Values<Key, HtmlValue>): Html {
  const parts = spoken().texts[key].split(PLACEHOLDER);
  return new Html(parts.map((part, i) => html`${i % 2 === 1 ? Object(values)[part] : part}`.text).join(''));
}

/** A text without placeholders that is chosen by what is told. */
export type PlainKey = Plain;
export const plainText = (key: PlainKey): string => spoken().texts[key];

const escaped = (words: string): string => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const sayings = Object.keys(sourceTexts)
  .filter(isTextKey)
  .filter((key) => key.startsWith('said.'));
const whole = new Map(sayings.map((key) => [String(sourceTexts[key]), key]));
const patterns = sayings
  .filter((key) => PLACEHOLDER.test(sourceTexts[key]))
  .map((key) => {
    const source = sourceTexts[key].split(PLACEHOLDER);
    const written = source.map((part, i) => (i % 2 === 1 ? `(?<${part}>.+)` : escaped(part)));
    return { key, pattern: new RegExp(`^${written.join('')}$`, 's') };
  });

/** Words that programs are told in English, as a person is told them; those that no catalogue has stay as they are. */
export function said(words: string): string {
  const key = whole.get(words);
  if (key !== undefined) return spoken().texts[key];
  for (const { key, pattern } of patterns) {
    const groups = pattern.exec(words)?.groups;
    if (groups) return filled(spoken().texts[key], groups);
  }
  return words;
}

/** What a client scope means: as the realm says it in this language, else by its description, else by its name. */
export const scopeText = (name: string, description: string | null): string =>
  spoken().scopes?.get(name) ?? (description === null ? name : said(description));
