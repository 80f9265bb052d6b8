// The built-in texts of messages, which administrators can replace, in each language of the pages. Specification 2.6.
// A language is languages/<tag>.json, read at its first use; English is always loaded.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { MessageTemplate, TemplateKey } from '../../../contract/message-templates.ts';
import english from './languages/en.json' with { type: 'json' };

/** A change of an account that its user gets a message about. */
export type Change =
  | 'password-changed'
  | 'email-changed'
  | 'profile-changed'
  | 'credential-added'
  | 'credential-removed'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'sessions-ended'
  | 'browser-forgotten'
  | 'push-denied'
  | 'data-exported'
  | 'account-deleted';

export interface MessageWords {
  /** The texts of the buttons for the links of mails. */
  buttons: Readonly<Partial<Record<TemplateKey, string>>>;
  templates: Readonly<Record<TemplateKey, Pick<MessageTemplate, 'subject' | 'body'>>>;
  changes: Readonly<Record<Change, string>>;
}

export const BUILT_IN_LOCALE = 'en';
const LANGUAGES: ReadonlySet<string> = new Set([
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'tr',
  'ja',
  'zh',
  'ar',
]);
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar']);
const loaded = new Map<string, MessageWords>([[BUILT_IN_LOCALE, english]]);
/** `npm run build` puts the folder beside its bundles. */
const folder = path.join(import.meta.dirname, 'languages');

/** The language of a locale: `pt` of `pt-BR`. */
export const languageIn = (locale: string): string => locale.toLowerCase().split('-')[0] ?? '';
export const directionIn = (locale: string): 'rtl' | 'ltr' => (RIGHT_TO_LEFT.has(languageIn(locale)) ? 'rtl' : 'ltr');
export const hasWords = (language: string): boolean => LANGUAGES.has(language);
/**
 * The texts of a language; English ones for those that it lacks. Synchronous, like the fields of a fresh template: a
 * file has 6 KB.
 */
export function wordsIn(locale: string): MessageWords {
  const language = languageIn(locale);
  const known = loaded.get(language);
  if (known) return known;
  if (!hasWords(language)) return english;
  const words: MessageWords = JSON.parse(readFileSync(path.join(folder, `${language}.json`), 'utf8'));
  loaded.set(language, words);
  return words;
}

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** How long a code or a link is valid: `10 minutes`. */
export function spanIn(locale: string, seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= 2 * size) ?? [1, 'second'];
  // the same digits as in codes
  const form = { style: 'unit', unit, unitDisplay: 'long', numberingSystem: 'latn' } as const;
  return new Intl.NumberFormat([languageIn(locale), BUILT_IN_LOCALE], form).format(Math.floor(seconds / size));
}

/** `24 November 2026 at 00:18 UTC`, in the locale's own way. */
export const momentIn = (locale: string, at: Date): string =>
  new Intl.DateTimeFormat([locale, languageIn(locale), BUILT_IN_LOCALE], {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    // the same digits as in codes, and the calendar of the rest of the mail
    hourCycle: 'h23',
    timeZone: 'UTC',
    numberingSystem: 'latn',
    calendar: 'gregory',
  }).format(at);
