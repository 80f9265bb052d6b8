// Claims: data about a user in tokens and userinfo. Client scopes name them. Decisions "Claim"; specification 4.10.
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { name, text } from './names.ts';

/** The user's id, encrypted, in tokens whose `sub` is another value. */
export const PERSON_CLAIM = 'svc_person';
/** In access tokens: the names of requested claims that userinfo returns in addition to those of the scopes. */
export const USERINFO_CLAIM = 'svc_userinfo';

/**
 * Claims that only the server sets, or that another party takes for the server's word. A mapper that could set one could forge a token of
 * any user. It could forge permissions (UMA, RFC 9396), an introspection's answer (RFC 7662), a logout token (`events`) or the address
 * of further claims (OIDC Core §5.6.2).
 */
export const reservedClaims: ReadonlySet<string> = new Set(
  [
    '__proto__ iss sub sub_id aud exp nbf iat jti azp client_id scope sid gid typ auth_time acr amr nonce at_hash c_hash s_hash',
    'cnf act may_act token_use workload admin_api authorization authorization_details events active token_type',
    `_claim_names _claim_sources ${PERSON_CLAIM} ${USERINFO_CLAIM}`,
  ].flatMap((names) => names.split(' ')),
);

/**
 * Whether a claim would forge roles. A claim with the name of a roles claim must have that source. Otherwise an administrator who may
 * edit scopes could give any role; and a client's role may have the name of a realm role. @returns the wrong field
 */
export function forgesRoles(claim: string, source: string, value: string | null): 'source' | 'value' | undefined {
  const [outer, ...inner] = claim.split('.');
  if (outer === 'realm_access') return source === 'roles' ? undefined : 'source';
  if (outer !== 'resource_access') return undefined;
  if (source !== 'clientRoles') return 'source';
  const client = value ?? '';
  const said = inner.join('.');
  return said === client || (client !== '' && said === `${client}.roles`) ? undefined : 'value';
}

export const claimSources = [
  'attribute',
  'property',
  'roles',
  'clientRoles',
  'groups',
  'organization',
  'constant',
  'audience',
  'session',
] as const;
export const claimPlaces = ['accessToken', 'idToken', 'userinfo', 'introspection'] as const;
export type ClaimPlace = (typeof claimPlaces)[number];
export const jsonTypes = ['string', 'number', 'boolean', 'json'] as const;
export const userProperties = [
  'username',
  'email',
  'emailVerified',
  'firstName',
  'lastName',
  'fullName',
  'updatedAt',
] as const;
export const sessionFacts = ['acr', 'amr', 'authTime', 'sid'] as const;

/** Every field but the natural key. */
export const claimFields = {
  claim: name(255)
    .nullable()
    .describe('The claim in the token, where it is another than the name; a dot nests it in an object'),
  source: z.enum(claimSources).describe('Where the value comes from; organization: those that the person belongs to'),
  attribute: name(255)
    .nullable()
    .describe(
      `Of attribute: which one (default: the claim); of property: ${userProperties.join(', ')}; of session: ${sessionFacts.join(', ')}`,
    ),
  value: text(1000)
    .nullable()
    .describe('Of constant: the value; of audience: whom the token is for too; of clientRoles: of which client alone'),
  multivalued: z.boolean().describe('true: always a list; false: one value stands alone'),
  aggregate: z
    .boolean()
    .describe(
      'Of attribute: true: the values of the person and of all groups that they are in; false: the person’s, or else those of the first of these groups that has some',
    ),
  jsonType: z
    .enum(jsonTypes)
    .describe(
      'What attributes’ values and constants are in the token; of organization: string its name, json `{name: {id}}`',
    ),
  in: z.array(z.enum(claimPlaces)).max(4).describe('Which of them carry it'),
};

/** A claim's default values. */
export const freshClaim = {
  claim: null,
  source: 'attribute',
  attribute: null,
  value: null,
  multivalued: false,
  aggregate: false,
  jsonType: 'string',
  in: ['userinfo'],
} as const satisfies z.input<z.ZodObject<typeof claimFields>>;

/** Examples of a claim, and of an update; `in` is each kind's own there. */
export const claimExample = {
  name: 'department',
  source: 'attribute',
  attribute: 'department',
  in: ['accessToken', 'userinfo'],
} as const;
export const claimUpdateExample = {
  claim: 'division',
  source: 'groups',
  attribute: 'division',
  value: 'v',
  multivalued: true,
  aggregate: true,
  jsonType: 'number',
} as const;

export const claims = kind({
  section: 'claims',
  kind: 'claim',
  area: 'client-scopes',
  one: 'a claim',
  many: 'claims',
  description: 'Claims, which client scopes name: where their values come from',
  key: 'name',
  fields: { name: name(255).describe('The claim’s name, unique in the realm'), ...claimFields },
  fresh: { ...freshClaim, in: [...freshClaim.in] },
  searches: ['name', 'claim'],
  most: 5000,
  describe: { remove: 'Delete a claim; client scopes that named it are left without it' },
  form: { lead: 'What tokens say about people, and where it comes from; client scopes name claims' },
  example: { ...claimExample, in: [...claimExample.in] },
  updateExample: { ...claimUpdateExample, in: ['introspection', 'accessToken'] },
  cli: {
    help: 'what tokens say of people, and where it comes from',
    shown: ['claim', 'source', 'attribute', 'in'],
    heads: { claim: 'IN THE TOKEN', source: 'FROM', attribute: 'WHICH', jsonType: 'TYPE' },
  },
});
export type Claim = AnswerOf<typeof claims>;
export type ClaimInput = InputOf<typeof claims>;
export const {
  list: listClaims,
  create: createClaim,
  get: getClaim,
  put: putClaim,
  remove: deleteClaim,
} = claims.routes;
