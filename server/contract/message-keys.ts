// The keys of the messages that the server sends. They are separate, so that a start doesn't load the schemas of
// templates. Specification 2.6.
import type { Channel } from './message-drivers.ts';

/**
 * Each message that the server sends: its channel, and the placeholders of its template besides `realm`, `user` and
 * `user.*`.
 */
export const messages = {
  'otp-sms': { channel: 'SMS', placeholders: ['code', 'ttl'] },
  'otp-email': { channel: 'EMAIL', placeholders: ['code', 'ttl'] },
  'magic-link-email': { channel: 'EMAIL', placeholders: ['link', 'ttl'] },
  'verify-email': { channel: 'EMAIL', placeholders: ['link', 'code', 'ttl'] },
  'reset-password-email': { channel: 'EMAIL', placeholders: ['link', 'ttl'] },
  'invitation-email': { channel: 'EMAIL', placeholders: ['link', 'ttl', 'organization', 'inviter'] },
  'new-device-email': { channel: 'EMAIL', placeholders: ['link', 'device', 'place', 'time'] },
  'account-exists-email': { channel: 'EMAIL', placeholders: ['link'] },
  'account-changed-email': { channel: 'EMAIL', placeholders: ['change', 'time'] },
  'agent-review-email': { channel: 'EMAIL', placeholders: ['agent', 'time', 'link'] },
  'resource-request-email': { channel: 'EMAIL', placeholders: ['requester', 'resource', 'client', 'link'] },
  'push-challenge': { channel: 'PUSH', placeholders: ['ttl', 'client'] },
  'push-transaction': { channel: 'PUSH', placeholders: ['ttl', 'client'] },
} as const satisfies Record<string, { channel: Channel; placeholders: readonly string[] }>;
export type TemplateKey = keyof typeof messages;
