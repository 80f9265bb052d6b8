// The authenticator idp-redirect: an identity provider identifies the user. features/authentication/brokering implements
// it.

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
  // Entra's value; RFC 8176 defines none for this.
  amr: ['fed'],
  // Users don't set it up; they choose it on the page or are sent to a provider.
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
