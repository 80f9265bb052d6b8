// Owns: what the operator's figures are to be, each beside what this machine can do, and whether they are.
// Does not own: taking them (cases.ts), the rest of what is printed (main.ts).
// Implements: docs/performance.md, "The operator".
import { type Goal, met, number } from '../bench.ts';
import { goalText } from '../report.ts';
import type { Figures } from './figures.ts';

export interface Judged {
  name: string;
  title: string;
  value: number;
  goal: Goal;
  met: boolean;
}

interface Aim {
  name: string;
  title: string;
  value(figures: Figures): number;
  goal: Goal;
}

const totalOf = ({ realms, attached }: Figures): number => realms * (1 + attached);

/**
 * A signature (RSA with 2,048 bits) is what a machine is measured by: 85 of them are 25 ms where one takes 0.29 ms, which is
 * 1,200 resources in 30 s.
 */
export const aims: readonly Aim[] = [
  {
    name: 'cold',
    title: 'time of a resource in a cold start / that of a signature',
    value: (figures) => figures.cold.seconds / totalOf(figures) / figures.signature.seconds,
    goal: { atMost: 85 },
  },
  {
    name: 'cold-processor',
    title: 'processor time of it, operator, server and PostgreSQL / that of a signature',
    value(figures) {
      const { operatorCpuSeconds, serverCpuSeconds, databaseCpuSeconds } = figures.cold;
      const seconds = operatorCpuSeconds + serverCpuSeconds + databaseCpuSeconds;
      return seconds / totalOf(figures) / figures.signature.cpuSeconds;
    },
    goal: { atMost: 100 },
  },
  { name: 'cold-passes', title: 'passes of a resource', value: ({ cold }) => cold.passesEach, goal: { atMost: 1.2 } },
  {
    name: 'cold-server',
    title: 'requests to the server for it',
    value: ({ cold }) => cold.serverRequestsEach,
    goal: { atMost: 3 },
  },
  {
    name: 'cold-kubernetes',
    title: 'requests to the Kubernetes API for it',
    value: ({ cold }) => cold.kubernetesRequestsEach,
    goal: { atMost: 4 },
  },
  {
    name: 'live',
    title: 'apply to live, p50 / kubectl’s list of the Realms',
    value: ({ live, list }) => live.p50 / 1000 / list,
    goal: { atMost: 1.5 },
  },
  {
    name: 'live-slowest',
    title: 'apply to live, p99 / the same',
    value: ({ live, list }) => live.p99 / 1000 / list,
    goal: { atMost: 4 },
  },
  {
    name: 'rest-processor',
    title: 'at rest, the operator’s share of a core in percent',
    value: ({ rest }) => rest.operatorCpu,
    goal: { atMost: 1 },
  },
  {
    name: 'rest-server',
    title: 'at rest, requests to the server a minute',
    value: ({ rest }) => rest.serverPerMinute,
    goal: { atMost: 35 },
  },
  {
    name: 'rest-kubernetes',
    title: 'at rest, requests to the Kubernetes API a minute',
    value: ({ rest }) => rest.kubernetesPerMinute,
    goal: { atMost: 40 },
  },
  { name: 'rest-written', title: 'at rest, resources written', value: ({ rest }) => rest.written, goal: { atMost: 0 } },
  {
    name: 'memory',
    title: 'MiB of the operator after the cold start / the chart’s limit',
    value: ({ cold, limitMiB }) => cold.operatorMiB / limitMiB,
    goal: { atMost: 0.75 },
  },
];

/** What can't be measured on this machine isn't met. */
export const judge = (figures: Figures): Judged[] =>
  aims.map(({ name, title, value, goal }) => {
    const found = value(figures);
    return { name, title, value: found, goal, met: met(found, goal) };
  });

export const judgedLine = ({ title, value, goal, met: fine }: Judged): string =>
  `${number(value).padStart(7)}  ${fine ? 'met    ' : 'NOT met'}  (${goalText(goal)})  ${title}`;
