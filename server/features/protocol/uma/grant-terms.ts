// What the token endpoint knows of the grant before any client asks by it (grant.ts).
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
