// The purpose of each message, and values to show it with.
import type { messages, TemplateKey } from '../../../server/contract/message-keys.ts';

export const purposes: Readonly<Record<TemplateKey, string>> = {
  'otp-sms': 'A code to sign in, by SMS',
  'otp-email': 'A code to sign in, by mail',
  'magic-link-email': 'A link to sign in',
  'verify-email': 'Confirming an e-mail address',
  'reset-password-email': 'A forgotten password',
  'invitation-email': 'An invitation',
  'new-device-email': 'A sign-in from a new device',
  'account-exists-email': 'A registration with an address that has an account',
  'account-changed-email': 'A change of the account',
  'agent-review-email': 'The review of an agent',
  'resource-request-email': 'A request for a shared resource',
  'push-challenge': 'Confirming a sign-in on the phone',
  'push-transaction': 'Confirming a transaction on the phone',
};

/** A sample for each placeholder, as a person would get it; the server adds the realm's name. @param base the realm's own address */
export const sampleFor = (base: string): Readonly<Record<string, string>> => ({
  user: 'Ada Lovelace',
  'user.username': 'ada',
  'user.firstName': 'Ada',
  'user.lastName': 'Lovelace',
  'user.email': 'ada@example.com',
  code: '123456',
  ttl: '5 minutes',
  link: `${base}/example`,
  organization: 'Acme',
  inviter: 'Grace Hopper',
  device: 'Firefox on Linux',
  place: 'Berlin, Germany',
  time: '3 May 2026, 14:05',
  change: 'Your password was changed',
  agent: 'invoice-reader',
  requester: 'Grace Hopper',
  resource: 'Holiday pictures',
  client: 'The shop',
});

/** The channel of a message in words. */
export const channelWords: Readonly<Record<(typeof messages)[TemplateKey]['channel'], string>> = {
  EMAIL: 'mail',
  SMS: 'SMS',
  PUSH: 'push',
};
