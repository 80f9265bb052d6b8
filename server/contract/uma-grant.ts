// The grant of User-Managed Access 2.0: its parameters at the token endpoint, and its responses besides a token. UMA
// 2.0 Grant §3.3.
import { z } from 'zod';

export const UMA_TICKET = 'urn:ietf:params:oauth:grant-type:uma-ticket';
/** UMA 2.0 Grant §3.3.1 */
export const ID_TOKEN_FORMAT = 'http://openid.net/specs/openid-connect-core-1_0.html#IDToken';

const parameter = z.string().optional();
export const umaTicketBody = z.object({
  ticket: parameter.describe('What the resource server got when it refused; or permission, or audience alone'),
  claim_token: parameter.describe(
    'Who asks: an access token or ID token that this client got of a person; left out: the client itself',
  ),
  claim_token_format: parameter.describe(`urn:ietf:params:oauth:token-type:access_token or ${ID_TOKEN_FORMAT}`),
  rpt: parameter.describe('A token of this grant, whose permissions are asked for again beside'),
  permission: z
    .array(z.string())
    .max(100, 'come at most 100 times')
    .optional()
    .describe('`resource#scope,scope`, without a ticket; may be repeated'),
  audience: z
    .array(z.string())
    .max(1, 'comes once')
    .optional()
    .describe('The clientId of the resource server; without a ticket and a permission: all that is permitted there'),
  response_mode: z
    .enum(['decision', 'permissions'], { error: 'must be decision or permissions' })
    .optional()
    .describe('A yes, or what is permitted, in place of a token'),
  submit_request: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .optional()
    .describe('With a ticket: ask the owners for what is not permitted'),
});

export const UmaDecision = z.object({ result: z.literal(true) }).meta({ id: 'UmaDecision' });
export const UmaPermission = z
  .object({
    rsid: z.string().describe('The resource: the id of a registered one, or the name of a configured one'),
    rsname: z.string(),
    scopes: z.array(z.string()).optional(),
    shared: z.array(z.string()).optional().describe('Of the scopes, those that its owner shares'),
  })
  .meta({ id: 'UmaPermission' });
export type UmaPermission = z.infer<typeof UmaPermission>;
