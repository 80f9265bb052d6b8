// The AuthZEN Authorization API 1.0: a resource server names a subject, an action and a resource, and the realm decides by the
// client's authorization services. Authorization API 1.0 §5 to §9.
import { z } from 'zod';
import { InRealm, text } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

const tag = 'authzen';
const at = '/realms/:realm/access/v1' as const;

/** The most decisions in one request. */
export const MOST_EVALUATIONS = 200;
/** The most results of one page of a search. */
export const MOST_RESULTS = 500;

const id = text(2048).min(1);
const word = text(255).min(1);
const Properties = z.record(z.string(), z.unknown());
const properties = Properties.optional().describe(
  'What policies of the type attribute see as `subject.NAME`, `resource.NAME`, `action.NAME`',
);

export const SubjectType = z.object({
  type: word.describe(
    '`user`: the id is a username; `identity`: it is the `sub` of the user’s tokens; `client`: a clientId',
  ),
  properties,
});
export const Subject = SubjectType.extend({ id });
export const ResourceType = z.object({
  type: word.describe(
    'The resource’s type, or `resource` if it has none; of the type `route` the id may be a path that one of its `uris` matches',
  ),
  properties,
});
export const Resource = ResourceType.extend({ id: id.describe('The resource’s name, or the id of a registered one') });
export const Action = z.object({ name: word.describe('One of the resource’s scopes'), properties });
const Context = Properties.describe('What policies of the type attribute see as the request’s context');

export const Evaluation = z.object({
  subject: Subject,
  action: Action,
  resource: Resource,
  context: Context.optional(),
});
export type Evaluation = z.infer<typeof Evaluation>;

const semantics = z.enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit']);
export const Evaluations = z.object({
  subject: Subject.partial().optional(),
  action: Action.partial().optional(),
  resource: Resource.partial().optional(),
  context: Context.optional(),
  evaluations: z
    .array(Properties)
    .max(MOST_EVALUATIONS)
    .optional()
    .describe('Each has what differs from the rest of the body; without any, the body is one request'),
  options: z.object({ evaluations_semantic: semantics.optional() }).optional(),
});
export type Evaluations = z.infer<typeof Evaluations>;

const Decision = z
  .object({
    decision: z.boolean(),
    context: z
      .object({ error: z.object({ status: z.int(), message: z.string() }).optional() })
      .optional()
      .describe('Why a single request could not be decided'),
  })
  .meta({ id: 'AuthzenDecision' });
export type Decision = z.infer<typeof Decision>;

const page = z
  .object({
    token: text(4096).optional().describe('`next_token` of the page before; empty: the first'),
    limit: z.int().min(1).max(MOST_RESULTS).optional(),
  })
  .optional();
const context = Context.optional();
export const SubjectSearch = z.object({ subject: SubjectType, action: Action, resource: Resource, context, page });
export type SubjectSearch = z.infer<typeof SubjectSearch>;
export const ResourceSearch = z.object({ subject: Subject, action: Action, resource: ResourceType, context, page });
export type ResourceSearch = z.infer<typeof ResourceSearch>;
export const ActionSearch = z.object({ subject: Subject, resource: Resource, context, page });
export type ActionSearch = z.infer<typeof ActionSearch>;

const results = <Item extends z.ZodType>(item: Item) =>
  z.object({
    results: z.array(item),
    page: z.object({
      next_token: z
        .string()
        .describe('Empty: this was the last page. A page may have no results and still have a next one'),
      count: z.int(),
    }),
  });
const Entity = z.object({ type: z.string(), id: z.string() });

const failures = {
  400: OAuthErrorBody.describe('`invalid_request`'),
  401: OAuthErrorBody.describe('`invalid_client`, `invalid_token`; see WWW-Authenticate'),
  403: OAuthErrorBody.describe(
    '`insufficient_scope`: the token has no scope uma_protection; `access_denied`: the client’s `accessApi` is too low',
  ),
  404: OAuthErrorBody.describe('`not_found`: there is no such realm'),
  default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
};
const base = {
  tags: [tag],
  params: InRealm,
  security: [{ protectionToken: [] }, { clientSecret: [] }],
  consumes: ['application/json'],
};
const config = servedTo('resource-server');
const alice = { type: 'user', id: 'alice' };
const holiday = { type: 'album', id: 'holiday' };

