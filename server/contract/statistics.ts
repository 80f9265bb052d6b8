// A realm's statistics, for its dashboard: what happened by the hour or the day, and how many things it has. Decisions "Statistics".
import { z } from 'zod';
import { EpochMs, EpochMsParameter, InRealm } from './names.ts';
import type { Permission } from './permissions.ts';
import { route } from './route.ts';

const tag = 'statistics';
const at = '/admin/realms/:realm/statistics' as const;

export const steps = ['hour', 'day'] as const;
export type Step = (typeof steps)[number];
/** The most steps of one answer; the server keeps counts this long. */
export const MOST_STEPS = { hour: 31 * 24, day: 400 } as const satisfies Record<Step, number>;

const Span = z.strictObject({
  step: z.enum(steps).default('hour').describe('One value for each hour, or for each day in UTC'),
  from: EpochMsParameter.optional().describe(
    'Epoch milliseconds, rounded down to a step; left out: 24 hours or 30 days before `to`',
  ),
  to: EpochMsParameter.optional().describe('Epoch milliseconds, exclusive, rounded up to a step; left out: now'),
});

const previous = z
  .int()
  .nullable()
  .describe(
    'The total of the period of the same length before; null: the server did not count, or keeps no counts of it',
  );
const Measure = z.object({
  total: z.int(),
  previous,
  values: z.array(z.int()).describe('One for each of `times`'),
});
export const Series = Measure.meta({ id: 'StatisticSeries' });
export type Series = z.infer<typeof Series>;
export const KeyedSeries = Measure.extend({
  by: z
    .array(Measure.extend({ key: z.string().nullable().describe('null: all others') }))
    .describe('The most frequent keys, at most 20, and then all others'),
}).meta({ id: 'StatisticSeriesByKey' });
export type KeyedSeries = z.infer<typeof KeyedSeries>;

const inSpan = {
  step: z.enum(steps),
  from: EpochMs,
  to: EpochMs,
};
export const Statistics = z
  .object({
    ...inSpan,
    countedSince: EpochMs.nullable().describe('The first day with a count; null: nothing was counted yet'),
    times: z.array(EpochMs).describe('The beginning of each step'),
    signIns: Series.describe('Sign-ins at the realm’s pages (LOGIN_SUCCESS)'),
    failures: KeyedSeries.describe('Failed sign-ins (LOGIN_FAILURE), by reason'),
    risks: KeyedSeries.describe('Sign-ins, failed ones too, whose risk was scored, by band: low, medium, high'),
    tokens: Series.describe('Answers with tokens: grants, refreshes and exchanges'),
    deliveries: KeyedSeries.describe(
      'Tries of webhook deliveries, by outcome: succeeded, retrying (failed, and is tried again), dead (given up)',
    ),
  })
  .meta({ id: 'Statistics' });
export type Statistics = z.infer<typeof Statistics>;

export const getStatistics = route({
  method: 'GET',
  path: at,
  operationId: 'getStatistics',
  tag,
  summary: 'Sign-ins, failures, risks, tokens and webhook deliveries, by the hour or the day',
  description:
    'At most 31 days of hours or 400 days of days. Each server counts in memory and writes its counts every few seconds and when it stops; a server that ends abruptly loses those of the last seconds. No count names a user.',
  permission: 'events:read',
  params: InRealm,
  query: Span,
  response: Statistics,
  problems: ['not-found'],
});

export const ClientStatistics = z
  .object({
    ...inSpan,
    total: z.int(),
    previous,
    clients: z.array(z.object({ clientId: z.string(), total: z.int(), previous })).describe('The most tokens first'),
    others: z.int().describe('Tokens of all other clients'),
  })
  .meta({ id: 'ClientStatistics' });
export type ClientStatistics = z.infer<typeof ClientStatistics>;

export const getClientStatistics = route({
  method: 'GET',
  path: `${at}/clients`,
  operationId: 'getClientStatistics',
  tag,
  summary: 'The clients that got the most tokens',
  description:
    'A deleted client stays in the counts. Each server counts the first 200 clients of a day in a realm by name, and further ones as others.',
  permission: 'events:read',
  params: InRealm,
  query: Span.extend({
    limit: z.coerce.number().int().min(1).max(100).default(10).describe('At most so many clients'),
  }),
  response: ClientStatistics,
  problems: ['not-found'],
});

/** The things that a realm has many of, with the permission to see each. */
export const countedThings = {
  users: 'users:read',
  groups: 'groups:read',
  roles: 'roles:read',
  clients: 'clients:read',
  organizations: 'organizations:read',
  identityProviders: 'identity-providers:read',
  webhooks: 'webhooks:read',
} as const satisfies Record<string, Permission>;
export type CountedThing = keyof typeof countedThings;
const things = Object.keys(countedThings) as [CountedThing, ...CountedThing[]];

export const ThingCount = z
  .object({
    thing: z.enum(things),
    count: z.int(),
    estimated: z.boolean().describe('There are more than 2,000: the count is the database’s estimate'),
  })
  .meta({ id: 'ThingCount' });
export type ThingCount = z.infer<typeof ThingCount>;

export const getCounts = route({
  method: 'GET',
  path: `${at}/counts`,
  operationId: 'getCounts',
  tag,
  summary: 'How many users, groups, roles, clients, organizations, identity providers and webhooks a realm has',
  description:
    'Each needs its own read permission; those that the caller may not see are left out, and without any of them the answer is 403. Up to 2,000 are counted; beyond that the count is the estimate of PostgreSQL’s planner, which a large import changes some minutes later.',
  permission: null,
  params: InRealm,
  response: z.array(ThingCount),
  problems: ['forbidden', 'not-found'],
});
