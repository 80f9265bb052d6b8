// What a SIEM reads of each type of event: fields that its schema asks for are there, with words that it knows. Rules that look for
// them would otherwise pass over the event in silence.
import { describe, expect, test } from 'vitest';
import { type EventType, eventTypes } from '../../../server/contract/events.ts';
import { ecs } from '../../../server/features/operations/forwarding/ecs.ts';
import { type Forwarded, withoutEventData } from '../../../server/features/operations/forwarding/event.ts';
import { ocsf } from '../../../server/features/operations/forwarding/ocsf.ts';

const types = Object.keys(eventTypes) as EventType[];
const event = (type: EventType, more: Partial<Forwarded> = {}): Forwarded => ({
  id: '00000000-0000-4000-8000-000000000001',
  type,
  occurredAt: 1_700_000_000_000,
  realmId: 'acme',
  actor: null,
  subject: null,
  clientId: null,
  ipAddress: null,
  outcome: 'success',
  data: {},
  block: null,
  ...more,
});
const boss = { type: 'user', id: 'u-1', name: 'boss' } as const;
const ana = { type: 'user', id: 'u-2', name: 'ana' } as const;
/** With nobody, somebody, and less than that. */
const variants = (type: EventType): Forwarded[] => [
  event(type),
  event(type, { actor: boss, subject: ana, ipAddress: '192.0.2.1', data: { reason: 'because' } }),
  event(type, { subject: { type: 'user', id: null, name: null }, outcome: 'failure', clientId: 'portal' }),
  event(type, { actor: { type: 'client', id: null, name: 'portal' }, outcome: 'denied' }),
  withoutEventData(
    event(type, { actor: boss, subject: { type: 'object', id: 'o-1', name: null }, data: { given: 'x' } }),
  ),
];

/** ECS 8.17: what each category expects as a type. */
const expected: Record<string, string[]> = {
  api: ['access', 'admin', 'allowed', 'change', 'creation', 'deletion', 'denied', 'end', 'info', 'start', 'user'],
  authentication: ['start', 'end', 'info'],
  configuration: ['access', 'change', 'creation', 'deletion', 'info'],
  iam: ['admin', 'change', 'creation', 'deletion', 'group', 'info', 'user'],
  session: ['start', 'end', 'info'],
};
interface Ecs {
  event: { category: string[]; type: string[]; outcome: string };
  user?: { id?: string; name?: string };
}
const inEcs = (one: Forwarded) => ecs(one) as Ecs;

describe('in ECS', () => {
  test.each(types)('%s has categories of the schema, and types that they expect', (type) => {
    for (const one of variants(type)) {
      const { category, type: kinds, outcome } = inEcs(one).event;
      const known = category.map((name) => expected[name] ?? []);
      expect(known.every((list) => kinds.some((kind) => list.includes(kind)))).toBe(true);
      expect(kinds.filter((kind) => !known.flat().includes(kind))).toEqual([]);
      expect([category.length > 0, kinds.length > 0, new Set(kinds).size]).toEqual([true, true, kinds.length]);
      expect(['success', 'failure']).toContain(outcome);
    }
  });

  const samples: [EventType, string[], string[]][] = [
    ['LOGIN_FAILURE', ['authentication'], ['start']],
    ['SESSION_ENDED', ['authentication', 'session'], ['end']],
    ['USER_CREATED', ['iam'], ['user', 'creation']],
    ['USER_PROFILE_UPDATED', ['configuration', 'iam'], ['admin', 'change']],
    ['AUTHORIZATION_SERVICE_CREATED', ['configuration', 'iam'], ['admin', 'creation']],
    ['IDENTITY_PROVIDER_DELETED', ['configuration', 'iam'], ['admin', 'deletion']],
    ['IDENTITY_LINKED', ['iam'], ['user', 'change']],
    ['ORGANIZATION_MEMBER_ADDED', ['iam'], ['group', 'user', 'change']],
    ['TOKEN_REVOKED', ['authentication'], ['info']],
    ['ACCESS_DENIED', ['api', 'iam'], ['denied', 'info']],
    ['MESSAGE_FAILED', ['configuration'], ['info']],
  ];
  test.each(samples)('%s is what it is', (type, category, kinds) => {
    expect(inEcs(event(type)).event).toMatchObject({ category, type: kinds });
  });
});

