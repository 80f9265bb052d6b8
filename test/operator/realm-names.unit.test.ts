// Whose a realm's name may be, by namespace and label, and which of several Realm resources came first.
import { expect, test } from 'vitest';
import { resourceOf } from '../../operator/resource.ts';
import { byAge, mayBeNamed, realmNameOf } from '../../operator/runtime/realm-names.ts';

test.each([
  ['shop', 'shop', true],
  ['shop-eu', 'shop', true],
  ['shopping', 'shop', false],
  ['my-shop', 'shop', false],
  ['', 'shop', false],
])('%j may be the name of a realm of %j: %j', (realm, name, may) => {
  expect(mayBeNamed(realm, name)).toBe(may);
});

test('a namespace without the label, or with an empty one, may give no name', () => {
  const rule = { by: 'label', label: 'realms' } as const;
  expect(realmNameOf(rule, 'shop', { realms: 'acme' })).toBe('acme');
  expect(realmNameOf(rule, 'shop', { realms: '' })).toBeUndefined();
  expect(realmNameOf(rule, 'shop', {})).toBeUndefined();
  expect(realmNameOf({ by: 'label', label: 'constructor' }, 'shop', {})).toBeUndefined();
  expect(realmNameOf({ by: 'namespace' }, 'shop', {})).toBe('shop');
});

test('the oldest comes first; of those of one second the first by namespace, then by name', () => {
  const one = (creationTimestamp: string, namespace: string, name: string) =>
    resourceOf('Realm', { metadata: { name, namespace, uid: name, creationTimestamp }, spec: {} });
  const sorted = [
    one('2026-01-01T00:00:01Z', 'a', 'late'),
    one('2026-01-01T00:00:00Z', 'b', 'a'),
    one('2026-01-01T00:00:00Z', 'a', 'z'),
    one('2026-01-01T00:00:00Z', 'a', 'y'),
  ].sort(byAge);
  expect(sorted.map(({ metadata }) => metadata.name)).toEqual(['y', 'z', 'a', 'late']);
});
