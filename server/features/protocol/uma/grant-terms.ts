// The properties of the grant that the token endpoint needs before the first request (grant.ts is loaded then).
import { UMA_TICKET, umaTicketBody } from '../../../contract/uma-grant.ts';
import type { Grant } from '../token/grant.ts';

export const umaTerms = {
  grantType: UMA_TICKET,
  body: umaTicketBody,
  clientAuth: 'any',
  scopePolicy: 'granted',
  resourcePolicy: 'client',
  ownBehalf: () => false,
} satisfies Omit<Grant<typeof umaTicketBody>, 'authorize'>;
