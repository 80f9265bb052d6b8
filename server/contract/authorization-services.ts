// Authorization services of a client: its protected resources, and the policies and permissions for them. Decisions "Authorization
// services"; specification 2.10, 4.10. authorization-service-routes.ts has the routes.
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { GroupPath } from './groups.ts';
import { managedBy } from './managed-by.ts';
import { Attributes, name, text } from './names.ts';

export const DecisionStrategy = z
  .enum(['unanimous', 'affirmative', 'consensus'])
  .describe('unanimous: all permit; affirmative: one is enough; consensus: more permit than deny');
export type DecisionStrategy = z.infer<typeof DecisionStrategy>;

const settingsFields = {
  enforcement: z
    .enum(['enforcing', 'permissive', 'disabled'])
    .describe(
      'What no permission is about: enforcing denies it, permissive permits it; disabled permits everything unasked',
    ),
  decisionStrategy: DecisionStrategy.describe(
    'How several permissions about the same thing decide together, and policies where their permission doesn’t say',
  ),
  remoteResources: z.boolean().describe('Whether the client may register resources itself'),
  accessApi: z
    .enum(['none', 'decisions', 'search'])
    .describe(
      'Which requests of the client the AuthZEN API answers: about any user or client that it names (decisions), and also who may do what (search)',
    ),
};
export const AuthorizationSettings = z.object(settingsFields).meta({ id: 'AuthorizationSettings' });
export type AuthorizationSettings = z.infer<typeof AuthorizationSettings>;
export const AuthorizationSettingsInput = z.strictObject(settingsFields).partial();
export const freshAuthorizationSettings: AuthorizationSettings = {
  enforcement: 'enforcing',
  decisionStrategy: 'unanimous',
  remoteResources: false,
  accessApi: 'none',
};

const names = (most: number) => z.array(name()).max(most);
const label = text(255).nullable().describe('To people');

const resourceFields = {
  name: name().describe('What permissions and requests name'),
  displayName: label,
  type: name().nullable().describe('What a permission can name in place of single resources'),
  uris: z.array(text(2048)).max(100).describe('Where it is found'),
  scopes: names(200).describe('What can be done with it, by name'),
  owner: name().nullable().describe('Username; null: the client itself'),
  ownerManaged: z.boolean().describe('Its owner is permitted everything with it'),
  attributes: Attributes,
};
export const AuthorizationResource = z.object(resourceFields).meta({ id: 'AuthorizationResource' });
export type AuthorizationResource = z.infer<typeof AuthorizationResource>;
export const AuthorizationResourceInput = z.strictObject(resourceFields).partial().required({ name: true });

const scopeFields = { name: name().describe('What resources, permissions and requests name'), displayName: label };
export const AuthorizationScope = z.object(scopeFields).meta({ id: 'AuthorizationScope' });
export type AuthorizationScope = z.infer<typeof AuthorizationScope>;
export const AuthorizationScopeInput = z.strictObject(scopeFields).partial().required({ name: true });

