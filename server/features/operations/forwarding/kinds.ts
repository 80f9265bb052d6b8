// Sorts event types by their subject (sign-in, token, account …), for schemas with fields for each. Pure.
import type { EventType } from '../../../contract/events.ts';

export type Kind =
  | 'sign-in'
  | 'sign-out'
  /** Events about a factor, or about an action that a user confirms with one. */
  | 'proof'
  /** Events about a token, code or assertion: requested, issued, refused, revoked. */
  | 'grant'
  | 'denial'
  /** Of one person. */
  | 'account'
  | 'membership'
  | 'group'
  /** Who administers. */
  | 'rights'
  /** Any other configuration, and events about it. */
  | 'entity';

/** Kinds by prefix of the event type; the first match counts. */
const KINDS: readonly [begins: RegExp, kind: Kind][] = [
  [/^(ADMIN_)?LOGIN_|^IMPERSONATION_/, 'sign-in'],
  [/^(ADMIN_)?LOGOUT$|^SESSION_ENDED$|^BACKCHANNEL_LOGOUT_/, 'sign-out'],
  [/^PUSH_TOKEN_/, 'account'],
  [/^(MFA|PUSH|QR|RECOVERY_CODE|TRANSACTION)_/, 'proof'],
  [/^(TOKEN|WORKLOAD_TOKEN|CODE|SAML_ASSERTION|PERMISSION|IDENTITY_TOKEN)_/, 'grant'],
  [/^AUTHORIZATION_(REFUSED|REQUEST_PUSHED)$|^DEVICE_(AUTHORIZATION_REQUESTED|APPROVED|DENIED)$/, 'grant'],
  [/^ACCESS_DENIED$/, 'denial'],
  [/^ACCESS_(EVALUATED|SEARCHED)$/, 'grant'],
  [/^USER_PROFILE_/, 'entity'],
  [/^(USER|CREDENTIAL|PASSWORD|CONSENT|TERMS|DEVICE_ENROLMENT)_|^IDENTITY_(UN)?LINKED$/, 'account'],
  [/^ORGANIZATION_MEMBER_/, 'membership'],
  [/^GROUP_/, 'group'],
  [/^ADMIN_GRANT_/, 'rights'],
];
export const kindOf = (type: EventType): Kind => KINDS.find(([begins]) => begins.test(type))?.[1] ?? 'entity';

export type Change = 'creation' | 'deletion' | 'change';
const CHANGES: readonly [ends: RegExp, change: Change][] = [
  [/_MEMBER_(ADDED|REMOVED)$/, 'change'],
  [/_(CREATED|ADDED|REGISTERED)$/, 'creation'],
  [/_(DELETED|ERASED|REMOVED|REVOKED)$/, 'deletion'],
  [/_(UPDATED|CHANGED|IMPORTED|MOVED|ROTATED|RELEASED|LOCKED|UNLOCKED|ACTIVATED|SUSPENDED|LINKED|UNLINKED)$/, 'change'],
];
/** The outcome, by the suffix of the event type. */
export const changeOf = (type: EventType): Change | undefined => CHANGES.find(([ends]) => ends.test(type))?.[1];
