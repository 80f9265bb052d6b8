// The parameters with which a workload's token is exchanged. RFC 8693. workload-identity.ts has the credentials and the route.
import { z } from 'zod';

export const JWT_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

/** The exchange's own parameters. */
export const exchangeBody = z.object({
  subject_token: z.string().describe('The JWT of the issuer: RS256, RS384, RS512, ES256, ES384 or ES512'),
  subject_token_type: z.literal(JWT_TOKEN_TYPE, { error: `must be ${JWT_TOKEN_TYPE}` }),
});
