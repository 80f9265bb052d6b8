// Global Token Revocation (draft-parecki-oauth-global-token-revocation): a client that may end sessions ends all access of a
// user. features/protocol/revoke/global.ts does it.
import { z } from 'zod';
import { InRealm, text } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

const value = text(2048).min(1);
/** Subject identifiers, RFC 9493 §3. */
export const RevokedSubject = z.discriminatedUnion('format', [
  z
    .object({ format: z.literal('iss_sub'), iss: value, sub: value })
    .describe('The `sub` of the realm’s tokens, or of an identity provider that the user is linked to'),
  z.object({ format: z.literal('email'), email: value }).describe('A confirmed e-mail address'),
  z.object({ format: z.literal('opaque'), id: value }).describe('The user’s id'),
]);
export type RevokedSubject = z.infer<typeof RevokedSubject>;
export const GlobalRevocation = z.object({ sub_id: RevokedSubject });

export const globalRevocationRoute = {
  method: 'POST',
  url: '/realms/:realm/oauth2/global-token-revocation',
  config: servedTo('client'),
  schema: {
    tags: ['oauth2'],
    params: InRealm,
    operationId: 'revokeGlobally',
    security: [{ accessToken: [] }],
    summary: 'End all sessions, grants and tokens of a user (Global Token Revocation)',
    description:
      'The caller is a client whose service account has `sessions:write` in the realm, with a token for the admin API.',
    consumes: ['application/json'],
    body: GlobalRevocation.meta({ examples: [{ sub_id: { format: 'email', email: 'ana@example.com' } }] }),
    response: {
      204: z.null().describe('The user’s access has ended'),
      400: OAuthErrorBody.describe('`invalid_request`: no subject identifier of a format that is supported'),
      401: OAuthErrorBody.describe('`invalid_token`; see WWW-Authenticate'),
      403: OAuthErrorBody.describe('`access_denied`: the client may not end the user’s access'),
      404: OAuthErrorBody.describe('`not_found`: there is no such user, or no such realm'),
      default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;
