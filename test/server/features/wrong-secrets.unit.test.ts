// What is remembered of wrong secrets: bounded, and not to be pushed out by inventing names.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWrongSecrets } from '../../../server/features/protocol/client-authentication/wrong-secrets.ts';

const digest = (value: string) => createHash('sha256').update(value).digest();
function counted() {
  let at = 0;
  const wrong = createWrongSecrets({ now: () => new Date(at) });
  const refused = (clientId: string, secret: string, { realm = 'acme', address = '192.0.2.1' } = {}) =>
    'wait' in wrong.take(realm, clientId, address, digest(secret));
  const after = (ms: number) => {
    at += ms;
  };
  return { refused, after };
}

test('an address that invents names has nothing forgotten of what it tried, and begins anew when the time is over', () => {
  const { refused, after } = counted();
  for (let i = 0; i < 10; i++) expect(refused('billing', `guess ${i}`)).toBe(false);
  expect(refused('billing', 'one more')).toBe(true);
  const told = Array.from({ length: 30_000 }, (_, i) => refused(`name ${i}`, 'a'));
  expect(told.filter((one) => !one)).toHaveLength(999);
  expect(refused('billing', 'one more')).toBe(true);
  after(300_000);
  expect(refused('billing', 'one more')).toBe(false);
  expect(refused('name 29999', 'a')).toBe(false);
});

test('names that one address invents close no other address and no other realm', () => {
  const { refused } = counted();
  for (let i = 0; i < 2_000; i++) refused(`name ${i}`, 'a');
  expect(refused('billing', 'a')).toBe(true);
  expect(refused('billing', 'a', { address: '198.51.100.1' })).toBe(false);
  expect(refused('billing', 'a', { realm: 'other' })).toBe(false);
});

test('after a clock was set back by an hour nothing counts for an hour more', () => {
  const { refused, after } = counted();
  after(3_600_000);
  for (let i = 0; i < 10; i++) refused('billing', `guess ${i}`);
  expect(refused('billing', 'one more')).toBe(true);
  after(-3_600_000);
  expect(refused('billing', 'one more')).toBe(false);
});
