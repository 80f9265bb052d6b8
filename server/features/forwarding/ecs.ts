// Events in the Elastic Common Schema. Pure. What it has no field for is below `realmkeeper`.
import type { Event, EventType } from '../../contract/events.ts';
import { isAdminWrite } from '../../contract/events.ts';
import type { Forwarded } from './event.ts';

const VERSION = '8.17.0';

/** Fields "event.category" and "event.type" by the beginning of a type's name, the first that fits. */
const CATEGORIES: readonly [begins: RegExp, category: string[], type: string[]][] = [
  [
    /^(ADMIN_)?LOGIN_|^MFA_|^RECOVERY_CODE_|^PUSH_(REQUESTED|APPROVED|DENIED)|^QR_|^IMPERSONATION_/,
    ['authentication'],
    ['start'],
  ],
  [/^(ADMIN_)?LOGOUT$|^SESSION_ENDED|^BACKCHANNEL_/, ['authentication', 'session'], ['end']],
  [
    /^(TOKEN|WORKLOAD_TOKEN|CODE|SAML_ASSERTION|AUTHORIZATION|DEVICE_(AUTHORIZATION|APPROVED|DENIED))/,
    ['authentication'],
    ['info'],
  ],
  [/^ACCESS_DENIED/, ['iam'], ['denied']],
  [/^(USER|CREDENTIAL|PASSWORD|CONSENT|TERMS|DEVICE_ENROLMENT|ORGANIZATION_MEMBER)/, ['iam'], ['user']],
  [/^GROUP_/, ['iam'], ['group']],
  [/^ADMIN_/, ['iam'], ['admin']],
];
const CHANGES: readonly [ends: RegExp, type: string][] = [
  [/_(CREATED|ADDED|REGISTERED)$/, 'creation'],
  [/_(DELETED|ERASED|REMOVED|REVOKED)$/, 'deletion'],
  [/_(UPDATED|CHANGED|IMPORTED|MOVED|ROTATED|RELEASED|LOCKED|UNLOCKED)$/, 'change'],
];

function kindOf(type: EventType): { category: string[]; type: string[] } {
  const [, category, kind] = CATEGORIES.find(([begins]) => begins.test(type)) ?? [
    undefined,
    ['configuration'],
    isAdminWrite(type) ? ['admin'] : ['info'],
  ];
  const change = CHANGES.find(([ends]) => ends.test(type))?.[1];
  return { category, type: change === undefined ? kind : [...kind, change] };
}

const person = (party: Event['actor']) => party && { id: party.id ?? undefined, name: party.name ?? undefined };

export function ecs({ block, ...event }: Forwarded): object {
  const { type, actor, subject, ipAddress, outcome, data } = event;
  const who = actor ?? (subject?.type === 'user' ? subject : null);
  return {
    '@timestamp': new Date(event.occurredAt).toISOString(),
    ecs: { version: VERSION },
    message: `${type} ${outcome}`,
    event: {
      id: event.id,
      kind: 'event',
      ...kindOf(type),
      action: type,
      outcome: outcome === 'success' ? 'success' : 'failure',
      provider: 'realmkeeper',
      dataset: 'realmkeeper.audit',
      module: 'realmkeeper',
      ...(typeof data.reason === 'string' && { reason: data.reason }),
    },
    ...(who && {
      user: {
        ...person(who),
        domain: event.realmId,
        ...(subject?.type === 'user' && subject !== who && { target: { ...person(subject), domain: event.realmId } }),
      },
    }),
    ...(ipAddress !== null && { source: { ip: ipAddress, address: ipAddress } }),
    realmkeeper: { realm: event.realmId, clientId: event.clientId, outcome, actor, subject, data, block },
  };
}
