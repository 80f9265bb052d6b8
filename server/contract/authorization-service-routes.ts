// The admin API of a client's authorization services: as a whole, its settings, its single items, and an evaluation of
// requests. Specification 4.10; decisions "Authorization services".
import { z } from 'zod';
import * as shape from './authorization-services.ts';
import { ManagedPage, managedBy, WithManagers } from './managed-by.ts';
import { Attributes, EpochMs, Id, InClient, InRealm, name, Page } from './names.ts';
import { type Route, route } from './route.ts';

const tag = 'authorization-services';
const at = '/admin/realms/:realm/clients/:clientId/authz' as const;
const ByName = InClient.extend({ name: name() });
const [read, write] = ['clients:read', 'clients:write'] as const;

export const AuthorizationServiceSummary = z
  .object({
    id: Id.describe('The client’s id'),
    clientId: z.string(),
    enforcement: shape.AuthorizationSettings.shape.enforcement,
    resources: z.int(),
    scopes: z.int(),
    policies: z.int(),
    permissions: z.int(),
    ...managedBy,
  })
  .meta({ id: 'AuthorizationServiceSummary' });

export const listAuthorizationServices = route({
  method: 'GET',
  path: '/admin/realms/:realm/authorization-services',
  tag,
  summary: 'List the clients that have authorization services, and how much of each',
  permission: read,
  params: InRealm,
  query: ManagedPage,
  response: z.array(AuthorizationServiceSummary),
});

export const getAuthorizationService = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'Read a client’s authorization services whole; of a client that has none, as a fresh one has them',
  permission: read,
  params: InClient,
  query: WithManagers,
  response: shape.AuthorizationService,
  problems: ['not-found'],
});

export const putAuthorizationService = route({
  method: 'PUT',
  path: at,
  tag,
  summary: 'Set a client’s authorization services at once; a list that is left out keeps its items',
  permission: write,
  params: InClient,
  body: shape.AuthorizationServiceDocument.partial().extend(managedBy),
  example: {
    settings: { enforcement: 'enforcing' },
    scopes: [{ name: 'view' }],
    resources: [{ name: 'albums', type: 'album', scopes: ['view'] }],
    policies: [
      { name: 'office-hours', type: 'time', config: { from: '08:00', until: '18:00', timeZone: 'Europe/Zurich' } },
    ],
    permissions: [{ name: 'view-albums', resourceType: 'album', scopes: ['view'], policies: ['office-hours'] }],
  },
  response: shape.AuthorizationService,
  problems: ['declared-only', 'not-found', 'precondition-failed', 'privilege-escalation'],
});

export const deleteAuthorizationService = route({
  method: 'DELETE',
  path: at,
  tag,
  summary: 'Delete a client’s authorization services; the client stays',
  permission: write,
  params: InClient,
  status: 204,
  problems: ['declared-only', 'not-found', 'precondition-failed', 'privilege-escalation'],
});

export const getAuthorizationSettings = route({
  method: 'GET',
  path: `${at}/settings`,
  tag,
  summary: 'Read the settings of a client’s authorization services',
  permission: read,
  params: InClient,
  response: shape.AuthorizationSettings,
  problems: ['not-found'],
});

export const putAuthorizationSettings = route({
  method: 'PUT',
  path: `${at}/settings`,
  tag,
  summary: 'Update the settings of a client’s authorization services; a field that is left out keeps its value',
  permission: write,
  params: InClient,
  body: shape.AuthorizationSettingsInput,
  example: { decisionStrategy: 'affirmative' },
  response: shape.AuthorizationSettings,
  problems: ['declared-only', 'not-found', 'precondition-failed', 'privilege-escalation'],
});

export interface ItemRoutes<Wire extends z.ZodType = z.ZodType, Input extends z.ZodType = z.ZodType> {
  list: Route<typeof InClient, typeof Page, z.ZodUndefined, z.ZodArray<Wire>>;
  create: Route<typeof InClient, z.ZodObject, Input, Wire>;
  get: Route<typeof ByName, z.ZodObject, z.ZodUndefined, Wire>;
  put: Route<typeof ByName, z.ZodObject, z.ZodType, Wire>;
  remove: Route<typeof ByName, z.ZodObject, z.ZodUndefined, z.ZodUndefined>;
}

/** Routes for the items of one list; the path names each item. */
function itemRoutes<Wire extends z.ZodType, Input extends z.ZodType>(
  list: shape.ItemList,
  {
    one,
    wire,
    input,
    update,
    example,
    updateExample,
  }: { one: string; wire: Wire; input: Input; update: z.ZodType; example: z.input<Input>; updateExample: object },
): ItemRoutes<Wire, Input> {
  const all = `${at}/${list}`;
  const single = `${all}/:name`;
  return {
    list: route({
      method: 'GET',
      path: all,
      tag,
      summary: `List the ${list} of a client, by name`,
      permission: read,
      params: InClient,
      query: Page,
      response: z.array(wire),
      problems: ['not-found'],
    }),
    create: route({
      method: 'POST',
      path: all,
      tag,
      summary: `Add a ${one}`,
      permission: write,
      params: InClient,
      body: input,
      example,
      status: 201,
      response: wire,
      problems: ['declared-only', 'not-found', 'name-taken', 'privilege-escalation'],
    }),
    get: route({
      method: 'GET',
      path: single,
      tag,
      summary: `Read a ${one}`,
      permission: read,
      params: ByName,
      response: wire,
      problems: ['not-found'],
    }),
    put: route({
      method: 'PUT',
      path: single,
      tag,
      summary: `Update a ${one}; a field that is left out keeps its value, and the name stays`,
      permission: write,
      params: ByName,
      body: update,
      example: updateExample,
      response: wire,
      problems: ['declared-only', 'not-found', 'precondition-failed', 'privilege-escalation'],
    }),
    remove: route({
      method: 'DELETE',
      path: single,
      tag,
      summary: `Delete a ${one} that nothing else of the client names`,
      permission: write,
      params: ByName,
      status: 204,
      problems: ['declared-only', 'not-found', 'in-use', 'precondition-failed', 'privilege-escalation'],
    }),
  } as ItemRoutes<Wire, Input>;
}

