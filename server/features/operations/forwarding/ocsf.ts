// Events in the Open Cybersecurity Schema Framework, in classes of its category Identity & Access Management. Data that
// has no attribute there is `unmapped`. Pure.
import type { EventType, Party } from '../../../contract/events.ts';
import type { Forwarded } from './event.ts';
import { type Change, changeOf, type Kind, kindOf } from './kinds.ts';

const VERSION = '1.3.0';
const IAM = 3;
const ACCOUNT_CHANGE = 3001;
const AUTHENTICATION = 3002;
const AUTHORIZE_SESSION = 3003;
const ENTITY_MANAGEMENT = 3004;
const USER_ACCESS = 3005;
const GROUP_MANAGEMENT = 3006;
const OTHER = 99;

const CLASS: Record<Kind, number> = {
  'sign-in': AUTHENTICATION,
  'sign-out': AUTHENTICATION,
  proof: AUTHENTICATION,
  grant: AUTHORIZE_SESSION,
  denial: AUTHORIZE_SESSION,
  account: ACCOUNT_CHANGE,
  membership: GROUP_MANAGEMENT,
  group: ENTITY_MANAGEMENT,
  rights: USER_ACCESS,
  entity: ENTITY_MANAGEMENT,
};
/** The class's activities for events about accounts. */
const ACCOUNT_ACTIVITY: Partial<Record<EventType, number>> = {
  USER_CREATED: 1,
  PASSWORD_CHANGED: 3,
  USER_DELETED: 6,
  USER_ERASED: 6,
  USER_LOCKED: 9,
};
const ENTITY_ACTIVITY: Record<Change, number> = { creation: 1, change: 3, deletion: 4 };

function activityOf({ type, data }: Forwarded): number {
  const kind = kindOf(type);
  const change = changeOf(type);
  switch (kind) {
    case 'sign-in':
      return 1;
    case 'sign-out':
      return 2;
    case 'account':
      return ACCOUNT_ACTIVITY[type] ?? OTHER;
    case 'membership':
      return type === 'ORGANIZATION_MEMBER_REMOVED' ? 4 : 3;
    case 'rights':
      if (rolesIn(data.taken).length === 0 && rolesIn(data.given).length > 0) return 1;
      return rolesIn(data.given).length === 0 && rolesIn(data.taken).length > 0 ? 2 : OTHER;
    case 'group':
    case 'entity':
      return change ? ENTITY_ACTIVITY[change] : OTHER;
    default:
      return OTHER;
  }
}

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' && one !== '');
const rolesIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) => texts(Object(one).role ?? one));

/** Scopes, permissions or roles that the event names; classes with privileges need at least one. */
function privilegesOf({ type, clientId, data }: Forwarded): string[] {
  const scopes = typeof data.scope === 'string' ? data.scope.split(' ') : data.scopes;
  const named = [scopes, data.permission, data.application, rolesIn(data.given), rolesIn(data.taken)].flatMap(texts);
  return named.length > 0 ? [...new Set(named)] : [clientId ?? type];
}

const TYPE_ID: Partial<Record<Party['type'], number>> = { user: 1, system: 3 };
const user = ({ id, name, type }: Party) => ({
  ...(id !== null && { uid: id }),
  ...((name !== null || id === null) && { name: name ?? 'unknown' }),
  type,
  type_id: TYPE_ID[type] ?? OTHER,
});

/** The party that the event is about: every class but that of entities needs one. */
function aboutWhom({ type, subject, actor, clientId }: Forwarded): Party {
  if (subject && (subject.type === 'user' || kindOf(type) === 'rights')) return subject;
  if (actor) return actor;
  return clientId === null ? { type: 'user', id: null, name: null } : { type: 'client', id: null, name: clientId };
}

const entity = ({ subject, realmId }: Forwarded) => {
  const party = subject && (subject.id !== null || subject.name !== null) ? subject : undefined;
  const { type, id, name } = party ?? { type: 'realm', id: realmId, name: realmId };
  return { ...(id !== null && { uid: id }), ...(name !== null && { name }), type };
};

function group({ data }: Forwarded) {
  const [uid] = texts(data.organizationId);
  const [name] = texts(data.organization);
  return { ...(uid !== undefined && { uid }), name: name ?? uid ?? 'unknown', type: 'organization' };
}

export function ocsf(event: Forwarded): object {
  const { type, actor, subject, ipAddress, outcome, data, block } = event;
  const [classUid, activity] = [CLASS[kindOf(type)], activityOf(event)];
  return {
    category_uid: IAM,
    class_uid: classUid,
    activity_id: activity,
    ...(activity === OTHER && { activity_name: type }),
    type_uid: classUid * 100 + activity,
    time: event.occurredAt,
    severity_id: outcome === 'success' ? 1 : 2,
    status_id: outcome === 'success' ? 1 : 2,
    status: outcome === 'success' ? 'Success' : 'Failure',
    status_code: outcome,
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
    ...(classUid === ENTITY_MANAGEMENT
      ? { entity: entity(event), ...(subject?.type === 'user' && { user: user(subject) }) }
      : { user: user(aboutWhom(event)) }),
    ...(classUid === AUTHENTICATION && { service: { name: 'Realmkeeper', uid: event.realmId } }),
    ...(classUid === GROUP_MANAGEMENT && { group: group(event) }),
    ...((classUid === AUTHORIZE_SESSION || classUid === USER_ACCESS) && { privileges: privilegesOf(event) }),
    ...(ipAddress !== null && { src_endpoint: { ip: ipAddress } }),
    unmapped: { realm: event.realmId, clientId: event.clientId, actor, subject, data, block },
  };
}
