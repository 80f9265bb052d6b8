// Sign-in flows and the authenticator registry. Specification 2.1, 2.2 and 4.1; decisions "Reading and writing".
import { z } from 'zod';
import { ManagedPage, managedBy, WithManagers } from './managed-by.ts';
import { anyObject, Id, InRealm, name, RealmName } from './names.ts';
import { route } from './route.ts';

export const Requirement = z.enum(['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED']);
export type Requirement = z.infer<typeof Requirement>;

/** The registry's ids, in its order. */
export const authenticatorIds = [
  'username-password',
  'otp',
  'webauthn',
  'email-otp',
  'sms-otp',
  'magic-link',
  'push',
  'qr',
  'recovery-codes',
  'idp-redirect',
  'risk',
  'mfa-enabled',
  'role',
  'group',
  'attribute',
  'client',
  'network',
  'device-known',
  'level-of-assurance',
  'review-profile',
  'confirm-email',
  'create-account',
  'link-password',
  'link-email',
] as const;

/** The ids that only a first sign-in with an identity provider uses. */
export const firstSignInIds = [
  'review-profile',
  'confirm-email',
  'create-account',
  'link-password',
  'link-email',
] as const satisfies readonly (typeof authenticatorIds)[number][];

/** The authenticator for signing in with another identity provider. */
export const BY_PROVIDER = 'idp-redirect' satisfies (typeof authenticatorIds)[number];

/** A saved tree is flat on the wire (parentId); depth is bounded so that no tree can exhaust the engine. */
export const MAX_FLOW_DEPTH = 4;
export const MAX_EXECUTIONS = 50;

