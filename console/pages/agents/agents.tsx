// All agents, and those that their owners or an administrator should look at.

import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listAgentsInReview } from '../../generated/routes.ts';
import { kindInSection, leadOf } from '../../kinds/all.ts';
import { listCommands, requestCommands } from '../../kinds/commands.ts';
import { useLock } from '../../kinds/declared-only.tsx';
import { KindTable } from '../../kinds/list.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table, type TableColumn } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import type { PageProps } from '../page.ts';
import { AgentMoves, StatusBadge } from './moves.tsx';

type InReview = OutputOf<typeof listAgentsInReview>[number];
const PAGE_ROWS = 50;

export const reasonWords = {
  'owner-gone': 'it has no owner',
  'owner-disabled': 'its owner is disabled',
  'review-due': 'its review is due',
  expired: 'it has expired',
} as const;

export default function AgentsPage({ params: { realm } }: PageProps) {
  const may = useMay();
  const entry = kindInSection('agents');
  const lock = useLock(realm, 'agents', { kind: 'agent' });
  if (!entry) return null;
  return (
    <Page
      title="Agents"
      lead={leadOf(entry)}
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand
            commands={async () => ({
              ...(await listCommands(entry, realm)),
            })}
          />
          {may(realm, 'agents:write') && (
            <ButtonLink to={inRealm(realm, 'agents', 'new')} variant="primary" icon="add">
              {lock.isLocked ? 'Write a declaration' : 'Create an agent'}
            </ButtonLink>
          )}
        </>
      }
    >
      <Tabs
        label="Agents"
        tabs={[
          { id: 'all', label: 'All agents', content: () => <KindTable entry={entry} realm={realm} /> },
          { id: 'review', label: 'To review', content: () => <Review realm={realm} /> },
        ]}
      />
    </Page>
  );
}

function Review({ realm }: { realm: string }) {
  const may = useMay();
  const cursor = useFilters().get('cursor');
  const query = { limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) };
  const agents = useRead(listAgentsInReview, { params: { realm }, query }, { keep: true });
  const rows = agents.data?.body ?? [];
  const columns: TableColumn<InReview>[] = [
    { id: 'name', head: 'agent', cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'status', head: 'status', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      id: 'reasons',
      head: 'why',
      cell: ({ reasons }) => (
        <span className="chips">
          {reasons.map((reason) => (
            <Badge key={reason} tone="warn">
              {reasonWords[reason]}
            </Badge>
          ))}
        </span>
      ),
    },
    { id: 'owner', head: 'owner', cell: ({ owner }) => <bdi>{owner ?? '–'}</bdi> },
    { id: 'due', head: 'review due', cell: ({ reviewDueAt }) => <Time ms={reviewDueAt} /> },
    { id: 'used', head: 'last used', cell: ({ lastUsedAt }) => <Time ms={lastUsedAt} /> },
    ...actionsColumn(may(realm, 'agents:write'), (agent: InReview) => (
      <span className="row">
        <AgentMoves realm={realm} agent={agent} small />
      </span>
    )),
  ];
  if (agents.error && !agents.data) return <ProblemNote problem={agents.error} retry={() => void agents.refetch()} />;
  if (!agents.data) return <Loading lines={4} />;
  if (rows.length === 0 && cursor === '')
    return (
      <div className="panel">
        <Empty icon="check" title="No agent needs a review">
          <p>An agent is listed here when its owner is gone or disabled, its review is due, or it has expired.</p>
        </Empty>
      </div>
    );
  return (
    <div className="stack">
      <div className="row end">
        <AsCommand quiet commands={() => requestCommands(listAgentsInReview, { realm })} />
      </div>
      <Table
        label="Agents to review"
        columns={columns}
        rows={rows}
        idOf={({ id }) => id}
        to={({ id }) => inRealm(realm, 'agents', id)}
        stale={agents.isPlaceholderData}
      />
      <Pager shown={rows.length} total={agents.data.total} nextCursor={agents.data.nextCursor} />
    </div>
  );
}
