// The registry: all authenticators of this server, in the order of GET /authenticators.
import type { AuthenticatorRecord } from './authenticator.ts';
import { conditions, mfaEnabled, riskCondition } from './conditions.ts';
import { firstSteps } from './first-sign-in.ts';
import { createIdpRedirect, type IdpRedirectDeps } from './idp-redirect.ts';
import { createMagicLink, type MagicLinkDeps } from './magic-link.ts';
import { createMessageCodes, type MessageCodeDeps } from './message-code.ts';
import { createOtp, type OtpDeps } from './otp.ts';
import { createPush, type PushDeps } from './push.ts';
import { createQr, type QrDeps } from './qr.ts';
import { createRecoveryCodesMethod, type RecoveryCodesDeps } from './recovery-codes.ts';
import { createUsernamePassword, type UsernamePasswordDeps } from './username-password.ts';
import { createWebauthn, type WebauthnDeps } from './webauthn.ts';

type Deps = OtpDeps &
  WebauthnDeps &
  MessageCodeDeps &
  MagicLinkDeps &
  RecoveryCodesDeps &
  PushDeps &
  QrDeps &
  IdpRedirectDeps &
  UsernamePasswordDeps;

export const createRegistry = (deps: Deps): AuthenticatorRecord[] => [
  createUsernamePassword(deps),
  createOtp(deps),
  createWebauthn(deps),
  ...createMessageCodes(deps),
  createMagicLink(deps),
  createPush(deps),
  createQr(deps),
  createRecoveryCodesMethod(deps),
  createIdpRedirect(deps),
  riskCondition,
  mfaEnabled,
  ...conditions,
  ...firstSteps,
];
