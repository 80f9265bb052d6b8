// The tokens that a client would get for a user or for itself, and where each claim comes from. Nothing is issued.
// Decisions "Token preview".
import { z } from 'zod';
import { claimSources } from './claims.ts';
import { ById, Id, text } from './names.ts';
import { route } from './route.ts';

const tag = 'token-preview';

export const ClaimOrigin = z
  .object({
    claim: z.string().describe('The claim; a dot nests it in an object'),
    from: z
      .enum(['server', 'mapper', 'client-scope'])
      .describe(
        '`server`: the server sets it. `mapper`: a mapper of the client. `client-scope`: a claim of that scope',
      ),
    scope: z.string().nullable().describe('The client scope that names the claim'),
    source: z.enum(claimSources).nullable().describe('As the mapper or claim says'),
    attribute: z.string().nullable(),
    message: z.string().describe('The same in words'),
    hidden: z.boolean().describe('true: the caller may not see the value, which is `(hidden)` here'),
  })
  .meta({ id: 'ClaimOrigin' });
export type ClaimOrigin = z.infer<typeof ClaimOrigin>;

export const PreviewedToken = z
  .object({
    claims: z.record(z.string(), z.unknown()).describe('A value in parentheses differs in each token'),
    origins: z.array(ClaimOrigin),
  })
  .meta({ id: 'PreviewedToken' });
export type PreviewedToken = z.infer<typeof PreviewedToken>;

export const TokenPreview = z
  .object({
    grantedScopes: z.array(z.string()),
    refused: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .describe('Why the client would get no such tokens; empty: it would get them'),
    consentNeeded: z.boolean().describe('Whether the user is asked to agree, unless they have agreed already'),
    accessToken: PreviewedToken,
    idToken: PreviewedToken.nullable().describe('null: without a user, or without the scope `openid`'),
    userinfo: PreviewedToken.nullable(),
  })
  .meta({ id: 'TokenPreview' });
export type TokenPreview = z.infer<typeof TokenPreview>;

export const TokenPreviewInput = z.strictObject({
  userId: Id.optional().describe('Needs `users:read` for the user; left out: the client for itself'),
  scope: text(2000)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be names of scopes, separated by blanks')
    .optional()
    .describe('As the application asks for them; left out: the client’s default scopes, and `openid` for a user'),
  resource: text(4000).optional().describe('RFC 8707: the resources that the token is for, separated by blanks'),
});

export const previewToken = route({
  method: 'GET',
  path: '/admin/realms/:realm/clients/:id/token-preview',
  operationId: 'previewToken',
  tag,
  summary: 'The tokens that a client would get, and where each claim comes from',
  description:
    'The claims of the access token, the ID token and the userinfo answer as the token endpoint would make them now, unsigned. Nothing is issued or written. Attributes that the user profile hides from administrators are `(hidden)`; so are values from groups’ attributes without `groups:read`, and organizations without `organizations:read`.',
  permission: 'clients:read',
  reach: { client: 'id' },
  params: ById,
  query: TokenPreviewInput,
  response: TokenPreview,
  problems: ['not-found', 'invalid-request'],
});
