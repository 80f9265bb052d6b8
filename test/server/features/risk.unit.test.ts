import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Attempt,
  bandOf,
  findings,
  judge,
  type PastSignIn,
} from '../../../server/features/authentication/risk/score.ts';

const at = new Date('2026-05-04T10:00:00Z');
const ago = (hours: number) => new Date(at.getTime() - hours * 3_600_000);
const past = (more: Partial<PastSignIn> = {}): PastSignIn => ({
  at: ago(24),
  success: true,
  network: '192.0.2.0/24',
  country: null,
  place: undefined,
  ...more,
});
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  at,
  network: '192.0.2.0/24',
  country: undefined,
  place: undefined,
  othersFailed: 0,
  signals: [],
  deviceKnown: true,
  ...more,
});
const berlin = { latitude: 52.5, longitude: 13.4 };
const sydney = { latitude: -33.9, longitude: 151.2 };
const potsdam = { latitude: 52.4, longitude: 13.06 };
const daily = [1, 2, 3, 4, 5].map((day) => past({ at: ago(24 * day) }));
const failed = (n: number) => Array.from({ length: n }, () => past({ success: false, at: ago(0.5) }));

const cases: [string, Attempt, PastSignIn[], string[]][] = [
  [
    'a first sign-in has nothing to be compared with',
    attempt({ deviceKnown: undefined, network: '198.51.100.0/24' }),
    [],
    [],
  ],
  ['the usual', attempt(), daily, []],
  ['a new device', attempt({ deviceKnown: false }), daily, ['new-device 30']],
  ['a new network', attempt({ network: '198.51.100.0/24' }), daily, ['new-network 20']],
  ['one or two mistakes are nothing', attempt({ deviceKnown: undefined }), [...daily, ...failed(2)], []],
  [
    'many mistakes are something, up to a point',
    attempt({ deviceKnown: undefined }),
    [...daily, ...failed(5)],
    ['failed-attempts 30'],
  ],
  ['very many mistakes', attempt({ deviceKnown: undefined }), [...daily, ...failed(40)], ['failed-attempts 40']],
  ['mistakes of a stranger say nothing of a known device', attempt(), [...daily, ...failed(40)], []],
  [
    'old mistakes are forgotten',
    attempt({ deviceKnown: undefined }),
    [...daily, past({ success: false, at: ago(2) })],
    [],
  ],
  [
    'Berlin an hour ago, Sydney now',
    attempt({ place: sydney }),
    [past({ at: ago(1), place: berlin })],
    ['impossible-speed 50'],
  ],
  ['Berlin two days ago, Sydney now', attempt({ place: sydney }), [past({ at: ago(48), place: berlin })], []],
  ['the next town, a minute later', attempt({ place: potsdam }), [past({ at: ago(0.01), place: berlin })], []],
  ['without places speed says nothing', attempt(), [past({ at: ago(0.1) })], []],
  ['another country', attempt({ country: 'AU' }), [past({ country: 'DE' })], ['new-country 20']],
  ['the same country', attempt({ country: 'DE' }), [past({ country: 'DE', at: ago(0.5) })], []],
  ['a country, where none was known', attempt({ country: 'AU' }), [past()], []],
  ['no country, where one was known', attempt(), [past({ country: 'DE', at: ago(0.1) })], []],
  [
    'from one country to another in half an hour',
    attempt({ country: 'AU' }),
    [past({ country: 'DE', at: ago(0.5) }), past({ country: 'AU' })],
    ['impossible-speed 50'],
  ],
  [
    'over a border, near by',
    attempt({ country: 'PL', place: potsdam }),
    [past({ country: 'DE', at: ago(0.5), place: berlin }), past({ country: 'PL' })],
    [],
  ],
  ['an office that forgets its passwords', attempt({ othersFailed: 10, deviceKnown: undefined }), daily, []],
  ['guesses at many people', attempt({ othersFailed: 11, deviceKnown: undefined }), daily, ['address-velocity 30']],
  ['guesses at others say nothing of a known device', attempt({ othersFailed: 99 }), daily, []],
  [
    'what was found on the way',
    attempt({ signals: ['breached-password', 'automation'] }),
    daily,
    ['breached-password 30', 'automation 20'],
  ],
  ['the middle of the night', attempt({ at: new Date('2026-05-04T02:00:00Z') }), daily, ['unusual-hour 10']],
  ['too few sign-ins to know the hours', attempt({ at: new Date('2026-05-04T02:00:00Z') }), daily.slice(0, 4), []],
];
test.each(cases)('%s', (_, now, history, expected) => {
  expect(findings(now, history).map((f) => `${f.reason} ${f.points}`)).toEqual(expected);
});

test('a realm gives each its own points, and none to what it does not look at', () => {
  const now = attempt({ deviceKnown: false, network: '198.51.100.0/24', signals: ['automation'] });
  const weights = { 'new-device': 5, 'new-network': 0, automation: 0 };
  expect(findings(now, [...daily, ...failed(9)], weights)).toEqual([
    { reason: 'new-device', points: 5 },
    { reason: 'failed-attempts', points: 40 },
  ]);
});

test('thresholds belong to the band above them', () => {
  const policy = { riskMediumThreshold: 40, riskHighThreshold: 70 };
  expect([0, 39, 40, 69, 70, 100].map((score) => bandOf(score, policy))).toEqual([
    'low',
    'low',
    'medium',
    'medium',
    'high',
    'high',
  ]);
});

test('the action is the band’s, and a score stays within 0 and 100', () => {
  const policy = {
    riskMediumThreshold: 40,
    riskHighThreshold: 70,
    riskLowAction: 'allow',
    riskMediumAction: 'step_up',
    riskHighAction: 'deny',
  } as const;
  fc.assert(
    fc.property(fc.array(fc.nat(60), { maxLength: 6 }), (points) => {
      const risk = judge(
        points.map((p) => ({ reason: 'new-device', points: p })),
        policy,
      );
      expect(risk.score).toBeGreaterThanOrEqual(0);
      expect(risk.score).toBeLessThanOrEqual(100);
      expect(risk.action).toBe({ low: 'allow', medium: 'step_up', high: 'deny' }[risk.band]);
    }),
  );
});
