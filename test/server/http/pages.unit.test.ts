import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freshSettings } from '../../../server/contract/settings.ts';
import { contrast, parseHex, readableOn, textOn } from '../../../server/http/colours.ts';
import { html } from '../../../server/http/html.ts';
import { pageStyle } from '../../../server/http/page-style.ts';
import { cspSource, layout, themeCss } from '../../../server/http/pages.ts';

test('what is spliced into a page is escaped, whatever it is', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const page = html`<p title="${text}">${text}</p>`.text;
      expect(page.slice('<p title="'.length, -'</p>'.length)).not.toMatch(/<|'|"(?!>)/);
    }),
  );
  expect(html`${'<b>'}${html`<i>${'&'}</i>`}${[html`1`, html`2`]}${false}${null}${undefined}${0}`.text).toBe(
    '&lt;b&gt;<i>&amp;</i>120',
  );
});

test('text on any colour can be read, and so can the colour as text', () => {
  const byte = fc.nat(255);
  fc.assert(
    fc.property(byte, byte, byte, byte, byte, byte, (r, g, b, x, y, z) => {
      const [colour, card] = [[r, g, b] as const, [x, y, z] as const];
      expect(contrast(textOn(colour), colour)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(readableOn(colour, card), card)).toBeGreaterThanOrEqual(4.5);
    }),
  );
  expect(parseHex('#fc0')).toEqual([255, 204, 0]);
});

test('a button is seen on its card whatever its colour is, and keeps its colour where it is', () => {
  const marks = (primaryColor: string) =>
    [...themeCss({ ...freshSettings('acme'), primaryColor }).matchAll(/--mark:(#[0-9a-f]+)/g)].map(([, mark]) => mark);
  expect(marks('#336699')).toEqual(['#336699', '#336699']);
  const [day = '', night = ''] = marks('#ffffff');
  expect([contrast(parseHex(day), [255, 255, 255]) > 4, night]).toEqual([true, '#ffffff']);
  const [light, dark = ''] = marks('#000000');
  expect([light, contrast(parseHex(dark), [27, 31, 39]) > 4]).toEqual(['#000000', true]);
});

test('at night the page is dark whatever colour the realm gave it, and a dark one stays as it is', () => {
  const pages = (backgroundColor: string) =>
    [...themeCss({ ...freshSettings('acme'), backgroundColor }).matchAll(/--page:(#[0-9a-f]+)/g)].map(
      ([, page]) => page,
    );
  for (const given of ['#ffffff', '#ffe0b0', '#7ec8e3', '#ff0000']) {
    const [day, night = ''] = pages(given);
    expect(day).toBe(given);
    expect(contrast(parseHex(night), [255, 255, 255])).toBeGreaterThanOrEqual(14);
  }
  expect(pages('#101820')).toEqual(['#101820', '#101820']);
});

test('a realm’s brand reaches its pages, and its name cannot break out', () => {
  const brand = {
    ...freshSettings('acme'),
    displayName: '"><script>',
    primaryColor: '#336699',
    logoUrl: 'https://cdn.example/a"b.png',
  };
  const page = layout({ realm: 'acme', brand, title: 'T', body: html`` }).text;
  expect(page).not.toContain('<script>');
  expect(page).toContain('a&quot;b.png');
  expect(themeCss(brand)).toContain('--primary:#336699');
});

test('where a form may lead: an origin, or a native application’s scheme', () => {
  expect(cspSource('https://app.example/callback?x=1;2')).toBe('https://app.example');
  expect(cspSource('http://127.0.0.1:8123/cb')).toBe('http://127.0.0.1:8123');
  expect(cspSource('com.example.app:/cb')).toBe('com.example.app:');
  expect(cspSource('https://*.example/logo.png')).toBe('https:');
  expect(cspSource('https:')).toBe('https:');
  expect(cspSource('https://logo.example;frame-ancestors/logo.png')).toBe('https:');
  expect(cspSource('https://logo.example,x/logo.png')).toBe('https:');
});

test('links can be read on pages without a realm’s colours, by day and by night', () => {
  const looks = [...pageStyle.matchAll(/:root \{([^}]+)\}/g)].map(([, rules = '']) => {
    const colour = (name: string) => parseHex(new RegExp(`--${name}: (#[0-9a-f]+)`).exec(rules)?.[1] ?? '');
    return contrast(colour('link'), colour('card'));
  });
  expect(looks).toHaveLength(2);
  for (const look of looks) expect(look).toBeGreaterThanOrEqual(4.5);
});

test('a page that shows a secret has the realm’s colours, and none of its own CSS', () => {
  const brand = { ...freshSettings('acme'), customCss: 'input { background: url(https://evil.example/) }' };
  const page = (plain: boolean) => layout({ realm: 'acme', brand, title: 'x', body: html``, plain }).text;
  expect(page(true)).toContain('/realms/acme/colours.css');
  expect(page(true)).not.toContain('theme.css');
  expect(page(false)).toContain('/realms/acme/theme.css');
});

test('the realm’s own CSS stands in a layer over that of the pages', () => {
  expect(pageStyle).toMatch(/^\n@layer pages, realm;\n@layer pages \{/);
  const css = themeCss({ ...freshSettings('acme'), customCss: '.card { color: red }' });
  expect(css).toMatch(/^@layer pages\{\n:root[\s\S]*\n\}\n@layer realm\{\n\.card \{ color: red \}\n\}$/);
  expect(themeCss({ ...freshSettings('acme'), customCss: null })).not.toContain('layer realm');
});
