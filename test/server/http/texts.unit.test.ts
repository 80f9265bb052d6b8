import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { html } from '../../../server/http/html.ts';
import { sourceTexts } from '../../../server/http/languages.ts';
import { said, text, textHtml } from '../../../server/http/texts.ts';

const sources = globSync('server/**/*.ts')
  .filter((file) => !file.includes('http/languages/'))
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
  const used = (key: string) => key.startsWith('said.') || sources.some(({ code }) => code.includes(`'${key}'`));
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

test('what programs are told in English is found by its words, with what stands in them', () => {
  expect(said('must have at least 12 characters')).toBe('must have at least 12 characters');
  expect(said('what an administrator wrote')).toBe('what an administrator wrote');
  const written = Object.entries(sourceTexts)
    .filter(([key]) => key.startsWith('said.'))
    .map(([, words]) => words.split(/\{\w+\}/).filter((part) => part.trim() !== ''));
  // the password's classes are put together of two parts
  const together = /^must have (an? .*)$/;
  const stands = (part: string) => sources.some(({ code }) => code.includes(part.replace(together, '$1')));
  expect(written.filter((parts) => !parts.every(stands))).toEqual([]);
});
