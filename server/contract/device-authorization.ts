// Device authorization as devices see it: RFC 8628. Parsed by the rules of OAuth's forms (http/form.ts).
import { z } from 'zod';
import { InRealm } from './names.ts';
import { ClientParameters, failuresWithoutBrowser } from './oauth.ts';
import { servedTo } from './surface.ts';

const parameter = z.string().optional();

export const deviceAuthorizationRoute = {
  method: 'POST',
  url: '/realms/:realm/oauth2/device_authorization',
  config: servedTo('client'),
  schema: {
    tags: ['openid-connect'],
    params: InRealm,
    operationId: 'authorizeDevice',
    security: [{ clientSecret: [] }, {}],
    summary: 'Device authorization (RFC 8628): codes for a device, and for the person who allows it elsewhere',
    description:
      'The client authenticates as at the token endpoint, and has the grant type among its own. It shows `user_code` and `verification_uri`, and asks the token endpoint with `device_code` no more often than `interval` says: `authorization_pending`, `slow_down`, `access_denied` and `expired_token` are answers there.',
    consumes: ['application/x-www-form-urlencoded'],
    body: z.object({
      scope: parameter.describe('As at the authorization endpoint'),
      resource: z.array(z.string()).optional().describe('RFC 8707; may be repeated'),
      claims: parameter.describe('As at the authorization endpoint'),
      acr_values: parameter,
      authorization_details: parameter.describe('As at the authorization endpoint'),
      ...ClientParameters,
    }),
    response: {
      200: z
        .object({
          device_code: z.string(),
          user_code: z.string().describe('Eight letters, no vowels, in two groups; case does not matter'),
          verification_uri: z.string(),
          verification_uri_complete: z.string().describe('With the user code in it, for a QR code'),
          expires_in: z.int(),
          interval: z.int(),
        })
        .meta({ id: 'DeviceAuthorizationResponse' }),
      ...failuresWithoutBrowser,
    },
  },
} as const;
