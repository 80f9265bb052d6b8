// An agent: its fields, its state, and what keeps it from acting.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { Note } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { type Agent, AgentMoves, StatusBadge } from './moves.tsx';

const agentOf = (row: Row): Agent => row as unknown as Agent;

export default detailWith('agents', ({ realm }) => {
  const mayWrite = useMay()(realm, 'agents:write');
  return {
    badges: (row) => <StatusBadge status={agentOf(row).status} />,
    lead: (row) => <State agent={agentOf(row)} />,
    actions: (row) => mayWrite && <AgentMoves realm={realm} agent={agentOf(row)} />,
  };
});

function State({ agent: { status, owner, expiresAt, reviewDueAt } }: { agent: Agent }) {
  const now = Date.now();
  if (status === 'revoked') return <Note tone="bad">It is revoked for good: its client gets no tokens.</Note>;
  if (expiresAt !== null && expiresAt < now)
    return (
      <Note tone="bad">
        It expired <Time ms={expiresAt} />. Set a later end before you activate it.
      </Note>
    );
  if (owner === null)
    return <Note tone="warn">It has no owner. Name one before you activate it: only an agent with an owner acts.</Note>;
  if (status === 'draft') return <Note>It is a draft: its client gets no tokens until it is activated.</Note>;
  if (status === 'suspended')
    return <Note tone="warn">It is suspended: its client gets no tokens until it is activated.</Note>;
  if (reviewDueAt === null) return null;
  return (
    <Note tone={reviewDueAt < now ? 'warn' : 'info'}>
      {reviewDueAt < now ? 'Its review was due ' : 'Its review is due '}
      <Time ms={reviewDueAt} />. Without one it is suspended then.
    </Note>
  );
}
