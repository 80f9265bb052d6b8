// Events as rows of a list.
import { Badge } from '../../ui/badge.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { type AuditEvent, PartyName, SubjectName } from './party.tsx';

const tones = { success: 'good', failure: 'bad', denied: 'warn' } as const;

export const OutcomeBadge = ({ outcome }: Pick<AuditEvent, 'outcome'>) => (
  <Badge tone={tones[outcome]}>{outcome}</Badge>
);

export const eventColumns: readonly TableColumn<AuditEvent>[] = [
  { id: 'type', head: 'event', cell: ({ type }) => <code>{type}</code> },
  { id: 'at', head: 'when', cell: ({ occurredAt }) => <Time ms={occurredAt} /> },
  { id: 'outcome', head: 'outcome', cell: OutcomeBadge },
  { id: 'actor', head: 'done by', cell: ({ actor }) => <PartyName party={actor} /> },
  { id: 'subject', head: 'done to', cell: (event) => <SubjectName event={event} /> },
  {
    id: 'client',
    head: 'client',
    cell: ({ clientId }) => (clientId === null ? <span className="none">–</span> : <bdi>{clientId}</bdi>),
  },
  {
    id: 'from',
    head: 'from',
    cell: ({ ipAddress }) => (ipAddress === null ? <span className="none">–</span> : <code>{ipAddress}</code>),
  },
];
