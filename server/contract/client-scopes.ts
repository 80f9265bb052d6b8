// Client scopes: what a scope puts into tokens. Decisions "Client scope"; specification 4.10.
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { Id, name, RealmName, ScopeName, text } from './names.ts';
import { route } from './route.ts';

/** The scopes of every new realm (features/configuration/client-scopes seeds them). A document can change them but not remove them. */
export const freshClientScopes = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'roles',
  'groups',
  'organization',
  'offline_access',
  'account',
  'uma_protection',
] as const;

export const clientScopes = kind({
  section: 'clientScopes',
  kind: 'clientScope',
  one: 'a client scope',
  many: 'client scopes',
  description: 'Client scopes and the names of the claims they give',
  key: 'name',
  fields: {
    name: ScopeName.describe('The scope that clients ask for'),
    description: text(2000).nullable().describe('Shown on the consent page'),
    includeInTokenScope: z.boolean().describe('Whether the token’s `scope` names it'),
    claims: z.array(name(255)).max(100).describe('Names of the claims that it puts into tokens and userinfo'),
  },
  fresh: { includeInTokenScope: true },
  names: { claims: 'claim' },
  most: 5000,
  problems: ['privilege-escalation'],
  form: { lead: 'Bundles of claims that applications ask for' },
  example: {
    name: 'department',
    description: 'The department that you work in',
    includeInTokenScope: true,
    claims: ['given_name', 'email'],
  },
  updateExample: { description: 'Where you work', includeInTokenScope: false, claims: ['family_name'] },
  cli: {
    help: 'scopes that clients ask for, and their claims',
    shown: ['claims', 'includeInTokenScope', 'description'],
    heads: { name: 'SCOPE', includeInTokenScope: 'IN TOKEN' },
  },
});
export const ClientScope = clientScopes.wire;
export type ClientScope = AnswerOf<typeof clientScopes>;
export type ClientScopeInput = InputOf<typeof clientScopes>;
export const {
  list: listClientScopes,
  create: createClientScope,
  get: getClientScope,
  put: putClientScope,
  remove: deleteClientScope,
} = clientScopes.routes;

const OfClaim = z.strictObject({
  realm: RealmName,
  scopeId: Id.describe('The client scope’s id'),
  claimId: Id.describe('The claim’s id'),
});
const ofClaim = {
  path: '/admin/realms/:realm/client-scopes/:scopeId/claims/:claimId',
  tag: 'client-scopes',
  permission: 'client-scopes:write',
  params: OfClaim,
} as const;
export const addClaimToScope = route({
  ...ofClaim,
  method: 'PUT',
  summary: 'Let a client scope give a claim',
  response: ClientScope,
  problems: ['declared-only', 'not-found'],
});
export const removeClaimFromScope = route({
  ...ofClaim,
  method: 'DELETE',
  summary: 'Let a client scope give a claim no more',
  status: 204,
  problems: ['declared-only', 'not-found'],
});
