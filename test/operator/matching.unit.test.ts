// Label selectors as Kubernetes has them, patterns of managers, and names that must be the same everywhere.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { managerOf, resourceOf } from '../../operator/resource.ts';
import { matches } from '../../operator/runtime/realms.ts';
import { parseSelector, selects } from '../../operator/runtime/selector.ts';

const labels = { team: 'identity', tenant: '' };
test.each<[Parameters<typeof selects>[0], boolean]>([
  [{}, true],
  [{ matchLabels: { team: 'identity' } }, true],
  [{ matchLabels: { team: 'identity', env: 'dev' } }, false],
  [{ matchLabels: { env: '' } }, false],
  [{ matchLabels: { tenant: '' } }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'identity'] }] }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'In', values: [] }] }, false],
  [{ matchExpressions: [{ key: 'env', operator: 'In', values: ['dev'] }] }, false],
  [{ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['identity'] }] }, false],
  [{ matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['dev'] }] }, true],
  [{ matchExpressions: [{ key: 'tenant', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'env', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'env', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
  [
    {
      matchLabels: { team: 'identity' },
      matchExpressions: [
        { key: 'tenant', operator: 'Exists' },
        { key: 'team', operator: 'DoesNotExist' },
      ],
    },
    false,
  ],
])('%o selects by every requirement', (selector, answer) => {
  expect(selects(selector, labels)).toBe(answer);
});

test.each([
  ['team=identity', true],
  ['team==identity', true],
  ['team = identity, env != dev', true],
  ['team!=identity', false],
  ['env!=dev', true],
  ['tenant', true],
  ['!tenant', false],
  ['!example.com/legacy', true],
  ['', true],
])('the text %o selects as kubectl’s would', (text, answer) => {
  expect(selects(parseSelector(text), labels)).toBe(answer);
});

test.each(['team in (a,b)', 'a=b=c', '=x', '!', 'a b'])('the text %o is refused by name', (text) => {
  expect(() => parseSelector(text)).toThrow(/is not a label requirement/);
});

const acme = 'k8s:prod/identity/Realm/acme';
test.each([
  [acme, acme, true],
  ['k8s:*/identity/*', acme, true],
  ['*', acme, true],
  ['k8s:*/identity', acme, false],
  ['k8s:prod/identity/Realm/acm', acme, false],
  ['identity', acme, false],
  ['k8s:prod.identity/Realm/acme', acme, false],
  ['k8s:(prod|x)/identity/Realm/acme', acme, false],
  ['', acme, false],
])('the pattern %o matches only what it says', (pattern, manager, answer) => {
  expect(matches(pattern, manager)).toBe(answer);
});

test('a pattern without a star matches itself and nothing else', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (pattern, manager) => {
      fc.pre(!pattern.includes('*'));
      expect(matches(pattern, manager)).toBe(pattern === manager);
    }),
  );
});

test('a star stands for any run of characters', () => {
  const plain = fc.string().filter((text) => !text.includes('*'));
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 6 }), plain, (parts, between) => {
      expect(matches(parts.join('*'), parts.join(between))).toBe(true);
      expect(matches(parts.join('*'), parts.join(''))).toBe(true);
    }),
  );
  // the parts may not overlap
  expect(matches('aba*bab', 'abab')).toBe(false);
  expect(matches('*a*'.repeat(300), 'a'.repeat(200))).toBe(false);
});

test('a manager’s name tells cluster, namespace, kind and name apart', () => {
  const found = resourceOf('Flow', { metadata: { name: 'mfa', namespace: 'identity', uid: '1' }, spec: {} });
  expect(managerOf('prod', found)).toBe('k8s:prod/identity/Flow/mfa');
});

test('a status that another version wrote is read as far as it is understood', () => {
  const metadata = { name: 'a', namespace: 'b', uid: '1' };
  const found = resourceOf('Realm', { metadata, spec: {}, status: { conditions: [{ type: 'Strange' }], more: 1 } });
  expect(found.status.conditions).toBeUndefined();
  expect(resourceOf('Realm', { metadata, status: 'text' }).status).toEqual({});
});
