// What the consent page says of the details of a rich authorization request, whatever words their type has.
import { expect, test } from 'vitest';
import { detailItem, detailLine } from '../../../server/features/people/consent/details.ts';

const shown = (detail: Record<string, unknown>, words: Record<string, string>, tag = 'en'): string =>
  detailItem({ detail: { type: 'payment', ...detail }, words }, tag).text;
const plain = (page: string): string =>
  page
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const words = { en: 'Pay {amount.value} {amount.currency} to {to}', de: '{amount.value} {amount.currency} an {to}' };
const payment = { amount: { value: '12.50', currency: 'EUR' }, to: 'Example Ltd' };

test('the words of the page’s language, with the values in their places', () => {
  expect(plain(shown(payment, words))).toBe('Pay 12.50 EUR to Example Ltd type payment');
  expect(plain(shown(payment, words, 'de'))).toContain('12.50 EUR an Example Ltd');
  expect(plain(shown(payment, words, 'de-CH'))).toContain('12.50 EUR an Example Ltd');
  expect(plain(shown(payment, words, 'fr'))).toContain('Pay 12.50');
  expect(plain(shown(payment, { de: 'Zahle' }, 'fr'))).toContain('Zahle');
});

test('a field that the words leave out is listed below them, however deep it is', () => {
  const lie = { en: 'Read your balance' };
  const page = plain(shown({ ...payment, recurring: true, parts: [{ to: 'Eve' }, { to: 'Mallory' }] }, lie));
  expect(page).toContain('amount.value 12.50 amount.currency EUR to Example Ltd recurring true');
  expect(page).toContain('parts[0].to Eve parts[1].to Mallory');
});

test('words that stand for a list with objects show no part of it as if it were all', () => {
  expect(plain(shown({ parts: [{ to: 'Eve' }] }, { en: 'Pay {parts}' }))).toBe('Pay – type payment parts[0].to Eve');
});

test('a field that looks like a path of another one does not hide it', () => {
  const page = plain(shown({ ...payment, 'amount.value': '0.01' }, words));
  expect(page).toContain('Pay – EUR');
  expect(page).toContain('amount.value 12.50');
  expect(page).toContain('amount.value 0.01');
});

test('values are plain text, each on its own', () => {
  const page = shown({ to: '<b onclick="x">me</b>', list: ['a, b', 'c'], 'x<y': '' }, { en: '{to} <i>{list}</i>' });
  expect(page).not.toContain('<b ');
  expect(page).toContain('&lt;b onclick=&quot;x&quot;&gt;me&lt;/b&gt;');
  expect(page).toContain('&lt;i&gt;<strong><bdi>a, b</bdi></strong>, <strong><bdi>c</bdi></strong>&lt;/i&gt;');
  expect(page).toContain('<dt><bdi>x&lt;y</bdi></dt><dd><strong><bdi>“”</bdi></strong></dd>');
});

test('a value that looks like a placeholder stays as it is', () => {
  expect(plain(shown({ to: '{amount}', amount: '5' }, { en: 'Pay {to}' }))).toBe('Pay {amount} type payment amount 5');
});

test('on a device, a value cannot look like the end of its quotation, or like another field', () => {
  const line = (detail: Record<string, unknown>) =>
    detailLine({ detail: { type: 'payment', ...detail }, words: { en: 'Pay {amount} to {to}' } }, 'en');
  expect(line({ amount: '9', to: 'O’Hara & Söhne', 'x-y': 1 })).toBe(
    'Pay “9” to “O’Hara & Söhne” (type: “payment”; x-y: “1”)',
  );
  expect(line({ amount: '9000', to: 'Eve” (limit: “1”) „"″\\' })).toBe(
    'Pay “9000” to “Eve\\” (limit: \\“1\\”) \\„\\"\\″\\\\” (type: “payment”)',
  );
  expect(line({ amount: '9', to: 'Eve', 'a: “1”; b': 2 })).toContain('; “a: \\“1\\”; b”: “2”)');
});

test('on a device, a value from right to left does not change places with the one beside it', () => {
  const words = { en: '{from} → {to}' };
  expect(detailLine({ detail: { type: 'payment', from: 'רות', to: 'سلمى' }, words }, 'en')).toBe(
    '\u2068“רות”\u2069 → \u2068“سلمى”\u2069 (type: “payment”)',
  );
});
