// The steps of a user's first sign-in with an identity provider, as flows contain them. features/authentication/brokering
// implements them.
import { z } from 'zod';
import type { FirstStep } from './authenticator.ts';

const step = (
  id: string,
  displayName: string,
  firstSignIn: FirstStep['firstSignIn'],
  configSchema: z.ZodType = z.strictObject({}),
): FirstStep => ({
  id,
  displayName,
  factorClass: 'NONE',
  levelOfAssurance: 0,
  category: 'FIRST_SIGN_IN',
  identifies: false,
  firstSignIn,
  configSchema,
});

export const firstSteps: readonly FirstStep[] = [
  step(
    'review-profile',
    'First sign-in: complete the profile',
    'prepares',
    z.strictObject({
      ask: z
        .enum(['missing', 'always'])
        .optional()
        .describe(
          'missing (left out): where something is lacking or doesn’t fit; always: of whoever has no account yet',
        ),
    }),
  ),
  step(
    'confirm-email',
    'First sign-in: confirm the address',
    'prepares',
    z.strictObject({
      ask: z
        .enum(['realm', 'always'])
        .optional()
        .describe('realm (left out): where the realm confirms addresses and the provider hasn’t; always: of everybody'),
    }),
  ),
  step('create-account', 'First sign-in: a new account', 'makes'),
  step('link-password', 'First sign-in: connect an account by its password', 'connects'),
  step('link-email', 'First sign-in: connect an account by a code to its address', 'connects'),
];
