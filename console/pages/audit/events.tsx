// The audit log: filters in the address, pages by cursor or the newest as they come, one event with all that it says.
import { useMemo, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { listEvents } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { useFilters } from '../../ui/filters.ts';
import { ActionMenu } from '../../ui/menu.tsx';
import { useOpened } from '../../ui/opened.ts';
import { Page } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { eventColumns } from './event-columns.tsx';
import { EventOfAddress } from './event-details.tsx';
import { type ExportFormat, Exporting } from './export.tsx';
import { FilterBar } from './filter-bar.tsx';
import { useFollowed } from './followed.ts';
import { isFiltered, queryOf, realmctlEvents, withoutFilters } from './query.ts';
import { Verification } from './verification.tsx';

export default function Events({ params: { realm } }: PageProps) {
  const filters = useFilters();
  const { get, set, address } = filters;
  const { open } = useOpened('event');
  const follow = get('follow') !== '';
  const cursor = get('cursor') || undefined;
  const period = get('period');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a period counts back from when it was chosen
  const now = useMemo(() => Date.now(), [period]);
  const query = queryOf(filters, now);
  const list = useRead(
    listEvents,
    { params: { realm }, query: { ...query, limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { enabled: !follow, keep: true, fill: true },
  );
  const followed = useFollowed(realm, query, follow);
  const [exports, setExports] = useState<ExportFormat>();
  const [verifies, setVerifies] = useState(false);
  const rows = follow ? followed.rows : list.data?.body;
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
        <Paged
          label="Events"
          read={follow ? { data: rows && { body: rows }, error: followed.problem } : list}
          columns={eventColumns}
          idOf={({ id }) => id}
          onOpen={({ id }) => open(id)}
          empty={<NoEvents isFiltered={isFiltered(filters)} />}
        />
      </div>
      <EventOfAddress realm={realm} rows={rows} />
      {exports && <Exporting realm={realm} query={query} format={exports} onClose={() => setExports(undefined)} />}
      {verifies && <Verification realm={realm} onClose={() => setVerifies(false)} />}
    </Page>
  );
}

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
