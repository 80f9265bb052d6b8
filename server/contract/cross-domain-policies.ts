// Cross-domain policies: which client may get a grant for which authorization server of another domain, for which users. Both
// forms of the grant: draft-ietf-oauth-identity-assertion-authz-grant (ID-JAG), draft-ietf-oauth-identity-chaining. Decisions
// "Cross-domain policy".
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { DetailTypeName } from './detail-type-name.ts';
import { isProviderAddress } from './identity-providers.ts';
import { kind } from './kind.ts';
import { name, ScopeName, text } from './names.ts';
import { ResourceIndicator } from './settings.ts';
import { MOST_GRANT_SECONDS } from './token-types.ts';

/** The issuer of another authorization server. Plain http is valid only for this machine. */
export const DomainIssuer = z
  .string()
  .max(2048)
  .refine(isProviderAddress, 'must be an absolute https address (http on loopback alone)');

export const crossDomainPolicies = kind({
  section: 'crossDomainPolicies',
  kind: 'crossDomainPolicy',
  one: 'a cross-domain policy',
  many: 'cross-domain policies',
  description: 'Which clients may get grants for authorization servers of other domains',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    enabled: z.boolean().describe('false: the client gets no grant by it'),
    clientId: ClientId.describe('The client of this realm that asks for the grant'),
    audience: DomainIssuer.describe(
      'The issuer of the other domain’s authorization server; one policy for each client',
    ),
    tokenTypes: z
      .array(z.enum(['id-jag', 'jwt']))
      .min(1)
      .max(2)
      .describe(
        'id-jag: for an ID token or a refresh token, as the identity assertion authorization grant has it; jwt: also for an access token, as identity chaining has it',
      ),
    targetClientId: text(1024).min(1).describe('The client’s id at the other authorization server'),
    scopes: z.array(ScopeName).max(200).describe('The scopes there that the client may ask for; all, if it names none'),
    resources: z
      .array(ResourceIndicator)
      .max(100)
      .describe('The resources there that the client may ask for; all, if it names none'),
    authorizationDetailsTypes: z
      .array(DetailTypeName)
      .max(100)
      .describe('The types of authorization details that the client may ask for there; the client must have them, too'),
    tokenScopes: z.array(ScopeName).max(100).describe('jwt: scopes that the exchanged access token must have'),
    groups: z
      .array(name(2000))
      .max(100)
      .describe(
        'Paths of groups: the grant is for members, also of groups below; with no group and no role, for all users',
      ),
    roles: z.array(name(255)).max(100).describe('Roles of the realm: the grant is for users who have one of them'),
    leastLevel: z
      .int()
      .min(1)
      .max(9)
      .nullable()
      .describe('The level of assurance (acr) that the user’s sign-in must have reached; null: any'),
    maxAge: z.int().min(1).max(31_536_000).nullable().describe('The most seconds since the user signed in; null: any'),
    relyingParty: ClientId.nullable().describe(
      'The client of this realm by which the other domain signs users in: the grant has the `sub` that this client gets; null: the other domain has none',
    ),
    email: z.boolean().describe('Whether the grant has the user’s address, if it is confirmed'),
    ttlSeconds: z.int().min(10).max(MOST_GRANT_SECONDS).describe('How long the grant is valid, at most five minutes'),
  },
  needed: ['clientId', 'audience', 'targetClientId'],
  fresh: { enabled: true, tokenTypes: ['id-jag'], email: false, ttlSeconds: MOST_GRANT_SECONDS },
  names: { clientId: 'client', relyingParty: 'client', groups: 'group', roles: 'role' },
  searches: ['name', 'audience'],
  most: 5000,
  mostInResource: 200,
  problems: ['privilege-escalation'],
  describe: {
    create:
      'Permit a client to act for users in another domain; the caller must hold `users:write` and the client’s rights',
  },
  form: {
    lead: 'Applications that may act for users at authorization servers of other domains',
    groups: [
      { title: 'General', fields: ['name', 'enabled', 'clientId', 'audience', 'targetClientId', 'tokenTypes'] },
      { title: 'Access', fields: ['scopes', 'resources', 'authorizationDetailsTypes', 'tokenScopes'] },
      { title: 'Users', fields: ['groups', 'roles', 'leastLevel', 'maxAge'] },
      { title: 'Grant', fields: ['relyingParty', 'email', 'ttlSeconds'] },
    ],
    fields: { maxAge: { widget: 'duration' }, ttlSeconds: { widget: 'duration' } },
  },
  example: {
    name: 'wiki-to-chat',
    clientId: 'deployer',
    audience: 'https://auth.chat.example',
    targetClientId: 'wiki-at-chat',
    scopes: ['chat.read'],
    resources: ['https://api.chat.example'],
  },
  updateExample: {
    enabled: false,
    audience: 'https://login.chat.example',
    tokenTypes: ['jwt'],
    targetClientId: 'other',
    scopes: ['chat.history'],
    resources: ['https://files.chat.example'],
    authorizationDetailsTypes: ['payment_initiation'],
    tokenScopes: ['email'],
    leastLevel: 2,
    maxAge: 3600,
    email: true,
    ttlSeconds: 60,
  },
  cli: {
    plural: 'cross-domain-policies',
    singular: 'cross-domain-policy',
    help: 'which clients may get grants for authorization servers of other domains',
    shown: ['clientId', 'enabled', 'audience', 'scopes'],
    heads: { name: 'POLICY', clientId: 'CLIENT', targetClientId: 'CLIENT THERE' },
  },
});
export const {
  list: listCrossDomainPolicies,
  create: createCrossDomainPolicy,
  get: getCrossDomainPolicy,
  put: putCrossDomainPolicy,
  remove: deleteCrossDomainPolicy,
} = crossDomainPolicies.routes;
