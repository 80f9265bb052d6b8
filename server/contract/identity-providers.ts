// Identity providers: other servers by which users sign in. Decisions "Identity provider"; specification 2.10, 4.10.
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { InRealm, isHttpsAddress, isLoopback, name, text } from './names.ts';
import { DomainName } from './organizations.ts';
import { PemCertificate } from './pem.ts';
import { route } from './route.ts';

/** A document may have a placeholder in place of an endpoint. The code that calls the endpoint resolves it. */
export const isPlaceholder = (value: unknown): boolean =>
  typeof value === 'string' && /^\$\{SVC_VAR_[A-Z0-9_]+\}$/.test(value);
/** Plain http is valid only for this machine; the outbound guard decides whether the server may connect at all. */
export const isProviderAddress = (s: unknown): boolean =>
  isHttpsAddress(s) || (typeof s === 'string' && isHttpsAddress(s.replace(/^http:/, 'https:')) && isLoopback(s));
const Endpoint = z
  .string()
  .max(2048)
  .refine((s) => isProviderAddress(s) || isPlaceholder(s), 'must be an absolute https address');

/** The fields of each type; other fields would have no effect there. */
export const endpointFields = [
  'issuer',
  'authorizationEndpoint',
  'tokenEndpoint',
  'userinfoEndpoint',
  'jwksUri',
  'endSessionEndpoint',
  'metadataUrl',
  'singleSignOnUrl',
  'singleLogoutUrl',
] as const;
const Config = z
  .strictObject({
    issuer: Endpoint.describe('oidc: the exact `iss`; its endpoints are found by discovery where they are left out'),
    authorizationEndpoint: Endpoint.describe('oidc, oauth2'),
    tokenEndpoint: Endpoint.describe('oidc, oauth2'),
    userinfoEndpoint: Endpoint.describe('oidc, oauth2'),
    jwksUri: Endpoint.describe('oidc: where its keys are'),
    endSessionEndpoint: Endpoint.describe('oidc: where people are signed out'),
    tokenEndpointAuthMethod: z
      .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
      .describe('oidc, oauth2'),
    pkce: z.boolean().describe('oidc, oauth2: whether a code challenge is sent; left out: it is'),
    trustEmail: z
      .boolean()
      .describe('Whether its e-mail addresses count as confirmed, also where it does not say so (`email_verified`)'),
    storeToken: z
      .boolean()
      .describe('oidc, oauth2: whether a person’s access token there is kept, sealed, while it is good'),
    tokenReaders: z
      .array(name(255))
      .max(50)
      .describe('oidc, oauth2: the clients that may read it for the person; nobody else may'),
    metadataUrl: Endpoint.describe('saml: where its metadata is'),
    metadataCertificate: PemCertificate.describe('saml: metadata from there counts only if this key signed it'),
    entityId: text(1024).min(1).describe('saml: its entity id'),
    singleSignOnUrl: Endpoint.describe('saml'),
    singleLogoutUrl: Endpoint.describe('saml'),
    binding: z.enum(['POST', 'Redirect']).describe('saml: how requests go there'),
    signingCertificates: z.array(PemCertificate).max(10).describe('saml: PEM'),
    nameIdFormat: z.enum(['persistent', 'transient', 'emailAddress', 'unspecified']).describe('saml'),
    signRequests: z.boolean().describe('saml: whether sign-ons are asked for with a signature; logouts always are'),
    wantAssertionsEncrypted: z
      .boolean()
      .describe('saml: the realm’s metadata has a key to encrypt for, and plain assertions are refused'),
  })
  .partial();
export type ProviderConfig = z.infer<typeof Config>;

const both = [
  ...['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint', 'tokenEndpointAuthMethod', 'pkce'],
  ...['trustEmail', 'storeToken', 'tokenReaders'],
];
export const configFields: Readonly<Record<'oidc' | 'oauth2' | 'saml', readonly string[]>> = {
  oidc: [...both, 'issuer', 'jwksUri', 'endSessionEndpoint'],
  oauth2: both,
  saml: [
    'metadataUrl',
    'metadataCertificate',
    'entityId',
    'singleSignOnUrl',
    'singleLogoutUrl',
    'binding',
    'signingCertificates',
    'nameIdFormat',
    'signRequests',
    'wantAssertionsEncrypted',
    'trustEmail',
  ],
};

const NOT_SAML = ['oidc', 'oauth2'] as const;
const typesWith = (field: string): string[] =>
  Object.entries(configFields).flatMap(([type, fields]) => (fields.includes(field) ? [type] : []));

const Mapper = z.strictObject({
  name: name(255).describe('Unique in the provider'),
  claim: name(255).describe('What the provider says: a claim, or a SAML attribute'),
  value: text(1000).nullable().optional().describe('Only where the claim has this value; null: whichever'),
  to: z.enum(['attribute', 'property', 'role', 'group']).describe('What it becomes of the user'),
  target: name(2000).describe('The attribute’s or property’s name, the role, the group’s path'),
});

