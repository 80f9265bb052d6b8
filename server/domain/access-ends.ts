// Owns: which events may end a token before its time, and whose. Any type that is not known to be harmless does.
// Does not own: revocation itself (features/configuration/issued-tokens), what hears of it.
// Implements: docs/high-availability.md "While the database is away".
import { type DomainEvent, type EventType, eventTypes } from '../contract/events.ts';

/** They give or try, and take nothing away. */
const HARMLESS = new Set<EventType>([
  'LOGIN_SUCCESS',
  'LOGIN_FAILURE',
  'ADMIN_LOGIN_SUCCESS',
  'ADMIN_LOGIN_FAILURE',
  'ACCESS_DENIED',
  'MFA_CHALLENGE',
  'PUSH_REQUESTED',
  'PUSH_APPROVED',
  'PUSH_DENIED',
  'QR_CONFIRMED',
  'USER_CREATED',
  'AUTHORIZATION_REFUSED',
  'AUTHORIZATION_REQUEST_PUSHED',
  'CODE_ISSUED',
  'BACKCHANNEL_REQUESTED',
  'BACKCHANNEL_APPROVED',
  'BACKCHANNEL_DENIED',
  'DEVICE_AUTHORIZATION_REQUESTED',
  'DEVICE_APPROVED',
  'DEVICE_DENIED',
  'ACCESS_EVALUATED',
  'ACCESS_SEARCHED',
  'SIGNALS_SENT',
  'TOKEN_ISSUED',
  'TOKEN_REFRESHED',
  'TOKEN_REFUSED',
  'WORKLOAD_TOKEN_ISSUED',
  'WORKLOAD_TOKEN_REFUSED',
  'WEBHOOK_TEST',
  'WEBHOOK_REDELIVERED',
  'MESSAGE_QUEUED',
  'MESSAGE_SUPPRESSED',
  'MESSAGE_FAILED',
  'MESSAGE_RETRIED',
]);

/** Whose access ended: a user's, or without one anyone's in the realm. */
export interface AccessEnd {
  realm: string;
  userId: string | undefined;
}
/** Of so many users it is no matter which they are. */
const MOST_USERS = 20;

/** Changes of configuration are told otherwise, with each of their realms. */
export function accessEnds(events: readonly DomainEvent[]): AccessEnd[] {
  const ends = new Map<string, AccessEnd>();
  for (const { type, realm: recorded, subject } of events) {
    if (HARMLESS.has(type) || eventTypes[type].configuration) continue;
    // the end of a realm is recorded in master
    const realm = subject?.type === 'realm' && subject.id ? subject.id : recorded;
    const userId = subject?.type === 'user' && subject.id ? subject.id : undefined;
    ends.set(`${realm} ${userId ?? ''}`, { realm, userId });
  }
  if (ends.size <= MOST_USERS) return [...ends.values()];
  return [...new Set([...ends.values()].map(({ realm }) => realm))].map((realm) => ({ realm, userId: undefined }));
}
