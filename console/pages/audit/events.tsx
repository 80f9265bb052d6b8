// The audit log: filters in the address, pages by cursor or the newest as they come, one event with all that it says.
import { useMemo, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { getEvent, listEvents } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { useFilters } from '../../ui/filters.ts';
import { ActionMenu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { PageProps } from '../page.ts';
import { EventDetails } from './event-details.tsx';
import { type ExportFormat, Exporting } from './export.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useFollowed } from './followed.ts';
import { type AuditEvent, PartyName, SubjectName } from './party.tsx';
import { isFiltered, queryOf, realmctlEvents, withoutFilters } from './query.ts';
import { Verification } from './verification.tsx';

const PAGE_ROWS = 50;
const tones = { success: 'good', failure: 'bad', denied: 'warn' } as const;

export const eventColumns: readonly TableColumn<AuditEvent>[] = [
  { id: 'type', head: 'event', cell: ({ type }) => <code>{type}</code> },
  { id: 'at', head: 'when', cell: ({ occurredAt }) => <Time ms={occurredAt} /> },
  { id: 'outcome', head: 'outcome', cell: ({ outcome }) => <Badge tone={tones[outcome]}>{outcome}</Badge> },
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

export default function Events({ params: { realm } }: PageProps) {
  const filters = useFilters();
  const { get, set, address } = filters;
  const follow = get('follow') !== '';
  const cursor = get('cursor') || undefined;
  const period = get('period');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a period counts back from when it was chosen
  const now = useMemo(() => Date.now(), [period]);
  const query = queryOf(filters, now);
  const list = useRead(
    listEvents,
    { params: { realm }, query: { ...query, limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { enabled: !follow, keep: true },
  );
  const followed = useFollowed(realm, query, follow);
  const [exports, setExports] = useState<ExportFormat>();
  const [verifies, setVerifies] = useState(false);
  const rows = follow ? followed.rows : list.data?.body;
  const problem = follow ? followed.problem : list.error;
  /** The server stopped its search before it had a page. */
  const isCut = !follow && list.data?.nextCursor !== undefined && (rows?.length ?? 0) < PAGE_ROWS;
  const wanted = get('event');
  const listed = rows?.find(({ id }) => id === wanted);
  // an address can name an event of another page
  const other = useRead(
    getEvent,
    { params: { realm, id: wanted } },
    { enabled: wanted !== '' && rows !== undefined && listed === undefined },
  );
  const open = wanted === '' ? undefined : (listed ?? other.data?.body);
  return (
    <Page
      title="Events"
      lead="What happened in the realm, by users, applications and administrators."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand
            commands={() => ({
              realmctl: realmctlEvents(realm, query, follow),
              curl: curlOf(listEvents, { realm }, undefined, { ...query }),
            })}
          />
          <Button onPress={() => setVerifies(true)}>Verify the log</Button>
          <ActionMenu
            label="Export"
            actions={[
              { id: 'csv', label: 'As CSV, for a spreadsheet', onAction: () => setExports('csv') },
              { id: 'jsonl', label: 'As JSON lines, with all data', onAction: () => setExports('jsonl') },
            ]}
          >
            <Button icon="copy">Export</Button>
          </ActionMenu>
        </>
      }
    >
      <div className="list">
        <FilterBar realm={realm} filters={filters} />
        <div className="list-tools">
          <Toggle
            label="Follow"
            isSelected={follow}
            onChange={(on) => set({ follow: on ? '1' : undefined, cursor: undefined })}
          />
          <span className="soft small" role="status">
            {follow &&
              followed.rows &&
              (followed.came === 0
                ? 'New events appear here as they happen.'
                : `${followed.came.toLocaleString('en')} ${followed.came === 1 ? 'event has' : 'events have'} come.`)}
          </span>
          <div className="spread">
            {!follow && <IconButton label="Read again" icon="history" onPress={() => void list.refetch()} />}
            {isFiltered(filters) && (
              <ButtonLink to={address(withoutFilters)} small>
                Clear the filters
              </ButtonLink>
            )}
          </div>
        </div>
        {problem && <ProblemNote problem={problem} {...(!follow && { retry: () => void list.refetch() })} />}
        {rows ? (
          <Table
            label="Events"
            rows={rows}
            columns={eventColumns}
            idOf={({ id }) => id}
            onOpen={({ id }) => set({ event: id })}
            stale={!follow && list.isPlaceholderData}
            empty={isCut ? <SearchOn /> : <NoEvents isFiltered={isFiltered(filters)} />}
          />
        ) : (
          !problem && (
            <div className="table-box">
              <Loading lines={8} />
            </div>
          )
        )}
        {isCut && (rows?.length ?? 0) > 0 && <p className="hint pad">{CUT}</p>}
        {!follow && list.data && ((rows?.length ?? 0) > 0 || isCut) && (
          <Pager shown={rows?.length ?? 0} nextCursor={list.data.nextCursor} />
        )}
      </div>
      {open && <EventDetails event={open} realm={realm} onClose={() => set({ event: undefined })} />}
      {exports && <Exporting realm={realm} query={query} format={exports} onClose={() => setExports(undefined)} />}
      {verifies && <Verification realm={realm} onClose={() => setVerifies(false)} />}
    </Page>
  );
}

const CUT = 'The search stopped after a second. Older events may match: the next page goes on.';

const SearchOn = () => (
  <Empty icon="search" title="No event matches so far">
    <p>{CUT} A filter less, or a shorter period, is searched sooner.</p>
  </Empty>
);

function NoEvents({ isFiltered: filtered }: { isFiltered: boolean }) {
  return filtered ? (
    <Empty icon="search" title="No event matches">
      <p>Take a filter away, or look at a longer period.</p>
    </Empty>
  ) : (
    <Empty icon="events" title="Nothing has happened yet">
      <p>Sign-ins, tokens and changes of administrators are listed here.</p>
    </Empty>
  );
}
