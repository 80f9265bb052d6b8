import { expect, test } from 'vitest';
import {
  accepted,
  bestOf,
  type Catalogue,
  isTextKey,
  languageOf,
  nameOf,
  sourceTexts,
  type TextKey,
  written,
} from '../../../server/http/languages.ts';

const others = written.filter((tag) => tag !== 'en');
const catalogues = new Map<string, Catalogue>();
for (const tag of others) catalogues.set(tag, (await languageOf(tag)).texts);
const keys: TextKey[] = Object.keys(sourceTexts).filter(isTextKey);
const of = (tag: string, key: TextKey): string => catalogues.get(tag)?.[key] ?? '';
const placeholders = (words: string): string[] => (words.match(/\{\w+\}/g) ?? []).sort();

test.each(others)('%s has each text once, none more, and none empty', (tag) => {
  expect(Object.keys(catalogues.get(tag) ?? {}).sort()).toEqual([...keys].sort());
  expect(keys.filter((key) => of(tag, key).trim() === '')).toEqual([]);
});

test.each(others)('%s has the placeholders of the English texts', (tag) => {
  const differ = keys.filter((key) => placeholders(of(tag, key)).join() !== placeholders(sourceTexts[key]).join());
  expect(differ).toEqual([]);
});

/** How long codes and links last. */
const lasting = [
  ['messageCode.byEmail', 10],
  ['messageCode.bySms', 10],
  ['verify.lead', 10],
  ['link.waitingLead', 15],
  ['recover.sent', 20],
] as const;
test.each(others)('%s says minutes in the form that goes with their number', (tag) => {
  const bare = (words: string) => words.replaceAll(/\s/g, '');
  const number = { style: 'unit', unit: 'minute', unitDisplay: 'long', numberingSystem: 'latn' } as const;
  for (const [key, minutes] of lasting)
    expect(bare(of(tag, key).replace('{minutes}', String(minutes)))).toContain(
      bare(new Intl.NumberFormat(tag, number).format(minutes)),
    );
});

test.each(others)('%s is no copy of the English texts, and no text of it is cut off', (tag) => {
  const sentences = keys.filter((key) => sourceTexts[key].split(' ').length > 3);
  expect(sentences.filter((key) => of(tag, key) === sourceTexts[key])).toEqual([]);
  // a sentence ends as one
  const open = keys.filter(
    (key) => /[.?!:]$/.test(sourceTexts[key]) && !/[.?!:。？！：؟]$/u.test(of(tag, key).trimEnd()),
  );
  expect(open).toEqual([]);
  // buttons and titles have room for half as much again, and some words more
  const long = keys.filter((key) => of(tag, key).length > sourceTexts[key].length * 1.8 + 30);
  expect(long).toEqual([]);
});

test('the best of what is offered is the very language, else one of the same', () => {
  expect(bestOf(['de-AT', 'fr'], ['en', 'de', 'fr'])).toBe('de');
  expect(bestOf(['de'], ['en', 'de-CH', 'de-AT'])).toBe('de-CH');
  expect(bestOf(['DE-at'], ['de-CH', 'de-AT'])).toBe('de-AT');
  expect(bestOf(['se', ''], ['en'])).toBeUndefined();
});

test('what a browser accepts is in the order of its wishes', () => {
  expect(accepted('fr;q=0.3, de-CH, de;q=0.9, *;q=0.1, en;q=0, it;q=x')).toEqual(['de-CH', 'de', 'fr', '*']);
  expect(accepted(undefined)).toEqual([]);
});

test('a language is called what its speakers call it', () => {
  expect(['en', 'de', 'de-CH', 'fr', 'ar'].map(nameOf)).toEqual([
    'English',
    'Deutsch',
    'Deutsch (Schweiz)',
    'Français',
    'العربية',
  ]);
});
