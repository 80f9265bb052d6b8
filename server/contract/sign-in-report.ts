// Why a user can or can't sign in, and which steps a sign-in would take. Nothing is written. Specification 2.1, 2.3;
// decisions "Sign-in report".
import { z } from 'zod';
import { ExecutionInput, MAX_EXECUTIONS } from './flows.ts';
import { EpochMs, Id, name, RealmName, text } from './names.ts';
import { RequiredAction } from './required-actions.ts';
import { RiskReason } from './risk.ts';
import { route } from './route.ts';
import { Lockout } from './user-access.ts';

const tag = 'sign-in-report';
const at = '/admin/realms/:realm/users/:userId' as const;
const ByUser = z.strictObject({ realm: RealmName, userId: Id });
const ClientId = name(2048).describe('The clientId of the application; needs `clients:read` for that client');

const Band = z.enum(['low', 'medium', 'high']);
export const RiskShown = z
  .object({
    score: z.number(),
    band: Band,
    action: z.enum(['allow', 'step_up', 'deny']),
    findings: z.array(z.object({ reason: RiskReason, points: z.number(), message: z.string() })),
  })
  .meta({ id: 'RiskShown' });
export type RiskShown = z.infer<typeof RiskShown>;

const Way = z.object({
  authenticatorId: z.string(),
  displayName: z.string(),
  able: z.boolean().describe('Whether the user has what the step asks for'),
});
export const SignInStep = z
  .object({
    kind: z
      .enum(['proof', 'set-up', 'action'])
      .describe('`proof`: the user proves something. `set-up`: they set it up first. `action`: a required action'),
    authenticatorId: z.string().nullable(),
    action: RequiredAction.nullable(),
    displayName: z.string(),
    able: z.boolean().describe('Whether the user can do this step, or one of `others`'),
    message: z.string(),
    others: z.array(Way).describe('What the user may choose instead'),
  })
  .meta({ id: 'SignInStep' });
export type SignInStep = z.infer<typeof SignInStep>;

export const SignInPath = z
  .object({
    flow: z.string().describe('The alias of the flow; of an unsaved tree the `flow` of the request, or empty'),
    boundBy: z.enum(['realm', 'client', 'request']).describe('What chose the flow'),
    steps: z.array(SignInStep).describe('In order; each step is taken as passed before the next'),
    ends: z.enum(['signed-in', 'refused', 'stuck']).describe('`stuck`: the user can’t do the last of the steps'),
    level: z.int().nullable().describe('The level of assurance at the end; null: it does not end signed in'),
    message: z.string(),
  })
  .meta({ id: 'SignInPath' });
export type SignInPath = z.infer<typeof SignInPath>;

export const SignInAttempt = z
  .object({
    id: Id.describe('The event’s'),
    at: EpochMs,
    type: z.string().describe('The event’s type'),
    outcome: z.enum(['success', 'failure', 'denied']),
    reason: z.string().nullable().describe('As the audit log has it'),
    message: z.string().describe('The same in words'),
    ipAddress: z.string().nullable(),
    clientId: z.string().nullable(),
    risk: RiskShown.nullable(),
  })
  .meta({ id: 'SignInAttempt' });
export type SignInAttempt = z.infer<typeof SignInAttempt>;

export const SignInReport = z
  .object({
    userId: Id,
    username: z.string(),
    canSignIn: z.boolean().describe('Whether the user could sign in now, without a suspicion of risk'),
    obstacles: z
      .array(
        z.object({
          code: z.enum([
            'disabled',
            'locked',
            'no-way',
            'password-reported',
            'flow-refuses',
            'step-impossible',
            'risk-denied',
          ]),
          message: z.string(),
        }),
      )
      .describe('What stands in the way, the first obstacle first; empty: nothing does'),
    enabled: z.boolean(),
    lock: Lockout.extend({ message: z.string() }),
    requiredActions: z.array(RequiredAction).describe('An expired password and new terms included'),
    path: SignInPath,
    attempts: z
      .array(SignInAttempt)
      .nullable()
      .describe('The last ones, newest first; null: they need `events:read`, or `sessions:read` for the user'),
  })
  .meta({ id: 'SignInReport' });
