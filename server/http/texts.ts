// The texts of the pages by key: a key that doesn't exist, or a placeholder without a value, is an error of the compiler.
// A language is a file with the same keys (texts-en.ts). There is one; with a second one a page asks for its realm's.
import { Html, type HtmlValue, html } from './html.ts';
import { en } from './texts-en.ts';

type Catalogue = typeof en;
export type TextKey = keyof Catalogue;
type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
type Values<Key extends TextKey, Value> = [Placeholder<Catalogue[Key]>] extends [never]
  ? []
  : [values: Record<Placeholder<Catalogue[Key]>, Value>];

const PLACEHOLDER = /\{(\w+)\}/;

/** The text, for an attribute or a title. */
export function text<Key extends TextKey>(key: Key, ...[values]: Values<Key, string | number>): string {
  const parts = en[key].split(PLACEHOLDER);
  return parts.map((part, i) => (i % 2 === 1 ? String(Object(values)[part]) : part)).join('');
}

/** The text as a part of a page: values may be markup, as a link; strings are escaped. */
export function textHtml<Key extends TextKey>(key: Key, ...[values]: Values<Key, HtmlValue>): Html {
  const parts = en[key].split(PLACEHOLDER);
  return new Html(parts.map((part, i) => html`${i % 2 === 1 ? Object(values)[part] : part}`.text).join(''));
}
