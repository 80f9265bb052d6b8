// What is told of a resource's admission as events, and when what it waits for becomes a warning.
import { expect, test } from 'vitest';
import { conditionsAfter } from '../../operator/runtime/conditions.ts';
import type { Outcome } from '../../operator/runtime/outcome.ts';
import { eventOf } from '../../operator/runtime/resource-event.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const missing: Outcome = { is: 'Waiting', reason: 'SecretMissing', message: 'waiting for the Secret late' };

/** Passes with these outcomes, so many seconds after the start: what is told at each. */
function told(...passes: [seconds: number, outcome: Outcome][]): (string | undefined)[] {
  let before: ReturnType<typeof conditionsAfter> = [];
  let warned = false;
  return passes.map(([seconds, outcome]) => {
    const now = new Date(START + seconds * 1000);
    const event = eventOf(outcome, { before, now, warned });
    warned = (outcome.is === 'Waiting' || outcome.is === 'Retrying') && (warned || event?.type === 'Warning');
    before = conditionsAfter(outcome, { before, generation: 1, now: now.toISOString() });
    return event && `${event.type} ${event.reason}`;
  });
}

test.each<[reason: 'SecretMissing' | 'ConfigMapMissing', message: string]>([
  ['SecretMissing', 'waiting for the Secret late'],
  ['ConfigMapMissing', 'waiting for the ConfigMap late'],
])('what comes by itself is no warning for a minute, then one, and nothing after: %s', (reason, message) => {
  const outcome: Outcome = { is: 'Waiting', reason, message };
  const passes = [0, 1, 30, 59, 61, 120, 600].map((seconds): [number, Outcome] => [seconds, outcome]);
  const nothing = undefined;
  expect(told(...passes)).toEqual([
    `Normal ${reason}`,
    nothing,
    nothing,
    nothing,
    `Warning ${reason}`,
    nothing,
    nothing,
  ]);
});

test('each time anew', () => {
  const ready: Outcome = { is: 'Ready', message: 'in sync' };
  expect(told([0, missing], [90, missing], [100, ready], [200, missing], [290, missing])).toEqual([
    'Normal SecretMissing',
    'Warning SecretMissing',
    undefined,
    'Normal SecretMissing',
    'Warning SecretMissing',
  ]);
});

test('what is waited for next is told as it comes, and waiting counts from its beginning', () => {
  const realm: Outcome = { is: 'Waiting', reason: 'RealmMissing', message: 'waiting for the realm' };
  expect(told([0, missing], [10, realm], [90, missing])).toEqual([
    'Normal SecretMissing',
    'Normal RealmMissing',
    'Warning SecretMissing',
  ]);
});

test.each<[string, Outcome]>([
  ['Conflict', { is: 'Stalled', reason: 'Conflict', message: 'managed by another' }],
  ['SignInRefused', { is: 'Waiting', reason: 'SignInRefused', message: 'refused' }],
  ['Error', { is: 'Retrying', reason: 'Error', message: 'x is not a function' }],
])('what needs a person is a warning at once, and once: %s', (reason, outcome) => {
  expect(told([0, outcome], [90, outcome])).toEqual([`Warning ${reason}`, undefined]);
});
