import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRateLimit } from '../../../server/domain/rate-limit.ts';
import { network, plainAddress, plainForwardedFor, widerNetwork } from '../../../server/http/network.ts';

describe('the count of attempts', () => {
  test('refuses what is over the limit until the window ends, and says when to come back', () => {
    let at = 0;
    const attempts = createRateLimit({ limit: 2, windowMs: 60_000, now: () => new Date(at) });
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
        const attempts = createRateLimit({ limit, windowMs: 1000, now: () => new Date(0) });
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

  test('begins anew where the clock was set back by more than a window', () => {
    let at = 3_600_000;
    const attempts = createRateLimit({ limit: 1, windowMs: 60_000, now: () => new Date(at) });
    expect([attempts.take('a'), attempts.take('a')]).toEqual([undefined, 60]);
    at = 0;
    expect(attempts.blocked('a')).toBeUndefined();
    expect([attempts.take('a'), attempts.take('a')]).toEqual([undefined, 60]);
  });

  test('forgets the oldest address rather than grow without end', () => {
    const attempts = createRateLimit({ limit: 1, windowMs: 60_000, now: () => new Date(0) });
    for (let i = 0; i < 20_100; i += 1) attempts.take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(attempts.take('10.0.0.0')).toBeUndefined();
    expect(attempts.take('10.0.78.131')).toBe(60);
  });
});

describe('the turns of an address', () => {
  /** RateLimit that end when they are told to. */
  function stuck() {
    const attempts = createRateLimit({ now: () => new Date(0) });
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const order: string[] = [];
    const begin = (realm: string, address: string) =>
      attempts.inTurn(realm, address, async () => {
        order.push(`${realm} ${address}`);
        await promise;
      });
    const many = (count: number, realm: string, address: string) =>
      Array.from({ length: count }, () => begin(realm, address));
    const begun = async (realm: string, address: string) => {
      await new Promise((resolve) => setImmediate(resolve));
      return order.filter((one) => one === `${realm} ${address}`).length;
    };
    return { begin, many, begun, release };
  }

  test('are a realm’s own, so that one whose sign-ins are stuck holds up no other', async () => {
    const { begin, many, begun, release } = stuck();
    const all = many(50, 'stuck', 'a');
    expect(await begun('stuck', 'a')).toBe(32);
    all.push(begin('peaceful', 'a'), begin('stuck', 'b'));
    expect([await begun('peaceful', 'a'), await begun('stuck', 'b')]).toEqual([1, 1]);
    release();
    await Promise.all(all);
    expect(await begun('stuck', 'a')).toBe(50);
  });

  test('are not more for whoever guesses in many realms', async () => {
    const { many, begun, release } = stuck();
    const realms = Array.from({ length: 100 }, (_, i) => `r${i}`);
    const all = realms.flatMap((realm) => many(3, realm, 'a'));
    const counts = await Promise.all(realms.map((realm) => begun(realm, 'a')));
    expect(counts.reduce((sum, count) => sum + count)).toBe(96);
    release();
    await Promise.all(all);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:443', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['[2001:DB8:1:2::1]:443', '2001:db8:1:2'],
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

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:65535', '192.0.2.1'],
  ['[::1]', '::1'],
  ['[2001:DB8:0:0::1]:443', '2001:db8::1'],
  ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:FFFF:192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:201', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  // no 96 bits of these are the prefix
  ['64:ff9b:1::192.0.2.1', '64:ff9b:1::c000:201'],
  ['::ffff:0:c000:201', '::ffff:0:c000:201'],
  ['', undefined],
  ['unknown', undefined],
  ['_hidden', undefined],
  ['192.0.2', undefined],
  ['192.0.2.256', undefined],
  ['192.0.2.1:', undefined],
  ['192.0.2.1:443:1', undefined],
  ['[192.0.2.1]', '192.0.2.1'],
  ['[2001:db8::1', undefined],
])('%j is the address %j', (text, expected) => {
  expect(plainAddress(text)).toBe(expected);
});

test('any spelling of an IPv6 address is the same address, and is its own plain form', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const plain = plainAddress(address) ?? '';
      expect(plainAddress(plain)).toBe(plain);
      expect(plainAddress(`[${address.toUpperCase()}]:1`)).toBe(plain);
    }),
  );
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:5000,  [2001:db8::1]:6000', '192.0.2.1, 2001:db8::1'],
  ['unknown, 192.0.2.1', '192.0.2.1'],
  ['203.0.113.7, x, 192.0.2.1', '192.0.2.1'],
  ['203.0.113.7, x', ''],
  ['', ''],
])('of X-Forwarded-For: %j counts %j', (header, expected) => {
  expect(plainForwardedFor(header)).toBe(expected);
});

test.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2::5', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  ['64:ff9b::cb00:714d', '203.0.113.0/24'],
  ['203.0.113.77:443', '203.0.113.0/24'],
  ['not an address', undefined],
])('the wider network of %s', (address, network) => {
  expect(widerNetwork(address)).toBe(network);
});

test('of a chain of proxies the last 32 addresses are read, however many a client sends', () => {
  const chain = plainForwardedFor(`${'::1, '.repeat(5_000)}192.0.2.1:443, 10.0.0.1`).split(', ');
  expect(chain).toHaveLength(32);
  expect(chain.slice(-3)).toEqual(['::1', '192.0.2.1', '10.0.0.1']);
});
