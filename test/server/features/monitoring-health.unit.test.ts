import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createHealth, type HealthComponent } from '../../../server/features/operations/monitoring/health.ts';

const component = (name: string, up: boolean, group?: 'liveness' | 'readiness'): HealthComponent => ({
  name,
  ...(group && { group }),
  check: async () => up,
});
const never = new Promise<boolean>(() => {});
const healthOf = (components: HealthComponent[], draining = false) =>
  createHealth(components, { draining: () => draining });
const all = async (components: HealthComponent[], draining = false) => {
  const health = healthOf(components, draining);
  const report = await health.report();
  return [report.status, await health.group('liveness'), await health.group('readiness')];
};

test('everything up is up, with both groups named and both states among the components', async () => {
  const report = await healthOf([component('ssl', true), component('db', true, 'readiness')]).report();
  expect(report).toEqual({
    status: 'UP',
    groups: ['liveness', 'readiness'],
    components: {
      db: { status: 'UP' },
      livenessState: { status: 'UP' },
      readinessState: { status: 'UP' },
      ssl: { status: 'UP' },
    },
  });
  expect(Object.keys(report)).toEqual(['status', 'groups', 'components']);
});

test.each([
  ['an optional component is down', [component('diskSpace', false)], false, ['DOWN', 'UP', 'UP']],
  ['the database is down', [component('db', false, 'readiness')], false, ['DOWN', 'UP', 'DOWN']],
  ['the server drains', [component('db', true, 'readiness')], true, ['DOWN', 'UP', 'DOWN']],
  ['a liveness component is down', [component('loop', false, 'liveness')], false, ['DOWN', 'DOWN', 'UP']],
  ['nothing is wrong', [component('ping', true)], false, ['UP', 'UP', 'UP']],
])('%s: the whole, liveness and readiness', async (_, components, draining, expected) => {
  expect(await all(components, draining)).toEqual(expected);
});

test('a check that throws is down', async () => {
  const throwing: HealthComponent = { name: 'cache', check: () => Promise.reject(new Error('refused')) };
  const sync: HealthComponent = {
    name: 'other',
    check: () => {
      throw new Error('at once');
    },
  };
  expect((await healthOf([throwing, sync]).report()).components).toMatchObject({
    cache: { status: 'DOWN' },
    other: { status: 'DOWN' },
  });
});

test('a check that never ends is down, and holds nobody up for long', async () => {
  const health = healthOf([{ name: 'cache', check: () => never }]);
  const report = await health.report();
  expect([report.status, report.components.cache, report.components.livenessState]).toEqual([
    'DOWN',
    { status: 'DOWN' },
    { status: 'UP' },
  ]);
});

test('many callers at once share one check', async () => {
  let checks = 0;
  const health = healthOf([
    {
      name: 'db',
      group: 'readiness',
      check: async () => {
        checks += 1;
        return true;
      },
    },
  ]);
  await Promise.all(Array.from({ length: 50 }, () => Promise.all([health.report(), health.group('readiness')])));
  expect(checks).toBe(1);
});

test('liveness asks no component of another group', async () => {
  const health = healthOf([{ name: 'db', group: 'readiness', check: () => never }]);
  expect(await health.group('liveness')).toBe('UP');
});

test('a group does without a spared component for a while after it was up, and the report says that it is down', async () => {
  const of = async (spareMs: number, wasUp: boolean) => {
    let up = wasUp;
    const health = healthOf([{ name: 'db', group: 'readiness', spareMs, check: async () => up }]);
    await health.group('readiness');
    up = false;
    // a result is kept for half a second
    await sleep(600);
    return [await health.group('readiness'), (await health.report()).components.db?.status];
  };
  expect(await Promise.all([of(60_000, true), of(300, true), of(0, true), of(60_000, false)])).toEqual([
    ['UP', 'DOWN'],
    ['DOWN', 'DOWN'],
    ['DOWN', 'DOWN'],
    ['DOWN', 'DOWN'],
  ]);
});
