// Client scopes: what a scope puts into tokens. Decisions "Client scope"; specification 4.10.
import { z } from 'zod';
import { Id, name, RealmName, text } from './names.ts';
import { resourceRoutes } from './resource.ts';
import { route } from './route.ts';

const ScopeName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be an RFC 6749 scope token');
const fields = {
  name: ScopeName.describe('The scope that clients ask for'),
  description: text(2000).nullable().describe('Shown on the consent page'),
  includeInTokenScope: z.boolean().describe('Whether the token’s `scope` names it'),
  claims: z.array(name(255)).max(100).describe('Names of the claims that it puts into tokens and userinfo'),
};

export const ClientScope = z.object({ id: Id, ...fields }).meta({ id: 'ClientScope' });
export type ClientScope = z.infer<typeof ClientScope>;
export const ClientScopeInput = z.strictObject(fields).partial().required({ name: true });
export type ClientScopeInput = z.infer<typeof ClientScopeInput>;
/** In a realm document; the natural key is the name. */
export const ClientScopeDocument = ClientScopeInput;
export type ClientScopeDocument = ClientScopeInput;

/** What every fresh realm has (features/configuration/client-scopes seeds them): a document can add to them, not take them away. */
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

export const clientScopeRoutes = resourceRoutes({
  path: 'client-scopes',
  area: 'client-scopes',
  one: 'a client scope',
  many: 'client scopes',
  wire: ClientScope,
  input: ClientScopeInput,
  update: ClientScopeInput.partial().extend({ id: Id.optional() }),
  example: {
    name: 'department',
    description: 'The department that you work in',
    includeInTokenScope: true,
    claims: ['given_name', 'email'],
  },
  updateExample: { description: 'Where you work' },
  problems: ['privilege-escalation'],
});
export const {
  list: listClientScopes,
  create: createClientScope,
  get: getClientScope,
  put: putClientScope,
  remove: deleteClientScope,
} = clientScopeRoutes;

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
  problems: ['not-found'],
});
export const removeClaimFromScope = route({
  ...ofClaim,
  method: 'DELETE',
  summary: 'Let a client scope give a claim no more',
  status: 204,
  problems: ['not-found'],
});
