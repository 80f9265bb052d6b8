// Workload identity: whose foreign tokens are exchanged for this server's. Specification 2.8, 4.7, 5 rule 5; decisions
// "Workload identity".
import { z } from 'zod';
import { kind } from './kind.ts';
import { InRealm, name, RealmName, text } from './names.ts';
import { OAuthErrorBody, TOKEN_EXCHANGE } from './oauth.ts';
import { servedTo } from './surface.ts';
import { exchangeBody } from './workload-exchange.ts';

const HttpsUrl = z
  .url({ protocol: /^https$/, error: 'must be an absolute https address' })
  .max(2048)
  .refine((s) => !s.includes('\0'), 'must not contain NUL');

/** `spiffe`: a trust domain, whose keys are in its bundle. The rest of its form is checked by the resource. */
const Issuer = z
  .url({
    protocol: /^(https|spiffe)$/,
    error: 'must be an absolute https address, or a trust domain such as spiffe://example.org',
  })
  .max(2048)
  .refine((s) => !s.includes('\0'), 'must not contain NUL');

/** The purpose of a workload identity: its tokens are exchanged, they authenticate a client, or both. */
export const WorkloadUse = z.enum(['exchange', 'authentication', 'both']);

/** Space-delimited scope tokens, RFC 6749 §3.3. */
export const ScopeText = z
  .string()
  .max(4000)
  .regex(
    /^$|^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    'must be scope names separated by single spaces',
  );

export const workloadIdentity = kind({
  section: 'workloadIdentity',
  kind: 'workloadIdentity',
  one: 'a credential',
  many: 'credentials',
  label: 'workload identity',
  description: 'Foreign subjects that may act as a client',
  resource: 'WorkloadIdentity',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    issuer: Issuer.describe('The exact `iss` to trust; or a SPIFFE trust domain, such as spiffe://example.org'),
    jwksUri: HttpsUrl.nullable().describe(
      'Where the issuer publishes its keys, or the trust domain its bundle; null: by OIDC discovery from the issuer',
    ),
    subject: text(1024).min(1).describe('The exact `sub`; no wildcards'),
    audience: text(1024).min(1).describe('The `aud` that the workload must ask its issuer for'),
    clientId: name(255).describe('The client that the workload acts as'),
    scopes: ScopeText.describe('Scopes granted to the minted token, separated by spaces'),
    enabled: z.boolean(),
    use: WorkloadUse.describe(
      'exchange: its tokens are exchanged for tokens of the client; authentication: they authenticate the client at every endpoint, if the client has federated_jwt, spiffe_jwt or spiffe_x509; both',
    ),
    singleUse: z
      .boolean()
      .nullable()
      .describe(
        'Whether a token authenticates the client once, by its `jti`. false: until it expires; null: once if it has a `jti`, but those of Kubernetes and SPIFFE, which workloads get repeatedly, until they expire',
      ),
    adminAccess: z
      .boolean()
      .describe('false: its tokens are never for the admin API, whatever admin roles the client has or is given later'),
  },
  needed: ['issuer', 'subject', 'audience', 'clientId'],
  fresh: { scopes: '', enabled: true, use: 'exchange', adminAccess: true },
  names: { clientId: 'client' },
  answered: { realmId: RealmName },
  most: 5000,
  problems: ['privilege-escalation'],
  describe: { create: 'Trust a subject of a foreign issuer to act as a client' },
  // `clientId` is a client of the realm
  form: { lead: 'Workloads that get tokens without a secret: GitHub Actions, Kubernetes, AWS, Google Cloud' },
  example: {
    name: 'deploy',
    issuer: 'https://token.actions.githubusercontent.com',
    subject: 'repo:acme/shop:ref:refs/heads/main',
    audience: 'https://iam.example.com',
    clientId: 'deployer',
    scopes: 'email',
    enabled: true,
  },
  updateExample: {
    issuer: 'https://issuer.example.com',
    jwksUri: 'https://issuer.example.com/keys',
    subject: 'repo:acme/shop:environment:production',
    audience: 'https://id.example.com',
    scopes: 'email profile',
    enabled: false,
    use: 'both',
    singleUse: false,
    adminAccess: false,
  },
  cli: {
    plural: 'workload-identities',
    shown: ['clientId', 'use', 'enabled', 'issuer', 'subject'],
    heads: { name: 'NAME', clientId: 'ACTS AS' },
  },
});
export const WorkloadIdentityInput = workloadIdentity.input;
export const {
  list: listWorkloadIdentities,
  create: createWorkloadIdentity,
  get: getWorkloadIdentity,
  put: putWorkloadIdentity,
  remove: deleteWorkloadIdentity,
} = workloadIdentity.routes;

/** RFC 8693. Parsed by the rules of OAuth's forms (http/form.ts); this schema documents it. */
const anonymous: { [scheme: string]: string[] }[] = [];
export const workloadTokenRoute = {
  method: 'POST',
  url: '/realms/:realm/workload-identity/token',
  config: servedTo('anonymous'),
  schema: {
    tags: ['workload-identity'],
    operationId: 'exchangeWorkloadToken',
    security: anonymous,
    params: InRealm,
    summary: 'Trade a token of a trusted issuer for an access token',
    description:
      'Needs no client authentication: the presented token is the credential. Every failed exchange is the same 401 ' +
      '`{"error":"invalid_grant"}` after the same time. A malformed request is a 400, too many are a 429.',
    consumes: ['application/x-www-form-urlencoded'],
    body: z.object({
      grant_type: z.literal(TOKEN_EXCHANGE),
      ...exchangeBody.shape,
      scope: z
        .string()
        .optional()
        .describe('Granted is what the credential has of it; left out: all of the credential’s'),
      resource: z.array(z.string()).optional().describe('RFC 8707; may be repeated'),
    }),
    response: {
      200: z
        .object({
          access_token: z.string(),
          token_type: z.enum(['Bearer', 'DPoP']),
          expires_in: z.int(),
          scope: z.string().optional().describe('What was given; absent where that is none'),
        })
        .meta({ id: 'WorkloadToken' }),
      400: OAuthErrorBody.describe('A malformed request'),
      401: OAuthErrorBody.describe('`invalid_grant`, whatever failed'),
      404: OAuthErrorBody.describe('There is no such realm'),
      default: OAuthErrorBody.describe('`slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;
