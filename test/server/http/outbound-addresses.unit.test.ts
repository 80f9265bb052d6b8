import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressPolicy, isGlobal } from '../../../server/http/outbound-addresses.ts';

describe('only global unicast addresses are reachable', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::',
    '64:ff9b:1::8.8.8.8',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('%s is refused', (address) => expect(isGlobal(address)).toBe(false));

  test.each(['1.1.1.1', '8.8.8.8', '100.128.0.1', '172.32.0.1', '192.0.1.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is reachable',
    (address) => expect(isGlobal(address)).toBe(true),
  );

  test('an IPv4 address is judged alike in every IPv6 form that leads to it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        const inHex = v4.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
        const tail = `${inHex[0]}${inHex[1]}:${inHex[2]}${inHex[3]}`;
        for (const form of [`::ffff:${v4}`, `::ffff:${tail}`, `0:0:0:0:0:FFFF:${tail}`, `64:ff9b::${tail}`])
          expect(isGlobal(form), form).toBe(isGlobal(v4));
      }),
    );
  });
});

describe('what SVC_OUTBOUND_ALLOW permits', () => {
  const asked = (allow: string[], host: string, address: string, port = 443) =>
    addressPolicy(allow)({ host, port, address });

  test.each([
    [['10.0.0.0/8'], 'x.example', '10.9.9.9', 443, true],
    [['10.0.0.0/8'], 'x.example', '11.0.0.1', 443, true],
    [['10.0.0.0/16'], 'x.example', '10.9.9.9', 443, false],
    [['fd00::/8'], 'x.example', 'fd12::1', 443, true],
    [['fd00::/8'], 'x.example', 'fe80::1', 443, false],
    [['127.0.0.1'], '127.0.0.1', '127.0.0.1', 8443, true],
    [['127.0.0.1:8443'], '127.0.0.1', '127.0.0.1', 8443, true],
    [['127.0.0.1:8443'], '127.0.0.1', '127.0.0.1', 443, false],
    [['[::1]:8443'], '[::1]', '::1', 8443, true],
    [['hooks.internal'], 'hooks.internal', '10.0.0.1', 443, true],
    [['Hooks.Internal'], 'hooks.internal', '10.0.0.1', 443, true],
    [['hooks.internal'], 'other.internal', '10.0.0.1', 443, false],
    [['hooks.internal'], 'a.hooks.internal', '10.0.0.1', 443, false],
  ] as const)('%j: %s at %s:%i is %s', (allow, host, address, port, permitted) =>
    expect(asked([...allow], host, address, port)).toBe(permitted),
  );

  test.each(['10.0.0.0/33', 'fd00::/129', 'a b', 'host/path', 'https://host', 'u@host', ''])(
    '%j is refused by name',
    (entry) => expect(() => addressPolicy([entry])).toThrow(`SVC_OUTBOUND_ALLOW: ${entry} is neither`),
  );
});
