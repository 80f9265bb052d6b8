import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { html } from '../../../server/http/html.ts';
import { text, textHtml } from '../../../server/http/texts.ts';
import { en } from '../../../server/http/texts-en.ts';

const sources = globSync('server/**/*.ts')
  .filter((file) => !/http\/texts-(brokering-)?en\.ts$/.test(file))
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
  const used = (key: string) => sources.some(({ code }) => code.includes(`'${key}'`));
  expect(Object.keys(en).filter((key) => !used(key))).toEqual([]);
  const computed = sources.filter(
    ({ file, code }) => !file.endsWith('http/texts.ts') && /\btext(?:Html)?\([`][a-z]+\.\$/.test(code),
  );
  expect(computed.map(({ file }) => file)).toEqual([]);
});

test('pages have no text of their own', () => {
  const own = sources.flatMap(({ file, code }) =>
    [...code.matchAll(/html`((?:[^`$]|\$\{(?:[^`{}]|\{[^}]*\})*\}|\$)*)`/g)].flatMap(([, markup = '']) =>
      [...markup.replaceAll(/\$\{[^}]*\}+/g, '').matchAll(/>\s*([^<>]*[A-Za-z]{2,} [A-Za-z]{2,}[^<>]*)</g)].map(
        ([, words]) => `${file}: ${words}`,
      ),
    ),
  );
  expect(own).toEqual([]);
});
