// Over all realms: which managers declare each one, what is held, when a document was last applied.
import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listEvents, listHistory, listHolds, listManagers, listRealms } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { shortManager } from '../../kinds/managers.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { byHandQuery, isByHand } from './by-hand.tsx';
import { historyAddress } from './history.tsx';
import { MoveDialog } from './move.tsx';

/** Each row asks for its realm's managers, holds and last plan. */
const PAGE_ROWS = 20;

export default function AllRealms() {
  const may = useMay();
  const filters = useFilters();
  const [moves, setMoves] = useState(false);
  const q = filters.get('q');
  const cursor = filters.get('cursor') || undefined;
  const realms = useRead(
    listRealms,
    { query: { limit: PAGE_ROWS, ...(q !== '' && { q }), ...(cursor !== undefined && { cursor }) } },
    { keep: true },
  );
  const rows = realms.data?.body;
  return (
    <Page
      title="Declared and history"
      lead="Which of the realms Git, pipelines and the operator declare, what was changed by hand since, and what is held."
      crumbs={[{ label: 'Realms', to: '/realms' }]}
      actions={
        <>
          <AsCommand commands={() => ({ realmctl: 'realmctl status', curl: curlOf(listRealms, {}) })} />
          {may.everywhere('managers:write') && <Button onPress={() => setMoves(true)}>Rename a manager…</Button>}
        </>
      }
    >
      <div className="list">
        <div className="list-tools">
          <Find label="Find a realm" value={q} onChange={(text) => filters.set({ q: text, cursor: undefined })} />
        </div>
        {realms.error && <ProblemNote problem={realms.error} retry={() => void realms.refetch()} />}
        {rows ? (
          <Table
            label="Realms"
            rows={rows}
            idOf={({ realm }) => realm}
            to={({ realm }) => inRealm(realm, 'declared')}
            stale={realms.isPlaceholderData}
            columns={[
              { id: 'realm', head: 'realm', cell: ({ realm }) => <bdi>{realm}</bdi> },
              { id: 'managers', head: 'declared by', cell: ({ realm }) => <ManagersOf realm={realm} /> },
              { id: 'drift', head: 'changed by hand since', cell: ({ realm }) => <DriftOf realm={realm} /> },
              { id: 'holds', head: 'holds', cell: ({ realm }) => <HoldsOf realm={realm} /> },
              { id: 'last', head: 'last applied', cell: ({ realm }) => <LastPlanOf realm={realm} /> },
              {
                id: 'revision',
                head: 'revision',
                numeric: true,
                cell: ({ revision }) => revision.toLocaleString('en'),
              },
            ]}
            empty={
              <Empty icon="search" title="No realm matches">
                <p>No realm that you may see has “{q}” in its name.</p>
              </Empty>
            }
          />
        ) : (
          !realms.error && <Loading lines={6} />
        )}
        {rows && rows.length > 0 && (
          <Pager shown={rows.length} total={realms.data?.total} nextCursor={realms.data?.nextCursor} />
        )}
      </div>
      {moves && <MoveDialog onClose={() => setMoves(false)} />}
    </Page>
  );
}

const NotYours = () => <span className="none">not visible to you</span>;
const Waiting = ({ failed }: { failed: boolean }) => <span className="none">{failed ? 'can’t be read' : '…'}</span>;

function useManagers(realm: string) {
  const may = useMay();
  return useRead(listManagers, { params: { realm }, query: { limit: 1000 } }, { enabled: may(realm, 'managers:read') });
}

function ManagersOf({ realm }: { realm: string }) {
  const may = useMay();
  const { data, error } = useManagers(realm);
  if (!may(realm, 'managers:read')) return <NotYours />;
  if (!data) return <Waiting failed={error !== null} />;
  return <Chips items={(data.body ?? []).map(({ manager }) => shortManager(manager))} most={3} />;
}

function DriftOf({ realm }: { realm: string }) {
  const may = useMay();
  const managers = useManagers(realm);
  const found = managers.data?.body ?? [];
  const mayRead = may(realm, 'managers:read') && may(realm, 'events:read');
  const since = Math.min(...found.map(({ lastAppliedAt }) => lastAppliedAt));
  const events = useRead(
    listEvents,
    { params: { realm }, query: byHandQuery(Number.isFinite(since) ? since : 0) },
    { enabled: mayRead && found.length > 0, fill: true },
  );
  if (!mayRead) return <NotYours />;
  if (managers.data && found.length === 0) return <span className="none">none</span>;
  if (!events.data) return <Waiting failed={events.error !== null || managers.error !== null} />;
  const count = (events.data.body ?? []).filter((event) => found.some((manager) => isByHand(event, manager))).length;
  return count === 0 ? <span className="none">none</span> : <Badge tone="warn">{count}</Badge>;
}

function HoldsOf({ realm }: { realm: string }) {
  const may = useMay();
  const mayRead = may(realm, 'holds:read');
  const { data, error } = useRead(listHolds, { params: { realm } }, { enabled: mayRead });
  if (!mayRead) return <NotYours />;
  if (!data) return <Waiting failed={error !== null} />;
  const count = data.body?.length ?? 0;
  return count === 0 ? (
    <span className="none">none</span>
  ) : (
    <Link href={`${inRealm(realm, 'declared')}?tab=holds`}>{count} stand</Link>
  );
}

function LastPlanOf({ realm }: { realm: string }) {
  const may = useMay();
  const mayRead = may(realm, 'realm:read');
  const { data, error } = useRead(listHistory, { params: { realm }, query: { limit: 1 } }, { enabled: mayRead });
  if (!mayRead) return <NotYours />;
  if (!data) return <Waiting failed={error !== null} />;
  const [last] = data.body ?? [];
  return last ? (
    <Link href={historyAddress(realm, last.revision)}>
      <Time ms={last.appliedAt} />
    </Link>
  ) : (
    <span className="none">never</span>
  );
}
