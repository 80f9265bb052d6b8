// The terms of the grants across domains at the token endpoint: a grant for another domain, and another domain's grant. Their
// rules (issue.ts, redeem.ts) are loaded with the first request for one.
import { z } from 'zod';
import { JWT_BEARER, jwtBearerBody, TOKEN_EXCHANGE } from '../../../contract/oauth.ts';
import { ID_JAG_TYPE, JWT_GRANT_TYPE } from '../../../contract/token-types.ts';
import type { AskedGrant, Grant } from '../token/grant.ts';
import { kindOfGrant, typeIn } from './kinds.ts';

const parameter = z.string().optional();
/** RFC 8693 §2.1. */
export const issueBody = z.object({
  requested_token_type: z.enum([ID_JAG_TYPE, JWT_GRANT_TYPE]),
  subject_token: z.string(),
  subject_token_type: z.string(),
  actor_token: parameter,
  actor_token_type: parameter,
  audience: z.array(z.string()),
  resource: z.array(z.string()),
});
export type IssueGrant = Grant<typeof issueBody>;
export type RedeemGrant = Grant<typeof jwtBearerBody>;

const requests: readonly (string | undefined)[] = [ID_JAG_TYPE, JWT_GRANT_TYPE];

/** A client of this realm gets a grant for another domain's authorization server. */
export const issueTerms = {
  grantType: TOKEN_EXCHANGE,
  label: 'cross-domain-issue',
  body: issueBody,
  appliesTo: ({ form }: AskedGrant) => requests.includes(form.get('requested_token_type')),
  clientAuth: 'proof',
  // An agent acts for users only by delegation/grant.ts.
  allowedTo: ({ agent, grantTypes }) => agent === null && grantTypes.has(TOKEN_EXCHANGE),
  scopePolicy: 'granted',
  resourcePolicy: 'elsewhere',
  takesDetails: true,
  ownBehalf: () => false,
} as const satisfies Omit<IssueGrant, 'authorize'>;

/** The request authenticates a client, which the assertion of a workload needs not. */
const authenticates = ({ form, authorization }: AskedGrant): boolean =>
  authorization !== undefined || ['client_secret', 'client_assertion'].some((name) => form.get(name) !== undefined);

/** A client of this realm redeems another domain's grant. @param isTrusted whether the realm takes untyped grants of the assertion's issuer */
export const redeemTerms = (isTrusted: (realm: string, assertion: string) => Promise<boolean>) =>
  ({
    grantType: JWT_BEARER,
    label: 'cross-domain-redeem',
    body: jwtBearerBody,
    appliesTo: (asked: AskedGrant) => {
      const assertion = asked.form.get('assertion') ?? '';
      const kind = kindOfGrant(typeIn(assertion));
      if (kind !== 'untyped') return kind !== undefined;
      return authenticates(asked) && isTrusted(asked.realm, assertion);
    },
    clientAuth: 'proof',
    // The realm's trusts name the clients.
    allowedTo: ({ agent }) => agent === null,
    scopePolicy: 'granted',
    resourcePolicy: 'client',
    takesDetails: true,
    ownBehalf: () => false,
  }) as const satisfies Omit<RedeemGrant, 'authorize'>;
