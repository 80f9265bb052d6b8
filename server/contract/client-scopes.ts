// Client scopes: what a scope puts into tokens. Decisions "Client scope"; specification 4.10.
import { z } from 'zod';
import { Id, name, text } from './names.ts';
import { resourceRoutes } from './resource.ts';

/** What the server itself says in tokens: a scope that could say it could make a token of anyone. */
export const reservedClaims: ReadonlySet<string> = new Set(
  'iss sub aud exp nbf iat jti azp client_id scope sid typ auth_time acr amr nonce at_hash c_hash s_hash cnf act may_act token_use workload admin_api'.split(
    ' ',
  ),
);

/** What says which roles somebody holds comes from the roles that they hold: whoever may edit scopes could else give any. */
const roleClaims: ReadonlySet<string> = new Set(['realm_access', 'resource_access']);
export const saysRoles = ({ name }: { name: string }): boolean => roleClaims.has(name.split('.')[0] ?? '');

const claimFields = z.strictObject({
  name: name(255)
    .refine((s) => !reservedClaims.has(s.split('.')[0] ?? ''), 'is a claim that the server itself sets')
    .describe('The claim in the token; a dot nests it in an object'),
  source: z
    .enum([
      'attribute',
      'username',
      'email',
      'emailVerified',
      'firstName',
      'lastName',
      'fullName',
      'locale',
      'groups',
      'roles',
      'constant',
    ])
    .describe('Where the value comes from'),
  value: text(1000).optional().describe('The attribute’s name, or the constant'),
  accessToken: z.boolean().optional().describe('Default false'),
  idToken: z.boolean().optional().describe('Default false'),
  userinfo: z.boolean().optional().describe('Default true'),
});
/** One claim: where its value comes from and which tokens carry it. */
export const Claim = claimFields.refine((claim) => claim.source === 'roles' || !saysRoles(claim), {
  path: ['source'],
  message: 'must be roles for realm_access and resource_access',
});
export type Claim = z.infer<typeof Claim>;

const ScopeName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be an RFC 6749 scope token');
const fields = {
  name: ScopeName.describe('The scope that clients ask for'),
  description: text(2000).nullable().describe('Shown on the consent page'),
  includeInTokenScope: z.boolean().describe('Whether the token’s `scope` names it'),
  claims: z.array(Claim).max(100).describe('What it puts into tokens and userinfo'),
};

export const ClientScope = z.object({ id: Id, ...fields }).meta({ id: 'ClientScope' });
export type ClientScope = z.infer<typeof ClientScope>;
export const ClientScopeInput = z.strictObject(fields).partial().required({ name: true });
export type ClientScopeInput = z.infer<typeof ClientScopeInput>;
/** In a realm document; the natural key is the name. */
export const ClientScopeDocument = ClientScopeInput;
export type ClientScopeDocument = ClientScopeInput;

/** What every fresh realm has (features/client-scopes seeds them): a document can add to them, not take them away. */
export const freshClientScopes = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'roles',
  'groups',
  'offline_access',
  'account',
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
    claims: [{ name: 'department', source: 'attribute', value: 'department', accessToken: true }],
  },
  updateExample: { description: 'Where you work' },
});
export const {
  list: listClientScopes,
  create: createClientScope,
  get: getClientScope,
  put: putClientScope,
  remove: deleteClientScope,
} = clientScopeRoutes;
