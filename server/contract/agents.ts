// Agents: programs with a client of their own and a user who is responsible for them. Decisions "Agent"; specification 1, 4.10.
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { type AnswerOf, kind } from './kind.ts';
import { ById, EpochMs, Id, InRealm, name, Page, RealmName, ScopeName, text } from './names.ts';
import { ACCESS_TOKEN_TYPE, ClientParameters, OAuthErrorBody, TOKEN_EXCHANGE } from './oauth.ts';
import { route } from './route.ts';
import { servedTo } from './surface.ts';

export const AgentStatus = z.enum(['draft', 'active', 'suspended', 'revoked']);
export type AgentStatus = z.infer<typeof AgentStatus>;

export const agents = kind({
  section: 'agents',
  kind: 'agent',
  one: 'an agent',
  many: 'agents',
  description: 'Agents, by name; who owns one is run-time data',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    description: text(2000).nullable().describe('What people see'),
    purpose: text(2000).nullable().describe('What it is for; who reviews it reads this'),
    owner: name(255).nullable().describe('Username of who answers for it; without one it can’t be active'),
    clientId: ClientId.nullable().describe('The client that it acts as, its own: it stays, and no other agent has it'),
    scopes: z.array(ScopeName).max(200).describe('Its tokens have these of its client’s scopes and no others'),
    expiresAt: EpochMs.nullable().describe('When it ends, in epoch milliseconds; null: never'),
    reviewIntervalDays: z
      .int()
      .min(1)
      .max(3650)
      .nullable()
      .describe('How often somebody must confirm that it is still needed; null: never'),
  },
  names: { clientId: 'client' },
  answered: {
    status: AgentStatus.describe('Only an active agent’s client gets tokens'),
    reviewedAt: EpochMs.nullable().describe('When it was last activated or reviewed'),
    reviewDueAt: EpochMs.nullable().describe('After this it is suspended'),
    lastUsedAt: EpochMs.nullable().describe('When it acted last, as far as the audit log goes back'),
    createdAt: EpochMs,
  },
  inDocument: {
    status: AgentStatus.describe(
      'What a new agent begins as (`active` with an owner who is enabled, else `suspended`). Of one that is there, a document only stops it: `suspended` an active one, `revoked` any; else it stays as it is',
    ),
  },
  people: ['owner'],
  searches: ['name', 'description'],
  most: 5000,
  mostInResource: 1000,
  problems: ['privilege-escalation'],
  describe: {
    list: 'List or search agents',
    create: 'Create an agent, as a draft: its client gets no tokens until it is activated',
    remove: 'Delete an agent; its client is disabled, since nobody answers for it any more',
  },
  form: { lead: 'Programs that act with rights of their own, each with a person who answers for it' },
  example: { name: 'report-writer', purpose: 'Writes the weekly reports', reviewIntervalDays: 90 },
  updateExample: {
    description: 'Reads orders, writes reports',
    purpose: 'Writes the monthly reports',
    scopes: ['roles', 'email'],
    expiresAt: 4_102_444_800_000,
    reviewIntervalDays: 30,
  },
  cli: {
    help: 'programs that act by a client of their own while somebody answers for them',
    shown: ['status', 'owner', 'clientId', 'reviewDueAt'],
    heads: { clientId: 'CLIENT', reviewDueAt: 'REVIEW DUE', expiresAt: 'EXPIRES', lastUsedAt: 'LAST USED' },
  },
});
export type Agent = AnswerOf<typeof agents>;
export const {
  list: listAgents,
  create: createAgent,
  get: getAgent,
  put: putAgent,
  remove: deleteAgent,
} = agents.routes;

const at = '/admin/realms/:realm/agents';
const move = {
  method: 'POST',
  tag: 'agents',
  permission: 'agents:write',
  params: ById,
  response: agents.wire,
  problems: ['not-found', 'wrong-state', 'privilege-escalation'],
} as const;

export const activateAgent = route({
  ...move,
  path: `${at}/:id/activate`,
  summary: 'Let a draft or a suspended agent act; this counts as a review',
  description: 'It needs an owner who is enabled, and must not have expired.',
});
export const suspendAgent = route({
  ...move,
  path: `${at}/:id/suspend`,
  summary: 'Stop an active agent until it is activated again',
});
export const revokeAgent = route({
  ...move,
  path: `${at}/:id/revoke`,
  summary: 'Stop an agent for good',
});
export const reviewAgent = route({
  ...move,
  path: `${at}/:id/review`,
  summary: 'Confirm that an active agent is still needed',
});

export const listUserAgents = route({
  method: 'GET',
  path: '/admin/realms/:realm/users/:userId/agents',
  tag: 'agents',
  summary: 'List the agents that a user answers for, by name',
  permission: 'agents:read',
  params: z.strictObject({ realm: RealmName, userId: Id }),
  query: Page,
  response: z.array(agents.wire),
  problems: ['not-found'],
});

export const AgentInReview = agents.wire
  .extend({
    reasons: z
      .array(z.enum(['owner-gone', 'owner-disabled', 'review-due', 'expired']))
      .describe('Why somebody should look at it'),
  })
  .meta({ id: 'AgentInReview' });
export const listAgentsInReview = route({
  method: 'GET',
  path: `${at}/owner-review`,
  tag: 'agents',
  summary: 'List agents whose owner is gone or disabled, whose review is due, or which have expired',
  permission: 'agents:read',
  params: InRealm,
  query: Page,
  response: z.array(AgentInReview),
});

/** RFC 8693 §2.1. Parsed by the rules of OAuth's forms (http/form.ts). */
export const delegationBody = z.object({
  subject_token: z.string().describe('An access token of the person that this agent got, or that is for it'),
  subject_token_type: z.literal(ACCESS_TOKEN_TYPE, { error: `must be ${ACCESS_TOKEN_TYPE}` }),
});
const byClient = [{ clientSecret: [] }, { accessToken: [] }, {}];
export const agentDelegationRoute = {
  method: 'POST',
  url: '/realms/:realm/agent/delegation/token',
  config: servedTo('client'),
  schema: {
    tags: ['agents'],
    operationId: 'delegateToAgent',
    security: byClient,
    params: InRealm,
    summary: 'A token by which an agent acts for a person',
    description:
      'The agent’s client authenticates as at the token endpoint, or the agent sends its own access token (not bound to a key) as the bearer token. The new token is about the person and says in `act` who acts; its scopes are those that the subject token has, the agent has and the person has agreed to with this client, it ends no later than the subject token, and it is itself no subject token.',
    consumes: ['application/x-www-form-urlencoded'],
    body: z.object({
      grant_type: z.literal(TOKEN_EXCHANGE),
      ...delegationBody.shape,
      scope: z.string().optional().describe('Left out: all that is allowed'),
      resource: z.array(z.string()).optional().describe('RFC 8707; may be repeated'),
      ...ClientParameters,
    }),
    response: {
      200: z
        .object({
          access_token: z.string(),
          issued_token_type: z.literal(ACCESS_TOKEN_TYPE),
          token_type: z.enum(['Bearer', 'DPoP']),
          expires_in: z.int(),
          scope: z.string(),
        })
        .meta({ id: 'DelegatedToken' }),
      400: OAuthErrorBody.describe(
        '`invalid_request` (also where the subject token is not valid here, RFC 8693 §2.2.2), `invalid_scope`, `invalid_target`',
      ),
      401: OAuthErrorBody.describe('`invalid_client`, or `invalid_token` of a bearer token'),
      404: OAuthErrorBody.describe('There is no such realm'),
      default: OAuthErrorBody.describe('`slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;
