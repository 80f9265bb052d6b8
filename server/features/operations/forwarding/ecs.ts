// Events in the Elastic Common Schema. Fields that the schema lacks are below `realmkeeper`. Pure.
import type { Event, EventType } from '../../../contract/events.ts';
import { isAdminWrite } from '../../../contract/events.ts';
import type { Forwarded } from './event.ts';
import { changeOf, type Kind, kindOf } from './kinds.ts';

const VERSION = '8.17.0';

/** The fields "event.category" and "event.type": allowed values of the schema, in combinations that it allows. */
const FIELDS: Record<Exclude<Kind, 'entity'>, { category: string[]; type: string[] }> = {
  'sign-in': { category: ['authentication'], type: ['start'] },
  'sign-out': { category: ['authentication', 'session'], type: ['end'] },
  proof: { category: ['authentication'], type: ['info'] },
  grant: { category: ['authentication'], type: ['info'] },
  denial: { category: ['api', 'iam'], type: ['denied', 'info'] },
  account: { category: ['iam'], type: ['user'] },
  membership: { category: ['iam'], type: ['group', 'user'] },
  group: { category: ['iam'], type: ['group'] },
  rights: { category: ['iam'], type: ['admin', 'user'] },
};
const CHANGING: readonly Kind[] = ['account', 'membership', 'group', 'rights', 'entity'];

function fieldsOf(type: EventType): { category: string[]; type: string[] } {
  const kind = kindOf(type);
  const change = CHANGING.includes(kind) ? changeOf(type) : undefined;
  if (kind === 'entity') {
    const became = change ?? 'info';
    return isAdminWrite(type)
      ? { category: ['configuration', 'iam'], type: ['admin', became] }
      : { category: ['configuration'], type: [became] };
  }
  const fields = FIELDS[kind];
  return change ? { ...fields, type: [...fields.type, change] } : fields;
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
      ...fieldsOf(type),
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
