// What messages say before anybody edits them, in each language that pages are written in. Specification 2.6.
import type { MessageTemplate, TemplateKey } from '../../../contract/message-templates.ts';
import { words as ar } from './languages/ar.ts';
import { words as de } from './languages/de.ts';
import { words as en } from './languages/en.ts';
import { words as es } from './languages/es.ts';
import { words as fr } from './languages/fr.ts';
import { words as it } from './languages/it.ts';
import { words as ja } from './languages/ja.ts';
import { words as nl } from './languages/nl.ts';
import { words as pl } from './languages/pl.ts';
import { words as pt } from './languages/pt.ts';
import { words as tr } from './languages/tr.ts';
import { words as zh } from './languages/zh.ts';

/** What a person is told of a change to their account. */
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
  templates: Readonly<Record<TemplateKey, Pick<MessageTemplate, 'subject' | 'body'>>>;
  changes: Readonly<Record<Change, string>>;
}

export const BUILT_IN_LOCALE = 'en';
const byLanguage = new Map(Object.entries({ en, de, fr, es, it, pt, nl, pl, tr, ja, zh, ar }));

/** The language of a locale: `pt` of `pt-BR`. */
export const languageIn = (locale: string): string => locale.toLowerCase().split('-')[0] ?? '';
export const hasWords = (language: string): boolean => byLanguage.has(language);
/** In English where the language has none. */
export const wordsIn = (locale: string): MessageWords => byLanguage.get(languageIn(locale)) ?? en;

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** For how long something is good: `10 minutes`. */
export function spanIn(locale: string, seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= 2 * size) ?? [1, 'second'];
  // digits as those of the codes beside them
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
    // digits as those of the codes, and the calendar of the rest of the mail
    hourCycle: 'h23',
    timeZone: 'UTC',
    numberingSystem: 'latn',
    calendar: 'gregory',
  }).format(at);
