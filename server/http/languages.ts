// Owns: the languages of pages: their list, loading one at its first use, choosing the best for a reader.
// Does not own: filling a text's placeholders (texts.ts), the language of a response (spoken.ts).
// A language is one catalogue, languages/<tag>.json: the text of each key, or its plural forms. English is always loaded.
import english from './languages/en.json' with { type: 'json' };

/** One form for each plural category of the language. https://cldr.unicode.org/index/cldr-spec/plural-rules */
export type PluralForms = Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Text = string | PluralForms;
export type TextKey = keyof typeof english;
export type Catalogue = Readonly<Record<TextKey, Text>>;
export const sourceTexts: Catalogue = english;
export const isTextKey = (key: string): key is TextKey => Object.hasOwn(english, key);
export const PLACEHOLDER = /\{(\w+)\}/;
/** A text with plural forms has exactly one of these placeholders, and its number chooses the form. */
export const COUNTS: readonly string[] = ['minutes', 'wait', 'most', 'least', 'digits'];

/** All forms of a text. */
export const formsOf = (text: Text): string[] => (typeof text === 'string' ? [text] : Object.values(text));
/** The form to use without a number. */
export const usualForm = (text: Text): string => (typeof text === 'string' ? text : text.other);
/** Each name once. */
export const placeholdersIn = (words: string): string[] => [
  ...new Set(words.split(PLACEHOLDER).filter((_, i) => i % 2 === 1)),
];

export interface Language {
  /** The tag in the realm's settings: `de`, `de-CH`. */
  tag: string;
  texts: Catalogue;
  rightToLeft: boolean;
  /** The realm's own descriptions of client scopes in this language, by the scope's name. */
  scopes?: ReadonlyMap<string, string>;
}

const others: Readonly<Record<string, () => Promise<{ default: Catalogue }>>> = {
  de: () => import('./languages/de.json', { with: { type: 'json' } }),
  fr: () => import('./languages/fr.json', { with: { type: 'json' } }),
  es: () => import('./languages/es.json', { with: { type: 'json' } }),
  it: () => import('./languages/it.json', { with: { type: 'json' } }),
  pt: () => import('./languages/pt.json', { with: { type: 'json' } }),
  nl: () => import('./languages/nl.json', { with: { type: 'json' } }),
  pl: () => import('./languages/pl.json', { with: { type: 'json' } }),
  tr: () => import('./languages/tr.json', { with: { type: 'json' } }),
  ja: () => import('./languages/ja.json', { with: { type: 'json' } }),
  zh: () => import('./languages/zh.json', { with: { type: 'json' } }),
  ar: () => import('./languages/ar.json', { with: { type: 'json' } }),
};
export const TRANSLATED_LANGUAGES: readonly string[] = ['en', ...Object.keys(others)];
const rightToLeft: readonly string[] = ['ar'];

const baseOf = (tag: string): string => tag.toLowerCase().split('-')[0] ?? '';
export const isWritten = (tag: string): boolean => TRANSLATED_LANGUAGES.includes(baseOf(tag));

export const ENGLISH: Language = { tag: 'en', texts: english, rightToLeft: false };

/** @param tag of a language of the pages */
export async function languageOf(tag: string): Promise<Language> {
  const base = baseOf(tag);
  const texts = (await others[base]?.())?.default ?? ENGLISH.texts;
  return { tag, texts, rightToLeft: rightToLeft.includes(base) };
}

const rules = new Map<string, Intl.PluralRules>();
function rulesOf(tag: string): Intl.PluralRules {
  const made = rules.get(tag) ?? new Intl.PluralRules(tag);
  rules.set(tag, made);
  return made;
}

/** The form of a text for its number. */
export function formOf(text: Text, tag: string, values: Readonly<Record<string, unknown>>): string {
  if (typeof text === 'string') return text;
  const count = COUNTS.find((name) => Object.hasOwn(values, name));
  return (count !== undefined && text[rulesOf(baseOf(tag)).select(Number(values[count]))]) || text.other;
}

/**
 * The first language that the reader prefers and the realm offers: the exact one, else one of the same language
 * (`de-AT` → `de` or `de-CH`).
 */
export function bestOf(wanted: readonly string[], offered: readonly string[]): string | undefined {
  for (const one of wanted) {
    const same = (tag: string) => tag.toLowerCase() === one.toLowerCase();
    const found = offered.find(same) ?? offered.find((tag) => baseOf(tag) === baseOf(one));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The languages of an Accept-Language header, the preferred one first. RFC 9110 §12.5.4. */
export const acceptedLanguages = (header: string | undefined): string[] =>
  (header ?? '')
    .slice(0, 1000)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
      return { tag, quality: Number.isFinite(quality) ? quality : 0 };
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);

/** A language's name in the language itself: `Deutsch`. */
export function nameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}
