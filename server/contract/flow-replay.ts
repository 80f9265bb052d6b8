// The sign-ins of the last days, tried against an edited flow: who would be asked for more, and who would be locked out.
// Nothing is written. Decisions "Sign-in report".
import { z } from 'zod';
import { ExecutionInput, MAX_EXECUTIONS } from './flows.ts';
import { EpochMs, Id, name, RealmName } from './names.ts';
import { route } from './route.ts';

/** The successful sign-ins of one replay, and as many failed ones: a thousand together. */
export const MOST_REPLAYED = 500;
export const LONGEST_REPLAY_DAYS = 31;
export const USUAL_REPLAY_DAYS = 7;

export const replayOutcomes = [
  'locked-out',
  'let-in',
  'asks-more',
  'asks-less',
  'blocked-already',
  'unchanged',
] as const;
export const ReplayOutcome = z
  .enum(replayOutcomes)
  .describe(
    '`locked-out`: the present flow lets the user in, this one does not. `let-in`: the reverse. `asks-more`, `asks-less`: the user gets in by more or other steps, or by fewer. `blocked-already`: neither flow lets the user in. `unchanged`: the same steps',
  );
export type ReplayOutcome = z.infer<typeof ReplayOutcome>;

const Counted = {
  signIns: z.int(),
  users: z.int().describe('With at least one such sign-in'),
};

export const ReplayedEvents = z
  .object({
    read: z.int().describe('The events that were looked at, the newest of the period'),
    sampled: z.boolean().describe('Whether the period has more of them'),
    oldestAt: EpochMs.nullable().describe('When the oldest of them happened; null: there is none'),
  })
  .meta({ id: 'ReplayedEvents' });
export type ReplayedEvents = z.infer<typeof ReplayedEvents>;

export const AffectedUser = z
  .object({
    userId: Id,
    username: z.string(),
    outcome: ReplayOutcome.describe('The gravest of the user’s sign-ins; `locked-out` is the gravest'),
    message: z.string().describe('Why, in words'),
    signIns: z.int().describe('The user’s sign-ins with this outcome'),
    at: EpochMs.describe('The newest of them'),
    clientId: z.string().nullable().describe('Its application'),
    ipAddress: z.string().nullable(),
    more: z
      .array(z.string())
      .describe('The steps that the present flow does not ask for: `set up One-time code (TOTP)`, `accept the terms`'),
    less: z.array(z.string()).describe('The steps that are no longer asked for'),
  })
  .meta({ id: 'AffectedUser' });
export type AffectedUser = z.infer<typeof AffectedUser>;

export const FlowReplay = z
  .object({
    flow: z.string().describe('The alias of the flow'),
    from: EpochMs,
    to: EpochMs,
    signIns: z
      .enum(['of-flow', 'all'])
      .describe('`of-flow`: those that this flow decides as things are bound now. `all`: every sign-in of the realm'),
    successes: ReplayedEvents,
    failures: ReplayedEvents,
    replayed: z.object(Counted).describe('The sign-ins that were tried, and their users'),
    outcomes: z.array(z.object({ outcome: ReplayOutcome, ...Counted })).describe('All outcomes, the gravest first'),
    reasons: z
      .array(z.object({ outcome: ReplayOutcome, message: z.string(), ...Counted }))
      .describe('Why, the most frequent first; at most 50'),
    notReplayed: z
      .object({
        otherFlow: z.int().describe('Another flow decides them'),
        otherFailures: z.int().describe('No flow refused them: a wrong password or code, a lock, a late answer'),
        unknownUser: z.int().describe('The user was not known, or does not exist any more'),
        noTime: z.int().describe('The time of the request was over'),
      })
      .describe('Events that were looked at and not tried'),
    affected: z
      .array(AffectedUser)
      .nullable()
      .describe(
        'The users of `locked-out`, `let-in`, `asks-more` and `asks-less`, the gravest first; null: they need `users:read`',
      ),
    assumptions: z.array(z.string()).describe('What the events do not hold, and what was taken instead'),
  })
  .meta({ id: 'FlowReplay' });
export type FlowReplay = z.infer<typeof FlowReplay>;

export const ReplayInput = z.strictObject({
  executions: z
    .array(ExecutionInput)
    .max(MAX_EXECUTIONS)
    .optional()
    .describe('The edited tree, as PUT takes it; left out: the saved tree of the flow'),
  from: EpochMs.optional().describe(
    `Left out: ${USUAL_REPLAY_DAYS} days before \`to\`; at most ${LONGEST_REPLAY_DAYS} days before it`,
  ),
  to: EpochMs.optional().describe('Exclusive; left out: now'),
  limit: z
    .int()
    .min(1)
    .max(MOST_REPLAYED)
    .default(MOST_REPLAYED)
    .describe('At most so many successful sign-ins, and as many failed ones, the newest of the period'),
  signIns: z
    .enum(['of-flow', 'all'])
    .optional()
    .describe('Left out: `of-flow` where the realm or a client signs in with this flow, else `all`'),
});
export type ReplayInput = z.output<typeof ReplayInput>;

export const replayFlow = route({
  method: 'POST',
  path: '/admin/realms/:realm/flows/:alias/replay',
  operationId: 'replayFlow',
  tag: 'flow-replay',
  summary: 'Try the last days’ sign-ins against an edited flow',
  description: [
    'Takes the users and situations of the newest LOGIN_SUCCESS and LOGIN_FAILURE events of a period, asks the flow engine for the steps by the present flow and by this tree, and compares them.',
    'Users count with their credentials, groups and roles as they are now; `assumptions` says what the events do not hold. Nothing is written, and nobody is asked for anything.',
    'Needs `events:read` besides. `affected` needs `users:read` over the whole realm. A condition on an attribute that the user profile hides from administrators must be in the saved flow already; without `users:read` so must every condition on roles, groups and attributes.',
  ].join(' '),
  permission: 'flows:read',
  params: z.strictObject({ realm: RealmName, alias: name(255) }),
  body: ReplayInput,
  example: {
    executions: [
      { authenticatorId: 'username-password', requirement: 'REQUIRED' },
      { authenticatorId: 'otp', requirement: 'REQUIRED' },
    ],
    limit: 100,
  },
  response: FlowReplay,
  problems: ['not-found', 'too-many-requests'],
  recordsNothing: true,
});
