// Discovery of User-Managed Access. UMA 2.0 Grant §2. uma.ts has the rest of what a resource server asks.
import { z } from 'zod';
import { InRealm } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

export const umaConfigurationRoute = {
  method: 'GET',
  url: '/realms/:realm/.well-known/uma2-configuration',
  config: servedTo('anonymous'),
  schema: {
    tags: ['authorization-services'],
    params: InRealm,
    operationId: 'getUmaConfiguration',
    security: [] as { [scheme: string]: string[] }[],
    summary: 'Where everything of User-Managed Access is (UMA 2.0 Grant §2)',
    response: {
      200: z.looseObject({
        issuer: z.string(),
        token_endpoint: z.string(),
        permission_endpoint: z.string(),
        resource_registration_endpoint: z.string(),
        introspection_endpoint: z.string(),
      }),
      404: OAuthErrorBody.describe('There is no such realm'),
      default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;
