// The terms of the grant of transaction tokens at the token endpoint. Its rules (issue.ts) are loaded with the first request.
import { z } from 'zod';
import { TOKEN_EXCHANGE } from '../../../contract/oauth.ts';
import { TXN_TOKEN_TYPE } from '../../../contract/token-types.ts';
import type { AskedGrant, Grant } from '../token/grant.ts';

const parameter = z.string().optional();
/** draft-ietf-oauth-transaction-tokens §7.1. */
export const txnTokenBody = z.object({
  requested_token_type: z.literal(TXN_TOKEN_TYPE),
  subject_token: z.string(),
  subject_token_type: z.string(),
  actor_token: parameter,
  audience: z.array(z.string()),
  request_context: parameter,
  request_details: parameter,
});
export type TxnTokenGrant = Grant<typeof txnTokenBody>;

export const txnTokenTerms = {
  grantType: TOKEN_EXCHANGE,
  label: 'transaction-token',
  body: txnTokenBody,
  appliesTo: ({ form }: AskedGrant) => form.get('requested_token_type') === TXN_TOKEN_TYPE,
  clientAuth: 'proof',
  allowedTo: ({ agent, grantTypes }) => agent === null && grantTypes.has(TOKEN_EXCHANGE),
  scopePolicy: 'granted',
  // The audience is a trust domain, and resources have no meaning in it.
  resourcePolicy: 'elsewhere',
  ownBehalf: () => false,
} as const satisfies Omit<TxnTokenGrant, 'authorize'>;
