// The agents that a user answers for.
import { useRead } from '../../api/queries.ts';
import { listUserAgents } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserTab } from './user.tsx';

const tones: Readonly<Record<string, 'good' | 'warn' | 'bad'>> = { active: 'good', suspended: 'warn', revoked: 'bad' };

export default function Agents({ realm, user }: UserTab) {
  const agents = useRead(listUserAgents, { params: { realm, userId: user.id }, query: { limit: 1000 } });
  const own = agents.data?.body;
  return (
    <Panel
      title="Agents"
      lead="Programs that act with rights of their own while this user answers for them."
      plain
      actions={
        <ButtonLink to={inRealm(realm, 'agents')} small>
          All agents
        </ButtonLink>
      }
    >
      {agents.error && <ProblemNote problem={agents.error} retry={() => void agents.refetch()} />}
      {!own && !agents.error && <Loading lines={4} />}
      {own && (
        <Table
          label="Agents"
          rows={own}
          idOf={({ id }) => String(id)}
          to={({ id }) => inRealm(realm, 'agents', String(id))}
          columns={[
            { id: 'name', head: 'agent', cell: ({ name }) => <bdi>{name}</bdi> },
            {
              id: 'status',
              head: 'status',
              cell: ({ status }) => {
                const tone = tones[status];
                return <Badge {...(tone && { tone })}>{status}</Badge>;
              },
            },
            { id: 'client', head: 'client', cell: ({ clientId }) => (clientId ? <bdi>{clientId}</bdi> : <None />) },
            {
              id: 'due',
              head: 'review due',
              cell: ({ reviewDueAt }) => (reviewDueAt ? <Time ms={reviewDueAt} /> : <None />),
            },
            { id: 'used', head: 'last used', cell: ({ lastUsedAt }) => <Time ms={lastUsedAt} /> },
          ]}
          empty={
            <Empty icon="agents" title="The user answers for no agent">
              <p>The owner of an agent is set on the agent’s page.</p>
            </Empty>
          }
        />
      )}
    </Panel>
  );
}

const None = () => <span className="none">–</span>;