export const Execution = z
  .object({
    executionId: Id,
    parentId: Id.nullable().describe('The sub-flow container; null at top level'),
    authenticatorId: z.string().nullable().describe('null: a sub-flow container grouping its children'),
    name: z.string().nullable().describe('Display name of a container'),
    requirement: Requirement,
    condition: z.boolean().describe('true: a condition check'),
    priority: z.int().describe('Order among siblings, ascending'),
    config: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Execution' });
export type Execution = z.infer<typeof Execution>;

export const Flow = z
  .object({
    realmId: RealmName,
    alias: z.string(),
    builtIn: z.boolean(),
    executions: z.array(Execution).optional(),
    ...managedBy,
  })
  .meta({ id: 'Flow' });
export type Flow = z.infer<typeof Flow>;

/** A tree as input: flat with `parentId` (as GET returns it), or with nested `executions`, or both. */
export interface ExecutionInput {
  executionId?: string | undefined;
  parentId?: string | null | undefined;
  authenticatorId?: string | null | undefined;
  name?: string | null | undefined;
  requirement: Requirement;
  condition?: boolean | undefined;
  priority?: number | undefined;
  config?: Record<string, unknown> | undefined;
  executions?: ExecutionInput[] | undefined;
}
function executionInput(depth: number): z.ZodType<ExecutionInput> {
  const leaf = z.strictObject({
    executionId: Id.optional(),
    parentId: Id.nullable().optional(),
    authenticatorId: name(100).nullable().optional(),
    name: name(200).nullable().optional(),
    requirement: Requirement,
    condition: z.boolean().optional(),
    priority: z.int().min(0).max(1_000_000).optional(),
    config: anyObject().optional(),
  });
  if (depth === 1) return leaf;
  return leaf.extend({
    executions: z
      .array(executionInput(depth - 1))
      .max(MAX_EXECUTIONS)
      .optional(),
  });
}
export const ExecutionInput = executionInput(MAX_FLOW_DEPTH);

/**
 * An execution in a realm document and in a Flow resource: children by containment, order by position, no ids.
 * `levels` is how deep `executions` may nest (a fixed depth, since CRDs know no recursion).
 */
export interface ExecutionDocument {
  authenticatorId?: string | undefined;
  name?: string | undefined;
  requirement: Requirement;
  config?: Record<string, unknown> | undefined;
  executions?: ExecutionDocument[] | undefined;
}
export function executionDocument(levels: number): z.ZodType<ExecutionDocument> {
  const leaf = z.strictObject({
    authenticatorId: name(100)
      .optional()
      .describe('Id from the authenticator registry; left out for a sub-flow container, which has `executions`'),
    name: name(200).optional().describe('Display name of a container'),
    requirement: Requirement.describe('REQUIRED, ALTERNATIVE, CONDITIONAL or DISABLED'),
    config: anyObject().optional().describe('Configuration of the authenticator'),
  });
  if (levels === 1) return leaf;
  const children = z.array(executionDocument(levels - 1)).max(MAX_EXECUTIONS);
  return leaf.extend({ executions: children.optional().describe('Children of a container, in order') });
}
export const FlowDocument = z.strictObject({
  alias: name(255),
  executions: z.array(executionDocument(MAX_FLOW_DEPTH)).max(MAX_EXECUTIONS).optional(),
});
export type FlowDocument = z.infer<typeof FlowDocument>;

export const Authenticator = z
  .object({
    id: z.string(),
    displayName: z.string(),
    factorClass: z.enum(['KNOWLEDGE', 'POSSESSION', 'INHERENCE', 'NONE']),
    levelOfAssurance: z.int().describe('0 for conditions and steps of first sign-ins'),
    category: z
      .enum(['METHOD', 'CONDITION', 'FIRST_SIGN_IN'])
      .describe('FIRST_SIGN_IN: a step of the flow that an identity provider’s `firstLoginFlow` names'),
    configSchema: z.record(z.string(), z.unknown()).describe('JSON Schema of an execution’s `config`'),
  })
  .meta({ id: 'Authenticator' });
export type Authenticator = z.infer<typeof Authenticator>;

const tag = 'flows';
const ByAlias = z.strictObject({ realm: RealmName, alias: name(255) });
const at = '/admin/realms/:realm/flows' as const;
const TreeInput = z.strictObject({
  executions: z.array(ExecutionInput).max(MAX_EXECUTIONS),
  // the response of GET is a valid PUT
  realmId: RealmName.optional(),
  alias: name(255).optional(),
  builtIn: z.boolean().optional(),
  ...managedBy,
});
const passwordAndOtp: z.input<typeof TreeInput> = {
  executions: [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'otp', requirement: 'REQUIRED' },
  ],
};
export type TreeInput = z.infer<typeof TreeInput>;

export const listFlows = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List flows, without their executions, the built-in one first',
  permission: 'flows:read',
  params: InRealm,
  query: ManagedPage,
  response: z.array(Flow),
});
export const createFlow = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Create an empty flow, or a copy of another',
  permission: 'flows:write',
  params: InRealm,
  body: z.strictObject({ alias: name(255), copyFromAlias: name(255).optional() }),
  example: { alias: 'with-otp', copyFromAlias: 'browser' },
  status: 201,
  response: Flow,
  problems: ['declared-only', 'name-taken', 'not-found'],
});
export const getFlow = route({
  method: 'GET',
  path: `${at}/:alias`,
  tag,
  summary: 'Read a flow with its executions',
  permission: 'flows:read',
  params: ByAlias,
  query: WithManagers,
  response: Flow,
  problems: ['not-found'],
});
export const putFlow = route({
  method: 'PUT',
  path: `${at}/:alias`,
  tag,
  summary: 'Save the full desired tree',
  description: [
    'Takes what GET answered, flat with `parentId`, or nested `executions`, or both. Ids that are sent are kept.',
    'REQUIRED: must be done. ALTERNATIVE: one of the siblings must be done; none is asked beside a REQUIRED sibling.',
    'CONDITIONAL container: must be done while all its conditions hold; without a condition it never runs.',
    'CONDITIONAL method: must be done by people who have it set up. DISABLED: not there.',
    'A REQUIRED second factor that somebody has not set up is set up within the sign-in, except behind the condition',
    '`risk` (and wherever the realm’s risk action is `step_up`): there only a factor that existed before counts.',
    'A tree that cannot authenticate anyone is refused, naming the execution.',
    'Steps of first sign-ins are gone through where an identity provider’s `firstLoginFlow` names the flow, and nowhere else.',
  ].join(' '),
  permission: 'flows:write',
  params: ByAlias,
  body: TreeInput,
  example: passwordAndOtp,
  response: Flow,
  problems: ['declared-only', 'not-found', 'precondition-failed'],
});
export const renameFlow = route({
  method: 'PATCH',
  path: `${at}/:alias`,
  tag,
  summary: 'Rename a flow; bindings follow',
  permission: 'flows:write',
  params: ByAlias,
  body: z.strictObject({ alias: name(255) }),
  example: { alias: 'password-and-otp' },
  response: Flow,
  problems: ['declared-only', 'not-found', 'name-taken', 'flow-built-in', 'precondition-failed'],
});
export const deleteFlow = route({
  method: 'DELETE',
  path: `${at}/:alias`,
  tag,
  summary: 'Delete a flow that is not built in and not bound',
  permission: 'flows:write',
  params: ByAlias,
  status: 204,
  problems: ['declared-only', 'not-found', 'flow-built-in', 'flow-in-use', 'precondition-failed'],
});
export const getBrowserFlow = route({
  method: 'GET',
  path: '/admin/realms/:realm/flow',
  operationId: 'getBrowserFlow',
  tag,
  summary: 'Read the flow that the realm is bound to',
  permission: 'flows:read',
  params: InRealm,
  query: WithManagers,
  response: Flow,
});
export const putBrowserFlow = route({
  method: 'PUT',
  path: '/admin/realms/:realm/flow',
  operationId: 'updateBrowserFlow',
  tag,
  summary: 'Save the flow that the realm is bound to',
  permission: 'flows:write',
  params: InRealm,
  body: TreeInput,
  example: passwordAndOtp,
  response: Flow,
  problems: ['declared-only', 'precondition-failed'],
});
export const listAuthenticators = route({
  method: 'GET',
  path: '/admin/realms/:realm/authenticators',
  tag,
  summary: 'The authenticator registry',
  permission: 'flows:read',
  params: InRealm,
  response: z.array(Authenticator),
});
