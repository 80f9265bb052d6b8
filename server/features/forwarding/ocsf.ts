// Events in the Open Cybersecurity Schema Framework, classes of its category Identity & Access Management. Pure. What it has no
// attribute for is `unmapped`.
import type { Event, EventType } from '../../contract/events.ts';
import type { Forwarded } from './event.ts';

const VERSION = '1.3.0';
const IAM = 3;
const ACCOUNT_CHANGE = 3001;
const AUTHENTICATION = 3002;
const AUTHORIZE_SESSION = 3003;
const ENTITY_MANAGEMENT = 3004;
const USER_ACCESS = 3005;
const GROUP_MANAGEMENT = 3006;
const OTHER = 99;

/** Class and activity by the type's name, the first that fits. */
const CLASSES: readonly [type: RegExp, classUid: number, activity: number][] = [
  [/^(ADMIN_)?LOGIN_/, AUTHENTICATION, 1],
  [/^(ADMIN_)?LOGOUT$|^SESSION_ENDED$/, AUTHENTICATION, 2],
  [/^(MFA_|PUSH_(REQUESTED|APPROVED|DENIED)|QR_|RECOVERY_CODE_|BACKCHANNEL_)/, AUTHENTICATION, OTHER],
  [
    /^(TOKEN|WORKLOAD_TOKEN|CODE|SAML_ASSERTION|AUTHORIZATION|IMPERSONATION|DEVICE_(AUTHORIZATION|APPROVED|DENIED))/,
    AUTHORIZE_SESSION,
    OTHER,
  ],
  [/^USER_CREATED$/, ACCOUNT_CHANGE, 1],
  [/^(USER_DELETED|USER_ERASED)$/, ACCOUNT_CHANGE, 6],
  [/^PASSWORD_CHANGED$/, ACCOUNT_CHANGE, 3],
  [/^USER_LOCKED$/, ACCOUNT_CHANGE, 9],
  [/^(USER|CREDENTIAL|CONSENT|TERMS|DEVICE_ENROLMENT)/, ACCOUNT_CHANGE, OTHER],
  [/^ADMIN_GRANT_CHANGED$/, USER_ACCESS, OTHER],
  [/^ORGANIZATION_MEMBER_ADDED$/, GROUP_MANAGEMENT, 3],
  [/^ORGANIZATION_MEMBER_REMOVED$/, GROUP_MANAGEMENT, 4],
  [/_(CREATED|ADDED|REGISTERED)$/, ENTITY_MANAGEMENT, 1],
  [/_(UPDATED|CHANGED|MOVED|ROTATED|IMPORTED)$/, ENTITY_MANAGEMENT, 3],
  [/_(DELETED|REMOVED|REVOKED|RELEASED)$/, ENTITY_MANAGEMENT, 4],
];
const classOf = (type: EventType): [number, number] => {
  const [, classUid = ENTITY_MANAGEMENT, activity = OTHER] = CLASSES.find(([known]) => known.test(type)) ?? [];
  return [classUid, activity];
};

const user = (party: Event['actor']) =>
  party && {
    ...(party.id !== null && { uid: party.id }),
    ...(party.name !== null && { name: party.name }),
    type: party.type,
  };

export function ocsf({ block, ...event }: Forwarded): object {
  const { type, actor, subject, ipAddress, outcome, data } = event;
  const [classUid, activity] = classOf(type);
  const about = subject?.type === 'user' ? subject : actor;
  return {
    category_uid: IAM,
    class_uid: classUid,
    activity_id: activity,
    ...(activity === OTHER && { activity_name: type }),
    type_uid: classUid * 100 + activity,
    time: event.occurredAt,
    severity_id: outcome === 'success' ? 1 : 2,
    status_id: outcome === 'success' ? 1 : 2,
    status: outcome,
    ...(typeof data.reason === 'string' && { status_detail: data.reason }),
    message: `${type} ${outcome}`,
    metadata: {
      version: VERSION,
      uid: event.id,
      event_code: type,
      tenant_uid: event.realmId,
      product: { name: 'Realmkeeper', vendor_name: 'Realmkeeper' },
    },
    ...(actor && { actor: { user: user(actor) } }),
    ...(about && { user: user(about) }),
    ...(classUid === ENTITY_MANAGEMENT && {
      entity: {
        uid: subject?.id ?? event.realmId,
        name: subject?.name ?? event.realmId,
        type: subject?.type ?? 'realm',
      },
    }),
    ...(ipAddress !== null && { src_endpoint: { ip: ipAddress } }),
    unmapped: { realm: event.realmId, clientId: event.clientId, actor, subject, data, block },
  };
}
