// The registry: every authenticator that works on this server, in the order that GET /authenticators lists them.
import type { AuthenticatorRecord } from './authenticator.ts';
import { mfaEnabled, riskCondition } from './conditions.ts';
import { createOtp, type OtpDeps } from './otp.ts';
import { createUsernamePassword } from './username-password.ts';
import { createWebauthn, type WebauthnDeps } from './webauthn.ts';

type Deps = OtpDeps & WebauthnDeps & Parameters<typeof createUsernamePassword>[0];

export const createRegistry = (deps: Deps): AuthenticatorRecord[] => [
  createUsernamePassword(deps),
  createOtp(deps),
  createWebauthn(deps),
  riskCondition,
  mfaEnabled,
];
