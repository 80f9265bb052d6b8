// The words of the sign-in report: a failed attempt's reason, a risk finding, a step, the end of a flow. Pure.

import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { RiskReason } from '../../../contract/risk.ts';
import type { SignInAttempt } from '../../../contract/sign-in-report.ts';
import type { Because } from '../../authentication/sign-in/state.ts';

const reasons: Record<string, string> = {
  unknown: 'No enabled user has this name',
  wrong: 'The password was wrong',
  locked: 'The user was locked after too many failed attempts',
  disabled: 'The user is disabled',
  away: 'The directory that keeps the password did not answer',
  reported: 'The user reported this password as stolen: it needs to be replaced',
  'away-known': 'The directory did not answer; the last password that it had accepted was right',
  'otp-wrong': 'The one-time code was wrong',
  'otp-used': 'The one-time code had been used before',
  'otp-locked': 'Too many codes were tried',
  'otp-missing': 'A one-time code was needed, and none was sent',
  'code-wrong': 'The code was wrong',
  withdrawn: 'An earlier proof of this sign-in was no longer valid at its end',
  'no-admin-role': 'The user has no admin role',
  late: 'The answer came too late',
  used: 'The answer had been used before',
  'cross-origin': 'The passkey was used in a page of another site',
  risk: 'The realm’s risk policy refused the sign-in',
  'no-second-factor': 'A second factor was needed, and the user has none that could be used',
  exhausted: 'No step was left that the user could take',
  'nothing-to-do': 'The flow has no step that proves who the user is',
  denied: 'The user denied the sign-in on a device',
};

const types: Record<string, string> = {
  LOGIN_SUCCESS: 'Signed in',
  ADMIN_LOGIN_SUCCESS: 'Signed in as an administrator',
  MFA_CHALLENGE: 'A second factor was asked for',
  USER_LOCKED: 'The user was locked after too many failed attempts',
  USER_UNLOCKED: 'An administrator unlocked the user',
};

/** The event in words; an unknown reason is shown as the audit log has it. */
export function attemptWords({ type, reason }: Pick<SignInAttempt, 'type' | 'reason'>): string {
  const because = reason === null ? undefined : (reasons[reason] ?? `The step failed: ${reason}`);
  return types[type] ? [types[type], because].filter(Boolean).join('. ') : (because ?? 'The sign-in failed');
}

export const findingWords: Record<RiskReason, string> = {
  'new-device': 'The user had not signed in with this browser before',
  'new-network': 'The user had not signed in from this network before',
  'new-country': 'The user had not signed in from this country before',
  'impossible-speed': 'The place was too far from the last sign-in for the time between',
  'unusual-hour': 'The user never signs in at this time of day',
  'failed-attempts': 'Several attempts had failed in the hour before',
  'address-velocity': 'Sign-ins of many other users had failed from the same network',
  'breached-password': 'The password is known from a data breach',
  automation: 'The browser looked like a program',
  'security-signal': 'A trusted transmitter of signals had raised the risk of the user',
};

const actions: Record<RequiredAction, string> = {
  UPDATE_PASSWORD: 'choose a new password',
  CONFIGURE_OTP: 'set up an authenticator app',
  CONFIGURE_PASSKEY: 'set up a passkey',
  CONFIGURE_DEVICE: 'set up a device',
  CONFIGURE_RECOVERY_CODES: 'set up recovery codes',
  VERIFY_EMAIL: 'verify the e-mail address',
  VERIFY_PHONE: 'verify the phone number',
  UPDATE_PROFILE: 'complete the profile',
  TERMS: 'accept the terms',
};
/** `accept the terms` */
export const actionVerb = (action: RequiredAction): string => actions[action];
export const actionWords = (action: RequiredAction): string => `The user must ${actionVerb(action)}`;

const missing: Record<string, string> = {
  'username-password': 'The user has no password that can be used',
  otp: 'The user has no authenticator app',
  webauthn: 'The user has no passkey',
  'email-otp': 'The user has no verified e-mail address, or the realm sends no mail',
  'magic-link': 'The user has no verified e-mail address, or the realm sends no mail',
  'sms-otp': 'The user has no verified phone number, or the realm sends no SMS',
  push: 'The user has no device',
  qr: 'The user has no device',
  'recovery-codes': 'The user has no recovery codes',
  'idp-redirect': 'The user is not linked to an enabled identity provider',
};
/** Why the user can't do a step. */
export const missingWords = (authenticatorId: string): string =>
  missing[authenticatorId] ?? `The user has not set up ${authenticatorId}`;

export const refusalWords: Record<Because, string> = {
  risk: 'The realm’s risk policy refuses the sign-in',
  'no-second-factor': 'A second factor is needed; the user has none, and may not set one up in this sign-in',
  exhausted: 'The flow leaves no step that the user could take',
  'nothing-to-do': 'The flow has no step that proves who the user is',
  disabled: 'The user is disabled',
  withdrawn: 'An earlier proof is no longer valid',
  denied: 'The user denied the sign-in',
};