/** OCSF 1.3.0, category Identity & Access Management: what each class needs, and which activities it has. */
const classes: Record<number, { needs: string[]; oneOf?: string[]; activities: number[] }> = {
  3001: { needs: ['user'], activities: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
  3002: { needs: ['user'], oneOf: ['service', 'dst_endpoint'], activities: [1, 2, 3, 4, 5] },
  3003: { needs: ['user'], oneOf: ['privileges', 'group'], activities: [1, 2] },
  3004: { needs: ['entity'], activities: [1, 2, 3, 4] },
  3005: { needs: ['user', 'privileges'], activities: [1, 2] },
  3006: { needs: ['group'], oneOf: ['privileges', 'user'], activities: [1, 2, 3, 4] },
};
interface Party {
  uid?: string;
  name?: string;
  type_id?: number;
}
interface Ocsf {
  class_uid: number;
  category_uid: number;
  activity_id: number;
  activity_name?: string;
  type_uid: number;
  severity_id: number;
  status: string;
  user?: Party;
  entity?: Party;
  group?: Party;
  privileges?: string[];
}
const inOcsf = (one: Forwarded) => ocsf(one) as Ocsf;

describe('in OCSF', () => {
  test.each(types)('%s has what its class needs', (type) => {
    for (const one of variants(type)) {
      const said = inOcsf(one);
      const its = classes[said.class_uid];
      expect(its).toBeDefined();
      for (const field of its?.needs ?? []) expect(said).toHaveProperty(field);
      if (its?.oneOf) expect(its.oneOf.some((field) => Object.hasOwn(said, field))).toBe(true);
      const { activity_id: activity } = said;
      expect([...(its?.activities ?? []), 99]).toContain(activity);
      if (activity === 99) expect(said.activity_name).toBe(type);
      expect(said).toMatchObject({ category_uid: 3, type_uid: said.class_uid * 100 + activity });
      expect(['Success', 'Failure']).toContain(said.status);
      for (const party of [said.user, said.entity, said.group]) if (party) expect(party.name || party.uid).toMatch(/./);
      if (said.user) expect([1, 3, 99]).toContain(said.user.type_id);
      if (said.privileges) expect(said.privileges).not.toEqual([]);
    }
  });

  const samples: [Forwarded, object][] = [
    [event('LOGIN_SUCCESS', { subject: ana }), { type_uid: 300_201, user: { uid: 'u-2', name: 'ana', type_id: 1 } }],
    [event('LOGIN_FAILURE', { outcome: 'failure' }), { type_uid: 300_201, user: { name: 'unknown' } }],
    [
      event('TOKEN_REFUSED', { clientId: 'portal', outcome: 'failure' }),
      { class_uid: 3003, user: { name: 'portal', type: 'client', type_id: 99 }, privileges: ['portal'] },
    ],
    [event('TOKEN_ISSUED', { actor: ana, data: { scope: 'openid email' } }), { privileges: ['openid', 'email'] }],
    [event('ACCESS_DENIED', { actor: ana, data: { permission: 'users:read' } }), { privileges: ['users:read'] }],
    [event('USER_PROFILE_UPDATED'), { type_uid: 300_403, entity: { uid: 'acme', type: 'realm' } }],
    [event('USERS_IMPORTED'), { type_uid: 300_403 }],
    [event('AUTHORIZATION_SERVICE_DELETED'), { type_uid: 300_404 }],
    [
      event('ORGANIZATION_MEMBER_REMOVED', { subject: ana, data: { organizationId: 'o-1', organization: 'crew' } }),
      { type_uid: 300_604, group: { uid: 'o-1', name: 'crew' }, user: { name: 'ana' } },
    ],
    [
      event('ADMIN_GRANT_CHANGED', { subject: ana, data: { given: [{ role: 'auditor', realm: 'acme' }], taken: [] } }),
      { type_uid: 300_501, privileges: ['auditor'], user: { name: 'ana' } },
    ],
    [
      event('ADMIN_GRANT_CHANGED', { subject: { type: 'client', id: 'c-1', name: 'bot' }, data: { taken: ['all'] } }),
      { type_uid: 300_502, privileges: ['all'], user: { uid: 'c-1', name: 'bot', type_id: 99 } },
    ],
  ];
  test.each(samples)('$type is what it is', (one, said) => {
    expect(inOcsf(one)).toMatchObject(said);
  });
});

test('every type fits into MSGID of syslog (RFC 5424: 32 printable ASCII characters)', () => {
  for (const type of types) expect(type).toMatch(/^[!-~]{1,32}$/);
});
