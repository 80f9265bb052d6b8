// The registry: every authenticator that works on this server, in the order that GET /authenticators lists them.
import type { AuthenticatorRecord } from './authenticator.ts';
import { mfaEnabled, riskCondition } from './conditions.ts';
import { createOtp, type OtpDeps } from './otp.ts';
import { createUsernamePassword } from './username-password.ts';

export const createRegistry = (deps: OtpDeps & Parameters<typeof createUsernamePassword>[0]): AuthenticatorRecord[] => [
  createUsernamePassword(deps),
  createOtp(deps),
  riskCondition,
  mfaEnabled,
];
