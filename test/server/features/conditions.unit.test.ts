// What each condition of a flow holds for, by table.
import { describe, expect, test } from 'vitest';
import type { ConditionFacts } from '../../../server/features/authentication/authenticators/authenticator.ts';
import { conditions } from '../../../server/features/authentication/authenticators/conditions.ts';

const nobody: ConditionFacts = {
  secondFactor: false,
  riskAction: undefined,
  riskBand: undefined,
  requiredLevel: 0,
  clientId: undefined,
  person: undefined,
  browser: undefined,
};
const ada: ConditionFacts = {
  ...nobody,
  requiredLevel: 2,
  clientId: 'shop',
  browser: { address: '192.0.2.7', known: true },
  person: {
    roles: { realm: ['staff'], clients: { shop: ['buyer'] } },
    groups: ['/sales/north'],
    attributes: { department: ['a', 'b'], empty: [] },
  },
};
const holds = (id: string, config: Record<string, unknown>, facts: ConditionFacts): boolean | undefined =>
  conditions.find((condition) => condition.id === id)?.holds(facts, config);

describe('a condition holds for what it names, not for anything else, and the other way round where it is negated', () => {
  const cases: [string, Record<string, unknown>, boolean][] = [
    ['role', { roles: ['staff'] }, true],
    ['role', { roles: ['other', 'staff'] }, true],
    ['role', { roles: ['Staff'] }, false],
    ['role', { roles: ['buyer'] }, false],
    ['role', { roles: ['buyer'], clientId: 'shop' }, true],
    ['role', { roles: ['staff'], clientId: 'shop' }, false],
    ['role', { roles: ['buyer'], clientId: 'toString' }, false],
    ['group', { groups: ['/sales/north'] }, true],
    ['group', { groups: ['/sales'] }, true],
    ['group', { groups: ['/sal'] }, false],
    ['group', { groups: ['/sales/north/east'] }, false],
    ['attribute', { attribute: 'department', values: ['b'] }, true],
    ['attribute', { attribute: 'department', values: ['c'] }, false],
    ['attribute', { attribute: 'department' }, true],
    ['attribute', { attribute: 'empty' }, false],
    ['attribute', { attribute: 'constructor' }, false],
    ['client', { clients: ['shop'] }, true],
    ['client', { clients: ['other'] }, false],
    ['network', { networks: ['192.0.2.0/24'] }, true],
    ['network', { networks: ['198.51.100.0/24', '192.0.2.7'] }, true],
    ['network', { networks: ['192.0.2.8', '2001:db8::/32'] }, false],
    ['device-known', {}, true],
    ['level-of-assurance', { minimumLevel: 2 }, true],
    ['level-of-assurance', { minimumLevel: 3 }, false],
  ];
  test.each(cases)('%s %j', (id, config, expected) => {
    expect(holds(id, config, ada)).toBe(expected);
    expect(holds(id, { ...config, negate: true }, ada)).toBe(!expected);
  });
});

test('an IPv4 address that comes as IPv6 writes it is in its network', () => {
  const mapped = { ...ada, browser: { address: '::ffff:192.0.2.7', known: false } };
  expect(holds('network', { networks: ['192.0.2.0/24'] }, mapped)).toBe(true);
  expect(holds('network', { networks: ['198.51.100.0/24'] }, mapped)).toBe(false);
  expect(holds('device-known', {}, mapped)).toBe(false);
});

describe('what nobody knows holds neither as it is nor negated', () => {
  const cases: [string, Record<string, unknown>][] = [
    ['role', { roles: ['staff'] }],
    ['group', { groups: ['/sales'] }],
    ['attribute', { attribute: 'department' }],
    ['network', { networks: ['192.0.2.0/24'] }],
    ['device-known', {}],
  ];
  test.each(cases)('%s', (id, config) => {
    expect(holds(id, config, nobody)).toBe(false);
    expect(holds(id, { ...config, negate: true }, nobody)).toBe(false);
  });
});
