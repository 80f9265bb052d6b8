import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { messages, TemplateKey, templateFaults } from '../../../server/contract/message-templates.ts';
import { builtInTemplate } from '../../../server/features/configuration/messaging/built-in-templates.ts';
import { hasWords, momentIn, spanIn, wordsIn } from '../../../server/features/configuration/messaging/words.ts';
import { TRANSLATED_LANGUAGES } from '../../../server/http/languages.ts';

const keys = TemplateKey.options;
const english = wordsIn('en');
const placeholders = (...texts: (string | null)[]) =>
  [...new Set(texts.flatMap((text) => text?.match(/\{\{[^}]+\}\}/g) ?? []))].sort();

describe.each(TRANSLATED_LANGUAGES)('messages in %s', (tag) => {
  test('are there, with the placeholders of the English ones, and as their templates may be', () => {
    expect(hasWords(tag)).toBe(true);
    for (const templateKey of keys) {
      const { subject, body } = wordsIn(tag).templates[templateKey];
      const source = english.templates[templateKey];
      const named = placeholders(subject, body);
      // who doesn't greet names nobody
      const wanted = placeholders(source.subject, source.body);
      expect([templateKey, named]).toEqual([templateKey, wanted]);
      expect(subject === null).toBe(source.subject === null);
      const { channel } = messages[templateKey];
      expect(templateFaults({ templateKey, channel, ...builtInTemplate(templateKey, tag) })).toEqual([]);
    }
  });

  test('have a button for each link, and no line that ends within a sentence', () => {
    const { buttons, templates } = wordsIn(tag);
    const linked = keys.filter((key) => messages[key].placeholders.some((one) => one === 'link'));
    expect(Object.keys(buttons).sort()).toEqual([...linked].sort());
    expect(keys.filter((key) => /[^\n]\n(?! {4}|\n)./.test(templates[key].body))).toEqual([]);
  });

  test('are no copies of the English ones', () => {
    if (tag === 'en') return;
    const own = wordsIn(tag);
    expect(keys.filter((key) => own.templates[key].body === english.templates[key].body)).toEqual([]);
    expect(Object.values(own.buttons)).not.toEqual(Object.values(english.buttons));
    const changes = Object.entries(english.changes);
    expect(Object.keys(own.changes).sort()).toEqual(changes.map(([change]) => change).sort());
    expect(changes.filter(([change, words]) => Object(own.changes)[change] === words)).toEqual([]);
  });
});

test('each text is of a change or a button that the server names', () => {
  const sources = globSync('server/**/*.ts')
    .filter((file) => !file.endsWith('messaging/words.ts'))
    .map((file) => readFileSync(file, 'utf8'));
  const isNamed = (word: string) => sources.some((source) => source.includes(`'${word}'`));
  const { changes, buttons } = english;
  expect([...Object.keys(changes), ...Object.keys(buttons)].filter((word) => !isNamed(word))).toEqual([]);
});

test('how long something is good is said in the language, in its largest whole unit', () => {
  expect([60, 600, 7200, 3 * 86_400].map((seconds) => spanIn('en', seconds))).toEqual([
    '60 seconds',
    '10 minutes',
    '2 hours',
    '3 days',
  ]);
  expect(spanIn('de-CH', 600)).toBe('10 Minuten');
  expect(spanIn('ar', 600)).toMatch(/^10 /);
  expect(spanIn('xx', 600)).toBe('10 minutes');
});

test('a moment is said as the language says it, with Latin digits, of one calendar and by UTC', () => {
  const at = new Date('2026-11-24T00:18:00Z');
  expect(momentIn('en', at)).toMatch(/^November 24, 2026.* 00:18 UTC$/);
  expect(momentIn('de-CH', at)).toMatch(/^24\. November 2026.* 00:18 UTC$/);
  expect(momentIn('ja', at)).toMatch(/^2026年11月24日.*0?0:18/);
  expect(momentIn('ar', at)).toMatch(/24.*2026.*00:18/);
  expect(momentIn('xx', at)).toBe(momentIn('en', at));
});
