// Users in words: types, names, required actions, kinds of credentials.
import type { OutputOf } from '../../api/client.ts';
import type { getRequiredActions, getUser, listCredentials } from '../../generated/routes.ts';

export type User = OutputOf<typeof getUser>;
export type Credential = OutputOf<typeof listCredentials>[number];
export type RequiredAction = OutputOf<typeof getRequiredActions>['requiredActions'][number];

/** First and last name; '' if the user has neither. */
export const fullName = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>): string =>
  [firstName, lastName].filter(Boolean).join(' ');

/** In the order in which a sign-in asks for them. */
export const actionWords: Readonly<Record<RequiredAction, string>> = {
  UPDATE_PASSWORD: 'Choose a new password',
  CONFIGURE_OTP: 'Set up an authenticator app',
  CONFIGURE_PASSKEY: 'Set up a passkey',
  CONFIGURE_DEVICE: 'Set up a device',
  CONFIGURE_RECOVERY_CODES: 'Set up recovery codes',
  VERIFY_EMAIL: 'Verify the e-mail address',
  VERIFY_PHONE: 'Verify the phone number',
  UPDATE_PROFILE: 'Complete the profile',
  TERMS: 'Accept the terms',
};
export const allActions = Object.keys(actionWords) as RequiredAction[];

const credentialTypes: Readonly<Record<string, string>> = {
  password: 'Password',
  otp: 'Authenticator app',
  webauthn: 'Passkey',
  device: 'Device',
  'recovery-codes': 'Recovery codes',
  'user-code': 'Code for questions on devices',
};
export const credentialWords = (type: string): string => credentialTypes[type] ?? type;

/** `1 user`, `3 users` */
export const count = (size: number, one: string, many = `${one}s`): string =>
  `${size.toLocaleString('en')} ${size === 1 ? one : many}`;