export const evaluationRoute = {
  method: 'POST',
  url: `${at}/evaluation`,
  config,
  schema: {
    ...base,
    operationId: 'evaluateAccess',
    summary: 'May this subject do this with this resource (Authorization API 1.0 §6)',
    description:
      'The caller is the client whose authorization services decide: by its secret, or with an access token that has the scope `uma_protection`. Whatever is unknown is denied like everything else.',
    body: Evaluation.meta({ examples: [{ subject: alice, action: { name: 'view' }, resource: holiday }] }),
    response: { 200: Decision, ...failures },
  },
} as const;
export const evaluationsRoute = {
  method: 'POST',
  url: `${at}/evaluations`,
  config,
  schema: {
    ...base,
    operationId: 'evaluateAccesses',
    summary: 'Several decisions at once (Authorization API 1.0 §7)',
    body: Evaluations.meta({
      examples: [
        {
          subject: alice,
          resource: holiday,
          evaluations: [{ action: { name: 'view' } }, { action: { name: 'edit' } }],
        },
      ],
    }),
    response: { 200: z.union([z.object({ evaluations: z.array(Decision) }), Decision]), ...failures },
  },
} as const;
export const subjectSearchRoute = {
  method: 'POST',
  url: `${at}/search/subject`,
  config,
  schema: {
    ...base,
    operationId: 'searchSubjects',
    summary: 'Who may do this with this resource (Authorization API 1.0 §8.4)',
    body: SubjectSearch.meta({
      examples: [{ subject: { type: 'user' }, action: { name: 'view' }, resource: holiday }],
    }),
    response: { 200: results(Entity), ...failures },
  },
} as const;
export const resourceSearchRoute = {
  method: 'POST',
  url: `${at}/search/resource`,
  config,
  schema: {
    ...base,
    operationId: 'searchResources',
    summary: 'With which resources this subject may do this (Authorization API 1.0 §8.5)',
    body: ResourceSearch.meta({
      examples: [{ subject: alice, action: { name: 'view' }, resource: { type: 'album' } }],
    }),
    response: { 200: results(Entity), ...failures },
  },
} as const;
export const actionSearchRoute = {
  method: 'POST',
  url: `${at}/search/action`,
  config,
  schema: {
    ...base,
    operationId: 'searchActions',
    summary: 'What this subject may do with this resource (Authorization API 1.0 §8.6)',
    body: ActionSearch.meta({ examples: [{ subject: alice, resource: holiday }] }),
    response: { 200: results(z.object({ name: z.string() })), ...failures },
  },
} as const;

const Metadata = z
  .object({
    policy_decision_point: z.string(),
    access_evaluation_endpoint: z.string(),
    access_evaluations_endpoint: z.string(),
    search_subject_endpoint: z.string(),
    search_resource_endpoint: z.string(),
    search_action_endpoint: z.string(),
  })
  .meta({ id: 'AuthzenConfiguration' });
export type AuthzenConfiguration = z.infer<typeof Metadata>;

export const authzenConfigurationRoute = {
  method: 'GET',
  url: '/realms/:realm/.well-known/authzen-configuration',
  config: servedTo('anonymous'),
  schema: {
    tags: [tag],
    params: InRealm,
    operationId: 'getAuthzenConfiguration',
    security: [] as { [scheme: string]: string[] }[],
    summary: 'Where the Authorization API is (Authorization API 1.0 §9)',
    response: { 200: Metadata, 404: failures[404], default: failures.default },
  },
} as const;
/** Authorization API 1.0 §9.2: the well-known part goes between host and path. */
export const insertedAuthzenConfigurationRoute = {
  ...authzenConfigurationRoute,
  url: '/.well-known/authzen-configuration/realms/:realm',
  schema: { ...authzenConfigurationRoute.schema, operationId: 'getInsertedAuthzenConfiguration' },
} as const;
