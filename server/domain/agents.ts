// When an agent may act, and how it is suspended: one rule for tokens, the admin API, the owner's removal and the review.
// Decisions "Agent": an agent never outlives its owner, its review date or its own expiry.
import type { By, Party } from '../contract/events.ts';
import { type Fragment, fragment } from '../db/statement.ts';
import type { Tx } from '../db/transact.ts';

/** Days before an agent's review at which its owner is asked to confirm the agent. */
export const AGENT_REMINDER_DAYS = 14;

/** Condition on an agent's row `t`: it may act. Its expiry is checked apart. */
export const agentActs = fragment`(t.status = 'active' and exists (
  select from realm_user o where o.realm_id = t.realm_id and o.id = t.user_id and o.enabled))`;

/** The party that acts through a client: the agent if the client belongs to one, else the client. */
export const partyOfClient = ({
  id,
  clientId,
  agent,
}: {
  id: string;
  clientId: string;
  agent: { id: string; name: string } | null;
}): Party => (agent ? { type: 'agent', id: agent.id, name: agent.name } : { type: 'client', id, name: clientId });

export type SuspensionCause =
  | 'administrator'
  | 'owner'
  | 'owner-disabled'
  | 'owner-deleted'
  | 'review-overdue'
  /** The owner reported that a stranger signed in as them. */
  | 'reported'
  | 'expired';

/** Suspends active agents. @param which a condition on the agent's row `t` */
export async function suspendAgents(
  { sql, record }: Pick<Tx, 'sql' | 'record'>,
  realm: string,
  { which, cause, by }: { which: Fragment; cause: SuspensionCause; by: By },
): Promise<void> {
  const rows = await sql<{ id: string; name: string; client_id: string | null }>`
    update agent t set status = 'suspended' where t.realm_id = ${realm} and t.status = 'active' and ${which}
    returning t.id, t.name, t.client_id`;
  for (const { id, name, client_id: clientId } of rows)
    record({
      type: 'AGENT_SUSPENDED',
      realm,
      by,
      subject: { type: 'agent', id, name },
      clientId,
      data: { reason: cause },
    });
}

/** Suspends a user's agents that were made, activated or confirmed since that moment. */
export const suspendAgentsSince = (
  tx: Tx,
  by: By,
  realm: string,
  { id }: { id: string },
  { since }: { since: Date },
): Promise<void> =>
  suspendAgents(tx, realm, {
    which: fragment`t.user_id = ${id} and (t.created_at >= ${since} or t.reviewed_at >= ${since})`,
    cause: 'reported',
    by,
  });
