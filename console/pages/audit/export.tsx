// All events that match the filters, as a file. It is read page by page; the reader sees how far it is, and may stop it.
import { useEffect, useRef, useState } from 'react';
import { call, type ServerProblem } from '../../api/client.ts';
import { listEvents } from '../../generated/routes.ts';
import { Button } from '../../ui/button.tsx';
import { csvOf } from '../../ui/csv.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { saveFile } from '../../ui/download.ts';
import { Note, ProblemNote } from '../../ui/state.tsx';
import type { AuditEvent } from './party.tsx';
import type { EventsQuery } from './query.ts';

export type ExportFormat = 'csv' | 'jsonl';

const ASKED = 1000;
/** More is a matter for `realmctl` or a SIEM: the browser holds all of it in memory. */
const MOST = 50_000;

const types = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;

export function textOf(rows: readonly AuditEvent[], format: ExportFormat): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return csvOf(
    [
      'time',
      'type',
      'outcome',
      'actor type',
      'actor id',
      'actor',
      'subject type',
      'subject id',
      'subject',
      'client',
      'address',
      'id',
      'data',
    ],
    rows.map(({ id, occurredAt, type, outcome, actor, subject, clientId, ipAddress, data }) => [
      new Date(occurredAt).toISOString(),
      type,
      outcome,
      actor?.type,
      actor?.id,
      actor?.name,
      subject?.type,
      subject?.id,
      subject?.name,
      clientId,
      ipAddress,
      id,
      data,
    ]),
  );
}

export function Exporting({
  realm,
  query,
  format,
  onClose,
}: {
  realm: string;
  query: EventsQuery;
  format: ExportFormat;
  onClose: () => void;
}) {
  const [count, setCount] = useState(0);
  const [end, setEnd] = useState<'saved' | 'cut'>();
  const [problem, setProblem] = useState<ServerProblem>();
  const [round, setRound] = useState(0);
  const asked = useRef(query);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round begins anew
  useEffect(() => {
    const stopped = new AbortController();
    const read = async () => {
      const rows: AuditEvent[] = [];
      let cursor: string | undefined;
      do {
        const answer = await call(listEvents, {
          params: { realm },
          query: { ...asked.current, limit: ASKED, ...(cursor !== undefined && { cursor }) },
          signal: stopped.signal,
        });
        rows.push(...(answer.body ?? []));
        setCount(rows.length);
        cursor = answer.nextCursor;
      } while (cursor !== undefined && rows.length < MOST);
      saveFile(`events-${realm}.${format}`, textOf(rows, format), types[format]);
      setEnd(cursor === undefined ? 'saved' : 'cut');
    };
    read().catch((cause) => {
      if (!stopped.signal.aborted) setProblem(cause);
    });
    return () => stopped.abort();
  }, [realm, format, round]);
  return (
    <Dialog
      title="Export events"
      isOpen
      onClose={onClose}
      footer={<Button onPress={onClose}>{end || problem ? 'Close' : 'Stop'}</Button>}
    >
      {problem && (
        <ProblemNote
          problem={problem}
          retry={() => {
            setProblem(undefined);
            setRound(round + 1);
          }}
        />
      )}
      <p role="status">
        {end
          ? `The file has ${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'}.`
          : `${count.toLocaleString('en')} events so far…`}
      </p>
      {end === 'cut' && (
        <Note tone="warn">
          <strong>There are older events that match.</strong>
          <span>
            The file has the newest {MOST.toLocaleString('en')}. Narrow the period, or use{' '}
            <code>realmctl get events</code>.
          </span>
        </Note>
      )}
    </Dialog>
  );
}
