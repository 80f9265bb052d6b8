import { expect, test } from 'vitest';
import { htmlOfText } from '../../../server/features/configuration/messaging/html-of-text.ts';

const brand = { displayName: 'Acme <b>', logoUrl: null, primaryColor: '#ffee00' };
const english = { title: 'A <title>', language: 'en', direction: 'ltr' } as const;
const of = (text: string, link?: string, look: Parameters<typeof htmlOfText>[1]['brand'] = brand) =>
  htmlOfText(text, { brand: look, button: link === undefined ? undefined : { link, label: 'Sign in' }, ...english });

test('a text becomes paragraphs with the realm’s name and colour, escaped', () => {
  const page = of('Hello <i>Ada</i>,\n\nyour code is\n\n    123456\n\nKeep it.\nBye.\n');
  expect(page).toContain('Acme &lt;b&gt;');
  expect(page).toContain('<title>A &lt;title&gt;</title>');
  expect(page).toContain('Hello &lt;i&gt;Ada&lt;/i&gt;,</p>');
  expect(page).toMatch(/font-size:20px;[^"]*"><bdi>123456<\/bdi><\/p>/);
  expect(page).toContain('Keep it.<br>Bye.</p>');
  expect(page).toContain('solid #ffee00');
  expect(page).not.toContain('<a ');
});

test('a list of facts is no larger than the text, and each fact keeps its own direction', () => {
  const page = of('It was used on\n\n    Firefox on Windows\n    192.0.2.7\n\nBye.\n');
  expect(page).toMatch(/font-weight:600"><bdi>Firefox on Windows<\/bdi><br><bdi>192.0.2.7<\/bdi><\/p>/);
  expect(page).not.toContain('font-size:20px');
});

test('only the message’s own link becomes a button, whose text is readable on the realm’s colour', () => {
  const link = 'https://id.example/realms/acme/login/link?token=a&b=c';
  const page = of(`Open this:\n\n${link}\n\nhttps://evil.example/\n`, link);
  expect(page.match(/<a /g)).toHaveLength(1);
  expect(page).toContain('href="https://id.example/realms/acme/login/link?token=a&amp;b=c"');
  expect(page).toContain('color:#000000');
  expect(page).toContain('>Sign in</a>');
  expect(page).toContain('https://evil.example/</p>');
  // the button of a colour as pale as the card has an edge
  expect(of(link, link, { ...brand, primaryColor: '#ffffff' })).toContain(
    'border:1px solid #737373;background:#ffffff"><a ',
  );
});

test('a logo has the realm’s name as its text, and its height as an attribute for Outlook alone', () => {
  const page = of('Hello', undefined, { ...brand, logoUrl: 'https://cdn.example/logo.png' });
  const [forOutlook = '', forOthers = ''] = page.match(/<img [^>]*>/g) ?? [];
  expect(forOthers).toContain('src="https://cdn.example/logo.png" alt="Acme &lt;b&gt;"');
  expect(forOthers).not.toContain(' height="');
  expect(forOutlook).toContain(' height="40"');
});

test('a mail says its direction, and its address runs from left to right in it', () => {
  const link = 'https://id.example/';
  const page = htmlOfText(`مرحبًا\n\n${link}\n`, {
    brand,
    button: { link, label: 'متابعة' },
    title: 'رمزك',
    language: 'ar',
    direction: 'rtl',
  });
  expect(page).toContain('<html lang="ar" dir="rtl">');
  expect(page).toContain('<bdi dir="ltr">https://id.example/</bdi>');
});
