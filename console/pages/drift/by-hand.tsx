// Changes that administrators made to what a manager declares, after it last applied: what its next run sets back. The server
// keeps no declarations, so this is read from the audit log.
import { Link } from 'wouter';
import { Note } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { eventAddress } from '../audit/event-details.tsx';
import { type AuditEvent, PartyName } from '../audit/party.tsx';
import type { Manager } from './managers.tsx';

const LOOKED_AT = 200;
const SHOWN = 10;

export const byHandQuery = (since: number) => ({ type: 'ADMIN_WRITE', from: since, limit: LOOKED_AT });

const firstPart = (path: string): string => path.split(/[.[]/)[0] ?? path;

/** Whether an administrator changed something that the manager declares. Each event names the kind and the changed fields. */
export function isByHand(event: AuditEvent, { lastAppliedAt, owns }: Manager): boolean {
  const { type, subject, occurredAt, outcome, data } = event;
  const isApplied = data.manager !== undefined;
  if (occurredAt <= lastAppliedAt || outcome !== 'success' || isApplied || !Array.isArray(data.fields)) return false;
  const changed = data.fields.map((field) => firstPart(String(field)));
  if (type === 'SETTINGS_UPDATED') return owns.some(({ kind, key }) => kind === 'settings' && changed.includes(key));
  return owns.some(
    ({ kind, key, fields }) =>
      kind === data.kind &&
      (key === subject?.name || key === data.renamedFrom) &&
      (data.action !== 'update' || fields.some((field) => changed.includes(firstPart(field)))),
  );
}

export function ByHand({ realm, events }: { realm: string; events: readonly AuditEvent[] }) {
  return (
    <div className="content">
      <Note tone="warn">
        <strong>Changed by hand after the last run; a run sets it back to what is declared.</strong>
        <ul>
          {events.slice(0, SHOWN).map((event) => (
            <li key={event.id}>
              <Link href={eventAddress(realm, event)}>{event.type}</Link>{' '}
              {event.subject?.name && <bdi>{event.subject.name}</bdi>} by <PartyName party={event.actor} />,{' '}
              <Time ms={event.occurredAt} />
            </li>
          ))}
        </ul>
        {events.length > SHOWN && <span>And {events.length - SHOWN} more.</span>}
      </Note>
    </div>
  );
}
