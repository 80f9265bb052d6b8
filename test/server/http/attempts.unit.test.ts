import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAttempts, network } from '../../../server/http/attempts.ts';

describe('the count of attempts', () => {
  test('refuses what is over the limit until the window ends, and says when to come back', () => {
    let at = 0;
    const attempts = createAttempts({ limit: 2, windowMs: 60_000, now: () => new Date(at) });
    expect([attempts.take('a'), attempts.take('a')]).toEqual([undefined, undefined]);
    at = 45_500;
    expect(attempts.take('a')).toBe(15);
    expect(attempts.take('b')).toBeUndefined();
    at = 60_000;
    expect(attempts.take('a')).toBeUndefined();
  });

  test('gives back what succeeded, never more than was taken', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (takes, limit) => {
        const attempts = createAttempts({ limit, windowMs: 1000, now: () => new Date(0) });
        let used = 0;
        for (const take of takes) {
          if (take) {
            const refused = attempts.take('x') !== undefined;
            expect(refused).toBe(used >= limit);
            if (!refused) used += 1;
          } else {
            attempts.giveBack('x');
            used = Math.max(0, used - 1);
          }
        }
      }),
    );
  });

  test('forgets the oldest address rather than grow without end', () => {
    const attempts = createAttempts({ limit: 1, windowMs: 60_000, now: () => new Date(0) });
    for (let i = 0; i < 20_100; i += 1) attempts.take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(attempts.take('10.0.0.0')).toBeUndefined();
    expect(attempts.take('10.0.78.131')).toBe(60);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::1', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::', 'fe80:0:0:0'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (address, expected) => {
  expect(network(address)).toBe(expected);
});
