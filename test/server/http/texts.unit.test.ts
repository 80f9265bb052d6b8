import { globSync, readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { inEnglish, type PhraseCode, phrase, phrases } from '../../../server/contract/phrases.ts';
import { html } from '../../../server/http/html.ts';
import { isTextKey, sourceTexts, usualForm } from '../../../server/http/languages.ts';
import { spokenTo } from '../../../server/http/spoken.ts';
import { scopeText, text, textHtml, translated } from '../../../server/http/texts.ts';

// without what is generated from the texts: it names each one with a placeholder
const sources = globSync('server/**/*.ts')
  .filter((file) => !file.endsWith('http/text-placeholders.ts'))
  .map((file) => ({ file, code: readFileSync(file, 'utf8') }));

test('placeholders are filled in, once each, whatever their values hold', () => {
  expect(text('logout.goTo', { application: '{application}' })).toBe('Go to {application}');
  expect(text('newPassword.tooLong', { most: 512 })).toBe('Use at most 512 characters.');
  // @ts-expect-error a placeholder without a value
  expect(text('logout.goTo')).toBe('Go to undefined');
  // @ts-expect-error a key that doesn't exist
  expect(() => text('logout.goWhere')).toThrow();
});

test('on a page strings are escaped, and markup is not', () => {
  const values = { name: html`<b>${'<ann>'}</b>`, realm: '<acme>' };
  expect(textHtml('admin.who', values).text).toBe(
    'You are <b>&lt;ann&gt;</b> of the realm &lt;acme&gt;, with admin roles over',
  );
});

test('each key is used, and none is put together at run time, which nobody could look up', () => {
  const ofPhrases = new Set(Object.keys(phrases).map((code) => `said.${code}`));
  const used = (key: string) => ofPhrases.has(key) || sources.some(({ code }) => code.includes(`'${key}'`));
  expect(Object.keys(sourceTexts).filter((key) => !used(key))).toEqual([]);
  const computed = sources.filter(
    ({ file, code }) => !file.endsWith('http/texts.ts') && /\btext(?:Html)?\([`][a-z]+\.\$/.test(code),
  );
  expect(computed.map(({ file }) => file)).toEqual([]);
});

test('pages have no text of their own', () => {
  const own = sources.flatMap(({ file, code }) =>
    [...code.matchAll(/html`((?:[^`$]|\$\{(?:[^`{}]|\{[^}]*\})*\}|\$)*)`/g)].flatMap(([, markup = '']) =>
      [
        ...markup
          .replaceAll(/\$\{[^}]*\}+/g, '')
          .matchAll(
            /(?:>\s*|\b(?:data-[a-z]+|title|aria-label|placeholder|alt)=")([^<>"]*[A-Za-z]{2,} [A-Za-z]{2,}[^<>"]*)[<"]/g,
          ),
      ].map(([, words]) => `${file}: ${words}`),
    ),
  );
  expect(own).toEqual([]);
});

test('each phrase is used, and its text says in English what programs read', () => {
  const codes = Object.keys(phrases) as PhraseCode[];
  const others = sources.filter(({ file }) => !file.endsWith('contract/phrases.ts'));
  const made = (code: string) =>
    others.some(({ code: source }) => source.includes(`phrase('${code}'`) || source.includes(`phrases.${code}`));
  expect(codes.filter((code) => !made(code))).toEqual([]);
  const texts = codes.map((code) => [`said.${code}`, phrases[code]]);
  const english = texts.map(([key = '']) => [key, isTextKey(key) ? usualForm(sourceTexts[key]) : undefined]);
  expect(english).toEqual(texts);
});

test('a phrase is the same in English wherever it is read, and words without a translation stay as they are', () => {
  expect(translated(phrase('leastLong', { least: 12 }))).toBe('must have at least 12 characters');
  expect(inEnglish(phrase('leastLong', { least: 12 }))).toBe('must have at least 12 characters');
  expect(inEnglish(phrase('oneOf', { options: '$&, {options}' }))).toBe('must be one of $&, {options}');
  expect(translated('what an administrator wrote')).toBe('what an administrator wrote');
  // @ts-expect-error a parameter without a value
  phrase('leastLong');
  // @ts-expect-error a phrase that doesn't exist
  expect(() => inEnglish(phrase('longest'))).toThrow();
});

test('one of a thing is one in number', () => {
  expect(text('signIn.tooManyFailures', { wait: 1 })).toBe(
    'Too many failed tries from your network. Wait 1 second, then try again.',
  );
  expect(text('newPassword.least', { least: '1' })).toBe('At least 1 character');
});

test('a reader gets phrases and built-in scopes in their language, with the form that goes with the number', async () => {
  const inLanguage = (language: string, write: () => string) =>
    spokenTo({ headers: { 'accept-language': language } } as unknown as FastifyRequest, write);
  expect(await inLanguage('de', () => translated(phrase('notLast', { most: 3 })))).toBe(
    'darf keines der letzten 3 sein',
  );
  expect(await inLanguage('pl-PL', () => translated(phrase('leastLong', { least: 2 })))).toBe(
    'musi mieć co najmniej 2 znaki',
  );
  const organizations = 'Your organizations';
  expect(await inLanguage('de', () => scopeText('organization', organizations))).toBe('Ihre Organisationen');
  expect(await inLanguage('de', () => scopeText('organization', 'Teams'))).toBe('Teams');
  expect(await inLanguage('de', () => scopeText('calendar', null))).toBe('calendar');
});
