// Client-initiated backchannel authentication: the endpoint of clients, and what devices call to decide. OpenID Connect CIBA Core 1.0.
// docs/backchannel.md.
import { z } from 'zod';
import { EpochMs, Id, InRealm, RealmName } from './names.ts';
import { ClientParameters, failuresWithoutBrowser } from './oauth.ts';
import { route } from './route.ts';
import { servedTo } from './surface.ts';

const parameter = z.string().optional();
export const backchannelRoute = {
  method: 'POST',
  url: '/realms/:realm/oauth2/backchannel_authentication',
  config: servedTo('client'),
  schema: {
    tags: ['openid-connect'],
    params: InRealm,
    operationId: 'authenticateByBackchannel',
    security: [{ clientSecret: [] }, {}],
    summary: 'Ask a person on their device (OpenID Connect CIBA)',
    description:
      'For confidential clients with the grant. The answer is the same whether the person exists or not. Exactly one hint names the person.',
    consumes: ['application/x-www-form-urlencoded'],
    body: z.object({
      scope: parameter.describe('With openid'),
      login_hint: parameter.describe('A username or an e-mail address'),
      login_hint_token: parameter.describe(
        'A JWT that the client signed: `iss` its clientId, `aud` the issuer, `exp`, and `sub_id` (RFC 9493)',
      ),
      id_token_hint: parameter.describe('An ID token that the client got, expired or not'),
      binding_message: parameter.describe(
        'What the device shows, and the application beside it; 100 characters at most',
      ),
      client_notification_token: parameter.describe('For a client with a notification endpoint'),
      user_code: parameter.describe('Needed for a client with backchannelUserCodeParameter'),
      requested_expiry: parameter.describe('Seconds, from 30 to 600'),
      acr_values: parameter,
      authorization_details: parameter.describe('As at the authorization endpoint'),
      resource: z.array(z.string()).optional().describe('RFC 8707; may be repeated'),
      request: parameter.describe('All of it as a JWT that the client has signed; it counts once'),
      ...ClientParameters,
    }),
    response: {
      200: z
        .object({ auth_req_id: z.string(), expires_in: z.int(), interval: z.int() })
        .meta({ id: 'BackchannelAuthenticationResponse' }),
      ...failuresWithoutBrowser,
    },
  },
} as const;

const tag = 'devices';
const surface = 'devices' as const;
const at = '/realms/:realm/backchannel' as const;

export const BackchannelQuestion = z
  .object({
    id: Id,
    challenge: z.string(),
    username: z.string(),
    application: z.string(),
    bindingMessage: z.string().nullable().describe('The application shows the same one'),
    asks: z.array(z.string()).describe('What the application will get, a line for each; the device shows all of it'),
    createdAt: EpochMs,
    expiresAt: EpochMs,
  })
  .meta({ id: 'BackchannelQuestion' });
export type BackchannelQuestion = z.infer<typeof BackchannelQuestion>;

export const listBackchannelQuestions = route({
  method: 'GET',
  path: at,
  operationId: 'listBackchannelQuestions',
  tag,
  surface,
  summary: 'What applications ask the person without a browser, newest first',
  principal: 'device',
  permission: null,
  params: InRealm,
  response: z.array(BackchannelQuestion),
});
export const decideBackchannel = route({
  method: 'POST',
  path: `${at}/:id/decide`,
  operationId: 'decideBackchannel',
  tag,
  surface,
  summary: 'Approve what an application asks, or refuse it',
  description:
    'The device signs `challenge`, `decision` (`approve`, `deny`), and to approve, all that it showed: `bindingMessage` (null where there is none) and `asks`.',
  principal: 'device',
  permission: null,
  params: z.strictObject({ realm: RealmName, id: Id }),
  status: 204,
  problems: ['not-found', 'wrong-state'],
});
