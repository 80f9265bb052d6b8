// Owns: a plan in words: what a person reads before they say yes.
// Does not own: the plan itself (server/features/operations/transfer*), the program around it (apply.test.ts).
// Implements: docs/cli.md: a coloured diff that reads like a good plan; secrets as ***.
import { expect, test } from 'vitest';
import { doneText, inSync, type Planned, planText, sumText } from '../../cli/plan.ts';
import type { Change, Plan } from '../../server/contract/transfer.ts';
import { planOf } from '../support/plan.ts';

const planned = (plan: Partial<Plan>, more: Partial<Planned> = {}): Planned => ({
  realm: 'acme',
  plan: planOf({ manager: 'realmctl', revision: 3, ...plan }),
  notCompared: [],
  ...more,
});
const text = (plan: Partial<Plan>, more: Partial<Planned> = {}) => planText({ colour: false }, planned(plan, more));
const update = (path: string, from: unknown, to: unknown): Change => ({
  action: 'update',
  kind: 'flow',
  key: 'mfa',
  fields: [{ path, from, to }],
});
const lines = (from: unknown, to: unknown) =>
  text({ changes: [update('x', from, to)] })
    .split('\n')
    .slice(2)
    .map((line) => line.trim());

test.each<[string, unknown, unknown, string[]]>([
  ['a value', 3600, 600, ['x: 3600 → 600']],
  ['one that was not there', null, 'a', ['x: nothing → "a"']],
  ['a secret', '***', '***', ['x: *** → ***']],
  ['a list of words', ['a', 'b'], ['b', 'c'], ['x: - "a", + "c"']],
  ['the order of a list', ['a', 'b'], ['b', 'a'], ['x: ["a","b"] → ["b","a"]']],
  ['one field of many', { a: 1, b: { c: 2 } }, { a: 1, b: { c: 3 } }, ['x.b.c: 2 → 3']],
  [
    'one step of a tree',
    [{ id: 'a' }, { id: 'b', executions: [{ requirement: 'REQUIRED' }] }],
    [{ id: 'a' }, { id: 'b', executions: [{ requirement: 'DISABLED' }] }],
    ['x[1].executions[0].requirement: "REQUIRED" → "DISABLED"'],
  ],
  ['a step more', [{ id: 'a' }], [{ id: 'a' }, { id: 'b' }], ['x[1]: nothing → {"id":"b"}']],
])('%s is shown where it differs', (_, from, to, expected) => {
  expect(lines(from, to)).toEqual(expected);
});

test('what is created is taken, what is deleted released: that is not said twice', () => {
  const shown = text({
    changes: [
      { action: 'create', kind: 'client', key: 'web', fields: [{ path: 'secret', from: null, to: '***' }] },
      { action: 'delete', kind: 'webhook', key: 'old', fields: [] },
    ],
    ownership: [
      { action: 'take', kind: 'client', key: 'web' },
      { action: 'release', kind: 'webhook', key: 'old' },
      { action: 'take', kind: 'role', key: 'reader', from: 'ana' },
      { action: 'take', kind: 'role', key: 'adopted' },
    ],
  });
  expect(shown.split('\n')).toEqual([
    'Realm acme',
    '  + create client web',
    '      secret: ***',
    '  - delete webhook old',
    '  > take over from ana: role reader',
    '  > manage as realmctl from now on: role adopted',
  ]);
});

test('conflicts are named by their owners', () => {
  const shown = text({
    conflicts: [
      { kind: 'client', key: 'a', manager: 'ana' },
      { kind: 'settings', key: 'acme', path: 'requireMfa', manager: 'ana' },
      { kind: 'client', key: 'b', manager: 'k8s:prod/x/Realm/y' },
    ],
  });
  expect(shown).toContain('! in conflict, managed by ana: client a, settings requireMfa');
  expect(shown).toContain('! in conflict, managed by k8s:prod/x/Realm/y: client b');
});

test('a realm whose secret alone could not be compared is in sync, one that differs besides is not', () => {
  const missing = { realm: 'acme', secret: 'x/s', key: 'k', object: 'Realm x/acme', file: 'a.yaml' };
  const notCompared = [{ ...missing, subject: [{ kind: 'client', key: 'web' }] }];
  const ownership: Plan['ownership'] = [{ action: 'fields', kind: 'client', key: 'web' }];
  expect(inSync(planned({ ownership }, { notCompared }))).toBe(true);
  expect(inSync(planned({ ownership: [{ action: 'fields', kind: 'client', key: 'other' }] }, { notCompared }))).toBe(
    false,
  );
  expect(inSync(planned({ ownership, changes: [update('x', 1, 2)] }, { notCompared }))).toBe(false);
});

test('a server’s words cannot steer the terminal', () => {
  const evil = 'a\u001b[2J\u202e\nb';
  const shown = text({
    changes: [update(evil, evil, `${evil}!`)],
    conflicts: [{ kind: evil, key: evil, manager: evil }],
  });
  expect(['\u001b', '\u202e'].filter((one) => shown.includes(one))).toEqual([]);
  expect(shown.split('\n')).toHaveLength(4);
});

test('sums are over all realms, and what was done is said as done', () => {
  const one = planned({ summary: { create: 1, update: 2, delete: 0, text: '' } });
  expect(sumText([one, { ...one, realm: 'shop' }])).toBe('2 to create, 4 to update, 0 to delete in 2 realms.');
  expect(sumText([planned({ inSync: true })])).toBe('In sync: realm acme.');
  expect(doneText(one.plan)).toBe('1 created, 2 updated');
});

test('whom a plan touches is told with how many, what locks out in other words; what touches nobody is not', () => {
  const client = { kind: 'client', key: 'web', locksOut: true, clients: 1 };
  const consequences = [
    { ...client, message: 'goes, with all its tokens', sessions: 2, people: 1 },
    {
      ...client,
      kind: 'settings',
      key: 'acme',
      path: 'requireMfa',
      message: 'x',
      locksOut: false,
      sessions: 1,
      people: 1,
      clients: 0,
    },
    { ...client, key: 'idle', message: 'y', sessions: 0, people: 0, clients: 0 },
  ];
  const shown = text({ changes: [update('enabled', true, false)], consequences });
  expect(shown).toContain('! locks out: client web: goes, with all its tokens (2 live sessions, 1 person, 1 client)');
  expect(shown).toContain('! touches: settings requireMfa: x (1 live session, 1 person)');
  expect(shown).not.toContain('idle');
});

test('no line is longer than a terminal can show, and no name is lost', () => {
  const names = Array.from({ length: 200 }, (_, i) => `client-with-a-long-name-${i}`);
  const shown = text({
    changes: [update('redirectUris', names.slice(0, 100), names.slice(100))],
    warnings: [{ kind: 'client', key: 'web', message: `gets no token for ${names.join(', ')}` }],
    undeclared: names.map((key) => ({ kind: 'client', key })),
    conflicts: names.map((key) => ({ kind: 'client', key, manager: 'ana' })),
  });
  for (const line of shown.split('\n')) expect(line.length).toBeLessThan(260);
  for (const name of names) expect(shown.split(name).length).toBeGreaterThan(3);
});
