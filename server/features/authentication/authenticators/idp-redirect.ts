// The authenticator idp-redirect: another identity provider says who it is. How is features/authentication/brokering's.

import { z } from 'zod';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import { phrase } from '../../../contract/phrases.ts';
import type { Method } from './authenticator.ts';

export interface IdpRedirectDeps {
  brokering: Pick<Method, 'begin' | 'beside' | 'verify' | 'guesses' | 'foresee' | 'atEnd'>;
}

export const createIdpRedirect = ({ brokering }: IdpRedirectDeps): Method => ({
  id: BY_PROVIDER,
  displayName: phrase('identityProvider'),
  factorClass: 'NONE',
  levelOfAssurance: 1,
  category: 'METHOD',
  identifies: true,
  enrols: false,
  // As Entra says it: RFC 8176 has no word for it.
  amr: ['fed'],
  // Nobody has it set up; whoever is to come by it is sent there.
  availableTo: () => false,
  standsFor: 'username-password',
  configSchema: z.strictObject({
    provider: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/)
      .optional()
      .describe('The alias of the identity provider; left out: people choose among those that are not hidden'),
  }),
  ...brokering,
});
