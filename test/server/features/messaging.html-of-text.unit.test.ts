import { expect, test } from 'vitest';
import { htmlOfText } from '../../../server/features/configuration/messaging/html-of-text.ts';

const brand = { displayName: 'Acme <b>', logoUrl: null, primaryColor: '#ffee00' };
const of = (text: string, link?: string) => htmlOfText(text, { brand, link, button: 'Continue', language: 'en' });

test('a text becomes paragraphs with the realm’s name and colour, escaped', () => {
  const page = of('Hello <i>Ada</i>,\n\nyour code is\n\n    123456\n\nKeep it.\nBye.\n');
  expect(page).toContain('Acme &lt;b&gt;');
  expect(page).toContain('Hello &lt;i&gt;Ada&lt;/i&gt;,</p>');
  expect(page).toMatch(/font-weight:600">123456<\/p>/);
  expect(page).toContain('Keep it.<br>Bye.</p>');
  expect(page).toContain('solid #ffee00');
  expect(page).not.toContain('<a ');
});

test('only the message’s own link becomes a button, whose text is readable on the realm’s colour', () => {
  const link = 'https://id.example/realms/acme/login/link?token=a&b=c';
  const page = of(`Open this:\n\n${link}\n\nhttps://evil.example/\n`, link);
  expect(page.match(/<a /g)).toHaveLength(1);
  expect(page).toContain('href="https://id.example/realms/acme/login/link?token=a&amp;b=c"');
  expect(page).toContain('color:#000000');
  expect(page).toContain('>Continue</a>');
  expect(page).toContain('https://evil.example/</p>');
});

test('a logo has the realm’s name as its text', () => {
  const look = { ...brand, logoUrl: 'https://cdn.example/logo.png' };
  const page = htmlOfText('Hello', { brand: look, link: undefined, button: 'Continue', language: 'en' });
  expect(page).toContain('<img src="https://cdn.example/logo.png" alt="Acme &lt;b&gt;"');
});
