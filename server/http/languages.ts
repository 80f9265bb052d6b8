// The languages that pages are written in. English is always there; another one is read when somebody first asks for it.
import { texts as english } from './languages/en.ts';

export type TextKey = keyof typeof english;
export type Catalogue = Readonly<Record<TextKey, string>>;
export const sourceTexts = english;
export const isTextKey = (key: string): key is TextKey => Object.hasOwn(english, key);
export const PLACEHOLDER = /\{(\w+)\}/;
/** Each once. */
export const placeholdersIn = (words: string): string[] => [
  ...new Set(words.split(PLACEHOLDER).filter((_, i) => i % 2 === 1)),
];

export interface Language {
  /** As the realm names it: `de`, `de-CH`. */
  tag: string;
  texts: Catalogue;
  rightToLeft: boolean;
  /** What client scopes mean, by name, where the realm says it in this language. */
  scopes?: ReadonlyMap<string, string>;
}

const others: Readonly<Record<string, () => Promise<{ texts: Catalogue }>>> = {
  de: () => import('./languages/de.ts'),
  fr: () => import('./languages/fr.ts'),
  es: () => import('./languages/es.ts'),
  it: () => import('./languages/it.ts'),
  pt: () => import('./languages/pt.ts'),
  nl: () => import('./languages/nl.ts'),
  pl: () => import('./languages/pl.ts'),
  tr: () => import('./languages/tr.ts'),
  ja: () => import('./languages/ja.ts'),
  zh: () => import('./languages/zh.ts'),
  ar: () => import('./languages/ar.ts'),
};
export const written: readonly string[] = ['en', ...Object.keys(others)];
const rightToLeft: readonly string[] = ['ar'];

const baseOf = (tag: string): string => tag.toLowerCase().split('-')[0] ?? '';
export const isWritten = (tag: string): boolean => written.includes(baseOf(tag));

export const ENGLISH: Language = { tag: 'en', texts: english, rightToLeft: false };

/** @param tag of a language that is written */
export async function languageOf(tag: string): Promise<Language> {
  const base = baseOf(tag);
  const { texts } = (await others[base]?.()) ?? ENGLISH;
  return { tag, texts, rightToLeft: rightToLeft.includes(base) };
}

/** The first that is offered of what is wanted: the very one, else one of the same language (`de-AT` → `de` or `de-CH`). */
export function bestOf(wanted: readonly string[], offered: readonly string[]): string | undefined {
  for (const one of wanted) {
    const same = (tag: string) => tag.toLowerCase() === one.toLowerCase();
    const found = offered.find(same) ?? offered.find((tag) => baseOf(tag) === baseOf(one));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The languages of an Accept-Language header, the most wanted first. RFC 9110 §12.5.4. */
export const accepted = (header: string | undefined): string[] =>
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

/** What its speakers call it. */
export function nameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}