export const authorizationResourceRoutes = itemRoutes('resources', {
  one: 'resource',
  wire: shape.AuthorizationResource,
  input: shape.AuthorizationResourceInput,
  update: shape.AuthorizationResourceInput.partial(),
  example: { name: 'albums', displayName: 'Albums', type: 'album', uris: ['/albums/*'] },
  updateExample: { displayName: 'Albums and pictures' },
});
export const authorizationScopeRoutes = itemRoutes('scopes', {
  one: 'scope',
  wire: shape.AuthorizationScope,
  input: shape.AuthorizationScopeInput,
  update: shape.AuthorizationScopeInput.partial(),
  example: { name: 'view', displayName: 'View' },
  updateExample: { displayName: 'Look at' },
});
export const authorizationPolicyRoutes = itemRoutes('policies', {
  one: 'policy',
  wire: shape.AuthorizationPolicy,
  input: shape.AuthorizationPolicyInput,
  update: z.strictObject(shape.AuthorizationPolicy.shape).partial(),
  example: { name: 'office-hours', type: 'time', config: { from: '08:00', until: '18:00', timeZone: 'Europe/Zurich' } },
  updateExample: { logic: 'negative' },
});
export const authorizationPermissionRoutes = itemRoutes('permissions', {
  one: 'permission',
  wire: shape.AuthorizationPermission,
  input: shape.AuthorizationPermissionInput,
  update: z.strictObject(shape.AuthorizationPermission.shape).partial(),
  example: { name: 'albums-by-type', resourceType: 'album' },
  updateExample: { decisionStrategy: 'affirmative' },
});
export const {
  list: listAuthorizationResources,
  create: createAuthorizationResource,
  get: getAuthorizationResource,
  put: putAuthorizationResource,
  remove: deleteAuthorizationResource,
} = authorizationResourceRoutes;
export const {
  list: listAuthorizationScopes,
  create: createAuthorizationScope,
  get: getAuthorizationScope,
  put: putAuthorizationScope,
  remove: deleteAuthorizationScope,
} = authorizationScopeRoutes;
export const {
  list: listAuthorizationPolicies,
  create: createAuthorizationPolicy,
  get: getAuthorizationPolicy,
  put: putAuthorizationPolicy,
  remove: deleteAuthorizationPolicy,
} = authorizationPolicyRoutes;
export const {
  list: listAuthorizationPermissions,
  create: createAuthorizationPermission,
  get: getAuthorizationPermission,
  put: putAuthorizationPermission,
  remove: deleteAuthorizationPermission,
} = authorizationPermissionRoutes;

const Decision = z.enum(['permit', 'deny']);
const PolicyOutcome = z.object({
  name: z.string(),
  type: z.enum(shape.policyTypes),
  logic: shape.AuthorizationPolicy.shape.logic,
  decision: Decision,
  reason: z.string().describe('In words'),
});
const PermissionOutcome = z.object({
  name: z.string(),
  scopes: z
    .array(z.string())
    .describe('Of those that were asked for, the ones that it is about; empty: the resource itself'),
  decisionStrategy: shape.DecisionStrategy,
  decision: Decision,
  reason: z.string().describe('In words'),
  policies: z.array(PolicyOutcome).describe('Its policies and, behind them, those that aggregates asked'),
});
export const EvaluationResult = z.object({
  resource: z.string(),
  scopes: z.array(z.string()).describe('Those that were asked for; where none were: all of the resource'),
  decision: Decision.describe('permit: every one of the scopes'),
  grantedScopes: z.array(z.string()),
  reason: z.string().describe('In words'),
  permissions: z.array(PermissionOutcome).describe('Those that are about it, by name'),
});
export type EvaluationResult = z.infer<typeof EvaluationResult>;

export const evaluateAuthorization = route({
  method: 'POST',
  path: `${at}/evaluate`,
  tag,
  summary: 'What would be decided for a person or a client, and why; nothing is changed',
  description:
    'Needs `users:read` too where it names a user. Without a user, `clientId` is who asks: with the roles of its service account.',
  permission: write,
  params: InClient,
  body: z.strictObject({
    userId: Id.optional(),
    username: name().optional(),
    clientId: name().optional().describe('The clientId of the client by which they ask'),
    permissions: z
      .array(z.strictObject({ resource: name(), scopes: z.array(name()).max(200).optional() }))
      .min(1)
      .max(100),
    context: z
      .strictObject({
        time: EpochMs.min(0)
          .max(8_640_000_000_000_000)
          .optional()
          .describe('Decide as if it were then; epoch milliseconds'),
        attributes: Attributes.optional().describe(
          'What the request says of itself, for policies of the type attribute',
        ),
      })
      .optional(),
  }),
  example: { clientId: 'shop', permissions: [{ resource: 'albums', scopes: ['view'] }] },
  response: z.object({
    userId: Id.nullable(),
    username: z.string().nullable(),
    clientId: z.string().nullable(),
    results: z.array(EvaluationResult),
  }),
  problems: ['not-found', 'forbidden', 'too-large'],
  recordsNothing: true,
});