const isTime = (s: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(s);
const isInstant = (s: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(s) && !Number.isNaN(Date.parse(s));
function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
const instant = text(40).refine(isInstant, 'must be a date and time with an offset, such as 2026-01-31T08:00:00Z');
const timeOfDay = text(5).refine(isTime, 'must be a time of day, such as 08:30');

export const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

const configFields = {
  roles: names(200).describe('role: realm roles'),
  clientRoles: z.record(name(), names(200)).describe('role: roles of clients, by clientId'),
  match: z.enum(['any', 'all']).describe('role, attribute: whether one of them is enough; default any'),
  users: names(1000).describe('user: usernames'),
  groups: z.array(GroupPath).max(200).describe('group: by path'),
  includeSubgroups: z.boolean().describe('group: members of the groups below them too; default false'),
  clients: z.array(ClientId).max(200).describe('client: clientIds of who asks'),
  notBefore: instant.describe('time: from this moment on'),
  notAfter: instant.describe('time: until this moment'),
  daysOfWeek: z.array(z.enum(days)).max(7).describe('time: on these days'),
  daysOfMonth: z.array(z.int().min(1).max(31)).max(31).describe('time: on these days of the month'),
  months: z.array(z.int().min(1).max(12)).max(12).describe('time: in these months'),
  from: timeOfDay.describe('time: each day from this time on; later than until: over midnight'),
  until: timeOfDay.describe('time: each day before this time'),
  timeZone: text(64).refine(isTimeZone, 'is no time zone').describe('time: whose days and hours; default UTC'),
  attribute: name().describe('attribute: its name'),
  source: z.enum(['user', 'context']).describe('attribute: whose; context is what the request says; default user'),
  values: z.array(text(4096)).max(200).describe('attribute: those that it must have'),
  policies: names(200).describe('aggregate: other policies, by name'),
  decisionStrategy: DecisionStrategy.describe('aggregate: how they decide together; default unanimous'),
};
type ConfigField = keyof typeof configFields;

export const policyTypes = ['role', 'user', 'group', 'client', 'time', 'attribute', 'aggregate'] as const;
export type PolicyType = (typeof policyTypes)[number];
/** The fields of each policy type: at least one field of `some` must be set and not empty, and every field of `all`. */
const takes: Record<
  PolicyType,
  { some?: readonly ConfigField[]; all?: readonly ConfigField[]; may?: readonly ConfigField[] }
> = {
  role: { some: ['roles', 'clientRoles'], may: ['match'] },
  user: { all: ['users'] },
  group: { all: ['groups'], may: ['includeSubgroups'] },
  client: { all: ['clients'] },
  time: { some: ['notBefore', 'notAfter', 'daysOfWeek', 'daysOfMonth', 'months', 'from', 'until'], may: ['timeZone'] },
  attribute: { all: ['attribute', 'values'], may: ['source', 'match'] },
  aggregate: { all: ['policies'], may: ['decisionStrategy'] },
};

/** The fields of `config` that a policy of the type has. */
export const policyConfigFields = (type: PolicyType): readonly string[] => {
  const { some = [], all = [], may = [] } = takes[type];
  return [...all, ...some, ...may];
};

export const PolicyConfig = z.strictObject(configFields).partial();
export type PolicyConfig = z.infer<typeof PolicyConfig>;

const isSaid = (value: unknown): boolean =>
  value !== undefined && (typeof value !== 'object' || value === null || Object.values(value).flat().length > 0);

function configFaults(type: PolicyType, config: PolicyConfig): { field?: string; message: string }[] {
  const { some = [], all = [], may = [] } = takes[type];
  const foreign = Object.keys(config).filter((field) => ![...some, ...all, ...may].some((own) => own === field));
  const missing = all.filter((field) => !isSaid(config[field]));
  return [
    ...foreign.map((field) => ({ field, message: `is nothing that a policy of type ${type} has` })),
    ...missing.map((field) => ({ field, message: 'is required, and must not be empty' })),
    ...(some.length > 0 && !some.some((field) => isSaid(config[field]))
      ? [{ message: `must have at least one of ${some.join(', ')}` }]
      : []),
    ...((config.from === undefined) === (config.until === undefined)
      ? []
      : [{ message: 'must have both from and until, or neither' }]),
    ...(config.from !== undefined && config.from === config.until
      ? [{ field: 'until', message: 'must be another time than from' }]
      : []),
  ];
}

const policyFields = {
  name: name().describe('What permissions and aggregates name'),
  type: z.enum(policyTypes).describe('What it goes by'),
  logic: z.enum(['positive', 'negative']).describe('negative: it permits whom it would deny; default positive'),
  config: PolicyConfig.describe('Whom it permits, or when; which fields there are depends on the type'),
};
export const AuthorizationPolicy = z.object(policyFields).meta({ id: 'AuthorizationPolicy' });
export type AuthorizationPolicy = z.infer<typeof AuthorizationPolicy>;
export const AuthorizationPolicyInput = z
  .strictObject(policyFields)
  .partial({ logic: true })
  .superRefine(({ type, config }, context) => {
    for (const { field, message } of configFaults(type, config))
      context.addIssue({ code: 'custom', path: ['config', ...(field === undefined ? [] : [field])], message });
  });

const permissionFields = {
  name: name().describe('What explanations name'),
  resources: names(1000).describe('What it is about, by name'),
  resourceType: name().nullable().describe('And all resources of this type'),
  scopes: names(200).describe(
    'What of it; empty: everything. Without resources and type: these scopes of any resource',
  ),
  policies: names(200).describe('Who decides; without any it denies'),
  decisionStrategy: DecisionStrategy.nullable().describe('How its policies decide together; null: as the settings say'),
};
export const AuthorizationPermission = z.object(permissionFields).meta({ id: 'AuthorizationPermission' });
export type AuthorizationPermission = z.infer<typeof AuthorizationPermission>;
export const AuthorizationPermissionInput = z
  .strictObject(permissionFields)
  .partial()
  .required({ name: true })
  .refine(
    ({ resources = [], resourceType, scopes = [] }) =>
      resources.length + scopes.length > 0 || (resourceType ?? null) !== null,
    'must be about something: resources, a resourceType or scopes',
  );

/** The lists of a service. */
export const itemLists = ['resources', 'scopes', 'policies', 'permissions'] as const;
export type ItemList = (typeof itemLists)[number];

export const AuthorizationService = z
  .object({
    clientId: z.string(),
    settings: AuthorizationSettings,
    resources: z.array(AuthorizationResource),
    scopes: z.array(AuthorizationScope),
    policies: z.array(AuthorizationPolicy),
    permissions: z.array(AuthorizationPermission),
    ...managedBy,
  })
  .meta({ id: 'AuthorizationService' });
export type AuthorizationService = z.infer<typeof AuthorizationService>;

/** In a realm document; the natural key is the clientId. */
export const AuthorizationServiceDocument = z.strictObject({
  clientId: ClientId,
  settings: AuthorizationSettingsInput.optional().describe(
    'How it is decided; a field that is left out has its default',
  ),
  resources: z.array(AuthorizationResourceInput).max(5000).optional().describe('What the client protects'),
  scopes: z.array(AuthorizationScopeInput).max(1000).optional().describe('What can be done with resources'),
  policies: z.array(AuthorizationPolicyInput).max(2000).optional().describe('Conditions that permit or deny'),
  permissions: z
    .array(AuthorizationPermissionInput)
    .max(2000)
    .optional()
    .describe('Which policies decide about which resources and scopes'),
});
export type AuthorizationServiceDocument = z.infer<typeof AuthorizationServiceDocument>;