export const identityProviders = kind({
  section: 'identityProviders',
  kind: 'identityProvider',
  one: 'an identity provider',
  many: 'identity providers',
  description: 'By whom else people sign in, by alias',
  key: 'alias',
  at: 'alias',
  fields: {
    alias: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/, 'may hold letters, digits and . _ -')
      .describe('Unique in the realm; stands in addresses, and stays'),
    type: z.enum(['oidc', 'oauth2', 'saml']).describe('What it speaks'),
    displayName: text(255).nullable().describe('What the sign-in page calls it'),
    enabled: z.boolean().describe('Whether people may sign in by it'),
    hidden: z.boolean().describe('Not on the sign-in page, only by a hint'),
    clientId: text(1024).nullable().describe('The realm’s name there'),
    scopes: z.array(name(255)).max(100).describe('What is asked for'),
    config: Config.describe('By type; endpoints are https'),
    mappers: z
      .array(Mapper)
      .max(200)
      .refine((all) => new Set(all.map((m) => m.name)).size === all.length, 'must not have a name twice')
      .describe('What becomes of what it says'),
    syncMode: z.enum(['import', 'always']).describe('When mappers count: at the first sign-in, or at each'),
    firstLoginFlow: name(255)
      .nullable()
      .describe(
        'Alias of the flow that whoever comes for the first time has to do, too, before that of what they sign in to',
      ),
    linking: z.enum(['ask', 'never']).describe('What happens where somebody has the address already'),
    domains: z.array(DomainName).max(100).describe('Whose people are sent there by their address'),
  },
  needed: ['type'],
  fresh: { enabled: true, hidden: false, config: {}, syncMode: 'import', linking: 'ask' },
  names: { firstLoginFlow: 'flow' },
  secrets: { secret: text(1024).min(1).describe('The client’s secret there; write-only') },
  namedLists: { mappers: 'name' },
  placeholders: endpointFields.map((field) => `config.${field}`),
  most: 1000,
  mostInResource: 200,
  problems: ['in-use', 'last-administrator', 'privilege-escalation'],
  describe: {
    create: 'Create an identity provider',
    remove: 'Delete an identity provider that no organization names',
  },
  form: { lead: 'Other places where people sign in: Google, Entra, Okta, any OpenID provider, SAML' },
  applies: {
    by: 'type',
    where: {
      scopes: NOT_SAML,
      secret: NOT_SAML,
      ...Object.fromEntries(Object.keys(Config.shape).map((field) => [`config.${field}`, typesWith(field)])),
    },
  },
  example: {
    alias: 'corporate',
    type: 'oidc',
    displayName: 'Corporate sign-in',
    clientId: 'realmkeeper',
    secret: 'the secret there',
    scopes: ['openid', 'email'],
    config: { issuer: 'https://id.example.com' },
  },
  updateExample: {
    displayName: 'Sign-in of the company',
    enabled: false,
    hidden: true,
    clientId: 'us',
    scopes: ['openid'],
    config: { pkce: false, issuer: 'https://other.example.com' },
    mappers: [
      { name: 'unit', claim: 'department', to: 'attribute', target: 'department' },
      { name: 'editors', claim: 'groups', to: 'role', target: 'editor', value: 'editors' },
    ],
    syncMode: 'always',
    firstLoginFlow: 'browser',
    linking: 'never',
    domains: ['b.example', 'a.example'],
    secret: 'another secret there',
  },
  cli: {
    help: 'by whom else people sign in: OpenID Connect, OAuth 2, SAML 2.0',
    shown: ['type', 'enabled', 'displayName'],
    heads: { alias: 'PROVIDER', displayName: 'NAME', secretSet: 'SECRET' },
  },
});
export const IdentityProviderInput = identityProviders.input;
export type IdentityProvider = AnswerOf<typeof identityProviders>;
export type IdentityProviderInput = InputOf<typeof identityProviders>;
export const {
  list: listIdentityProviders,
  create: createIdentityProvider,
  get: getIdentityProvider,
  put: putIdentityProvider,
  remove: deleteIdentityProvider,
} = identityProviders.routes;

export const ProviderCheck = z.object({
  check: z
    .enum(['discovery', 'keys', 'endpoint', 'metadata', 'certificates'])
    .describe('discovery, keys: oidc; endpoint: oauth2; metadata, certificates: saml'),
  result: z.enum(['passed', 'warning', 'failed']),
  message: z.string(),
});
export const IdentityProviderTest = z
  .object({
    ok: z.boolean().describe('Whether no check failed'),
    checks: z.array(ProviderCheck),
    found: z
      .record(z.string(), z.string())
      .describe('Settings that discovery or the metadata gives, by the names of `config`'),
  })
  .meta({ id: 'IdentityProviderTest' });
export type IdentityProviderTest = z.infer<typeof IdentityProviderTest>;
export const testIdentityProvider = route({
  method: 'POST',
  path: '/admin/realms/:realm/identity-providers/test',
  operationId: 'testIdentityProvider',
  tag: 'identity-providers',
  summary: 'Check the settings of an identity provider, saved or not; nothing is written',
  description:
    'Fetches the discovery document and the keys of an OpenID provider, the metadata of a SAML provider, and asks whether the endpoints of an OAuth 2 provider answer. No secret is sent; whether the provider accepts the realm’s client shows at a sign-in.',
  permission: 'identity-providers:write',
  params: InRealm,
  body: identityProviders.input,
  example: {
    alias: 'corporate',
    type: 'oidc',
    clientId: 'realmkeeper',
    scopes: ['openid', 'email'],
    config: { issuer: 'https://id.example.com' },
  },
  response: IdentityProviderTest,
  recordsNothing: true,
  problems: ['too-many-requests'],
});