export type SignInReport = z.infer<typeof SignInReport>;

export const getSignInReport = route({
  method: 'GET',
  path: `${at}/sign-in-report`,
  tag,
  summary: 'Why a user can or can’t sign in',
  description:
    'Whether the user is enabled or locked, what they must do, which steps the flow asks for and whether they have what each asks for, and their last attempts with reasons in words. The path is that of a browser on which nothing is suspicious; `sign-in-simulation` takes another situation. It reads at most the user’s last 2,000 events.',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  query: z.strictObject({
    clientId: ClientId.optional(),
    attempts: z.coerce.number().int().min(0).max(50).default(10).describe('At most this many of the last attempts'),
  }),
  response: SignInReport,
  problems: ['not-found'],
});

export const SignInSituation = z.strictObject({
  clientId: ClientId.optional(),
  flow: name(255).optional().describe('The alias of a flow instead of the bound one; needs `flows:read`'),
  level: z.coerce
    .number()
    .int()
    .min(0)
    .max(9)
    .default(0)
    .describe('The level of assurance that the application asks for; 0: any'),
  ipAddress: z
    .union([z.ipv4(), z.ipv6()])
    .optional()
    .describe('The browser’s; left out: an address that is not unusual'),
  deviceKnown: z.stringbool().default(true).describe('Whether the user has signed in with this browser before'),
  riskBand: Band.optional().describe(
    'Left out: the band that the realm’s scorer gives for this address and browser; it compares them with the user’s former sign-ins, and so needs `events:read`, or `sessions:read` for the user: otherwise no risk is taken',
  ),
  proven: text(1000)
    .optional()
    .describe('Ids of authenticators that a session of the user has proven already, separated by commas'),
});
export const SignInSimulation = z
  .object({
    path: SignInPath,
    risk: RiskShown.nullable().describe(
      'null: the realm’s risk policy is off, the band was given, or the caller may not see the user’s former sign-ins',
    ),
  })
  .meta({ id: 'SignInSimulation' });
export type SignInSimulation = z.infer<typeof SignInSimulation>;

export const simulateSignIn = route({
  method: 'GET',
  path: `${at}/sign-in-simulation`,
  operationId: 'simulateSignIn',
  tag,
  summary: 'Which steps a sign-in of a user would take in a situation',
  description:
    'The steps that the server’s flow engine would ask for, with the user’s credentials, groups and roles as they are now. Nothing is written, and nobody is asked for anything. The limits of an address and a lock don’t count here; the report has them.',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  query: SignInSituation,
  response: SignInSimulation,
  problems: ['not-found'],
});

const level = z.int().min(0).max(9);
export const UnsavedSituation = z.strictObject({
  ...SignInSituation.pick({ clientId: true, ipAddress: true, riskBand: true }).shape,
  executions: z.array(ExecutionInput).max(MAX_EXECUTIONS).describe('The tree, as PUT of a flow takes it'),
  flow: name(255).optional().describe('The alias of the flow of which the tree is an edit'),
  level: level.default(0).describe('The level of assurance that the application asks for; 0: any'),
  deviceKnown: z.boolean().default(true).describe('Whether the user has signed in with this browser before'),
  proven: z
    .array(name(100))
    .max(20)
    .default([])
    .describe('Ids of authenticators that a session of the user has proven already'),
});

export const simulateUnsavedFlow = route({
  method: 'POST',
  path: `${at}/sign-in-simulation`,
  operationId: 'simulateUnsavedFlow',
  tag,
  summary: 'Which steps a tree that is not saved would ask a user for in a situation',
  description:
    'As the simulation of a saved flow. A tree that PUT would refuse is refused with the same faults. A condition on an attribute that the user profile hides from administrators must be in the saved flow `flow` already. Needs `users:read` for the user besides.',
  permission: 'flows:read',
  params: ByUser,
  body: UnsavedSituation,
  example: {
    executions: [
      { authenticatorId: 'username-password', requirement: 'REQUIRED' },
      { authenticatorId: 'otp', requirement: 'REQUIRED' },
    ],
  },
  response: SignInSimulation,
  problems: ['not-found'],
  recordsNothing: true,
});
