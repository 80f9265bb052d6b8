import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  acceptedLanguages,
  bestOf,
  type Catalogue,
  COUNTS,
  formOf,
  formsOf,
  isTextKey,
  languageOf,
  nameOf,
  placeholdersIn,
  sourceTexts,
  type TextKey,
  TRANSLATED_LANGUAGES,
  usualForm,
} from '../../../server/http/languages.ts';

const others = TRANSLATED_LANGUAGES.filter((tag) => tag !== 'en');
const catalogues = new Map<string, Catalogue>();
for (const tag of TRANSLATED_LANGUAGES) catalogues.set(tag, (await languageOf(tag)).texts);
const keys: TextKey[] = Object.keys(sourceTexts).filter(isTextKey);
const formsIn = (tag: string, key: TextKey): string[] => formsOf(catalogues.get(tag)?.[key] ?? '');
const categoriesOf = (tag: string) => new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
const placeholders = (words: string): string[] => (words.match(/\{\w+\}/g) ?? []).sort();

test.each(others)('%s has each text once, none more, and none empty', (tag) => {
  expect(Object.keys(catalogues.get(tag) ?? {}).sort()).toEqual([...keys].sort());
  expect(keys.filter((key) => formsIn(tag, key).some((words) => words.trim() === ''))).toEqual([]);
});

test('the file of a language names each key once', () => {
  for (const tag of TRANSLATED_LANGUAGES) {
    const file = readFileSync(`server/http/languages/${tag}.json`, 'utf8');
    const named = [...file.matchAll(/^ {2}"([^"]+)":/gm)].map(([, key]) => key);
    expect(named, tag).toEqual(Object.keys(catalogues.get(tag) ?? {}));
  }
});

/** Whether the category is that of a single number: such a form may say `two minutes` without its digit. */
const isOfOneNumber = (tag: string, category: string): boolean => {
  const rules = new Intl.PluralRules(tag);
  return Array.from({ length: 200 }, (_, n) => rules.select(n)).filter((of) => of === category).length === 1;
};
test.each(TRANSLATED_LANGUAGES)('%s has the placeholders of the English texts, in each form', (tag) => {
  const differ = keys.flatMap((key) => {
    const text = catalogues.get(tag)?.[key] ?? '';
    const wanted = placeholders(usualForm(sourceTexts[key])).join();
    const forms = typeof text === 'string' ? [['other', text] as const] : Object.entries(text);
    return forms.flatMap(([category, words]) => {
      const counts = COUNTS.filter((count) => wanted.includes(`{${count}}`));
      const filled = isOfOneNumber(tag, category) ? words.concat(...counts.map((count) => `{${count}}`)) : words;
      const has = [words, filled].some((one) => placeholders(one).join() === wanted);
      return has ? [] : [`${key} ${category}`];
    });
  });
  expect(differ).toEqual([]);
});

test.each(TRANSLATED_LANGUAGES)('%s has a form for each plural category that it knows, and for no other', (tag) => {
  const wrong = keys.filter((key) => {
    const text = catalogues.get(tag)?.[key] ?? '';
    return typeof text !== 'string' && Object.keys(text).sort().join() !== [...categoriesOf(tag)].sort().join();
  });
  expect(wrong).toEqual([]);
});

test('a text with plural forms has one number to choose by', () => {
  const plural = keys.filter((key) =>
    TRANSLATED_LANGUAGES.some((tag) => typeof catalogues.get(tag)?.[key] !== 'string'),
  );
  const without = plural.filter((key) => {
    const names = placeholdersIn(usualForm(sourceTexts[key]));
    return names.filter((name) => COUNTS.includes(name)).length !== 1;
  });
  expect(without).toEqual([]);
});

/** No noun after the number, or a number that counts nothing. */
const NUMBER_ALONE: readonly TextKey[] = ['account.methodCodesLeft', 'said.least', 'said.most', 'said.notLast'];
/** Languages whose nouns stay the same after each number. */
const UNCHANGED = ['tr', 'ja', 'zh'];
test.each(TRANSLATED_LANGUAGES.filter((tag) => !UNCHANGED.includes(tag)))(
  '%s has plural forms where a word follows a number',
  (tag) => {
    // an abbreviated unit stays the same
    const counted = new RegExp(`\\{(?:count|left|${COUNTS.join('|')})\\} (?!(?:min|s)\\b)\\p{L}`, 'u');
    const single = keys.filter((key) => {
      const text = catalogues.get(tag)?.[key] ?? '';
      return typeof text === 'string' && counted.test(text);
    });
    expect(single.filter((key) => !NUMBER_ALONE.includes(key))).toEqual([]);
  },
);

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
  for (const [key, minutes] of lasting) {
    const form = formOf(catalogues.get(tag)?.[key] ?? '', tag, { minutes });
    expect(bare(form.replace('{minutes}', String(minutes)))).toContain(
      bare(new Intl.NumberFormat(tag, number).format(minutes)),
    );
  }
});

test.each(others)('%s is no copy of the English texts, and no text of it is cut off', (tag) => {
  const english = (key: TextKey) => usualForm(sourceTexts[key]);
  const sentences = keys.filter((key) => english(key).split(' ').length > 3);
  expect(sentences.filter((key) => formsIn(tag, key).includes(english(key)))).toEqual([]);
  // a sentence ends as one
  const isOpen = (words: string) => !/[.?!:。？！：؟]$/u.test(words.trimEnd());
  const open = keys.filter((key) => /[.?!:]$/.test(english(key)) && formsIn(tag, key).some(isOpen));
  expect(open).toEqual([]);
  // buttons and titles have room for half as much again, and some words more
  const long = keys.filter((key) => formsIn(tag, key).some((words) => words.length > english(key).length * 1.8 + 30));
  expect(long).toEqual([]);
});

test('the best of what is offered is the very language, else one of the same', () => {
  expect(bestOf(['de-AT', 'fr'], ['en', 'de', 'fr'])).toBe('de');
  expect(bestOf(['de'], ['en', 'de-CH', 'de-AT'])).toBe('de-CH');
  expect(bestOf(['DE-at'], ['de-CH', 'de-AT'])).toBe('de-AT');
  expect(bestOf(['se', ''], ['en'])).toBeUndefined();
});

test('what a browser accepts is in the order of its wishes', () => {
  expect(acceptedLanguages('fr;q=0.3, de-CH, de;q=0.9, *;q=0.1, en;q=0, it;q=x')).toEqual(['de-CH', 'de', 'fr', '*']);
  expect(acceptedLanguages(undefined)).toEqual([]);
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
