// The operator's benchmark tells each figure with its goal, and whether it is met.
import { expect, test } from 'vitest';
import type { Figures } from './figures.ts';
import { aims, judge, judgedLine } from './goals.ts';

/** Of a machine where all is well: 1,200 resources in 24 s. */
const good: Figures = {
  machine: 'a machine',
  realms: 200,
  attached: 5,
  concurrency: 4,
  declared: 2,
  list: 0.1,
  signature: { seconds: 0.0003, cpuSeconds: 0.0003 },
  limitMiB: 512,
  cold: {
    seconds: 24,
    operatorCpuSeconds: 8,
    serverCpuSeconds: 16,
    databaseCpuSeconds: 7,
    passesEach: 1,
    retriesEach: 0,
    serverRequestsEach: 2.5,
    kubernetesRequestsEach: 3.4,
    operatorMiB: 256,
    serverMiB: 292,
  },
  live: { p50: 70, p99: 120 },
  rest: {
    serverPerMinute: 30,
    kubernetesPerMinute: 36,
    passesPerMinute: 0,
    operatorCpu: 0.7,
    serverCpu: 1,
    operatorMiB: 250,
    serverMiB: 290,
    written: 0,
  },
};
const missed = (figures: Figures) =>
  judge(figures)
    .filter((one) => !one.met)
    .map(({ name }) => name);

test('a site where all is well misses no goal', () => {
  expect(missed(good)).toEqual([]);
  expect(judge(good)).toHaveLength(aims.length);
});

const { cold, live, rest } = good;
const worse: [string, Partial<Figures>][] = [
  ['cold', { cold: { ...cold, seconds: 31 } }],
  ['cold-processor', { cold: { ...cold, serverCpuSeconds: 22 } }],
  ['cold-passes', { cold: { ...cold, passesEach: 1.3 } }],
  ['cold-server', { cold: { ...cold, serverRequestsEach: 4.4 } }],
  ['cold-kubernetes', { cold: { ...cold, kubernetesRequestsEach: 4.4 } }],
  ['live', { live: { ...live, p50: 151 } }],
  ['live-slowest', { live: { ...live, p99: 401 } }],
  ['rest-processor', { rest: { ...rest, operatorCpu: 1.1 } }],
  ['rest-server', { rest: { ...rest, serverPerMinute: 60 } }],
  ['rest-kubernetes', { rest: { ...rest, kubernetesPerMinute: 60 } }],
  ['rest-written', { rest: { ...rest, written: 1 } }],
  ['memory', { cold: { ...cold, operatorMiB: 400 } }],
];

test.each(worse)('the goal %s is missed alone by the figure that it is about', (name, figures) => {
  expect(missed({ ...good, ...figures })).toEqual([name]);
});

test('each goal has a figure that misses it', () => {
  expect(aims.map(({ name }) => name)).toEqual(worse.map(([name]) => name));
});

test('a machine that is half as fast may take twice as long', () => {
  const slow = { seconds: 0.0006, cpuSeconds: 0.0006 };
  const twice = { ...cold, seconds: 48, operatorCpuSeconds: 16, serverCpuSeconds: 32, databaseCpuSeconds: 14 };
  expect(missed({ ...good, cold: twice })).toEqual(['cold', 'cold-processor']);
  expect(missed({ ...good, cold: twice, signature: slow })).toEqual([]);
});

test('what the machine could not tell is not met', () => {
  expect(missed({ ...good, rest: { ...rest, operatorCpu: Number.NaN } })).toEqual(['rest-processor']);
});

test('a line says the figure, the goal and whether it is met', () => {
  const [first] = judge(good);
  const [late] = judge({ ...good, cold: { ...cold, seconds: 40 } });
  if (!first || !late) throw new Error('there is no goal');
  expect(judgedLine(first)).toMatch(/^\s+66\.7 {2}met {6}\(at most 85\) {2}time of a resource/);
  expect(judgedLine(late)).toContain('NOT met');
});
