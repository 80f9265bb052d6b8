// Owns: how many refusals of one address the log has, one by one and as a number.
// Does not own: what is refused, and how (each feature).
// Implements: specification 6.1.
import { expect, test } from 'vitest';
import type { DomainEvent } from '../../../server/contract/events.ts';
import { createRefusals } from '../../../server/events/refusals.ts';

function refusals() {
  let at = 3_600_000;
  const recorded: DomainEvent[] = [];
  const all = createRefusals({ record: (event) => void recorded.push(event), now: () => new Date(at) });
  const by = { actor: null, ipAddress: '192.0.2.1' };
  const refuse = (times: number) => {
    for (let i = 0; i < times; i++)
      all.record({ type: 'TOKEN_REFUSED', realm: 'acme', by, outcome: 'failure', data: { reason: 'wrong' } });
  };
  const pass = (ms: number) => {
    at += ms;
  };
  return { all, recorded, refuse, pass };
}

test('the first twenty of a minute are events, the others a number', () => {
  const { all, recorded, refuse, pass } = refusals();
  refuse(25);
  expect(recorded).toHaveLength(20);
  pass(60_000);
  refuse(1);
  expect(recorded.slice(20).map(({ data }) => data)).toEqual([
    { unrecorded: 5, reason: '5 more within a minute from this address' },
    { reason: 'wrong' },
  ]);
  all.stop();
  expect(recorded).toHaveLength(22);
});

test('after a clock was set back by an hour, refusals are events again at once', () => {
  const { all, recorded, refuse, pass } = refusals();
  refuse(25);
  pass(-3_600_000);
  refuse(1);
  expect(recorded.slice(20).map(({ data }) => data?.reason)).toEqual([
    '5 more within a minute from this address',
    'wrong',
  ]);
  all.stop();
});
