// When an agent may act, and how it stops: the same for tokens, the admin API, its owner's end and its review.
// Decisions "Agent": it never outlives its owner, its review or its own end.
import type { By, Party } from '../contract/events.ts';
import { type Fragment, fragment } from '../db/statement.ts';
import type { Tx } from '../db/transact.ts';

/** How long before its review the owner is asked to confirm it. */
export const AGENT_REMINDER_DAYS = 14;

/** Of a row `t`: it may act, until it expires. */
export const agentActs = fragment`(t.status = 'active' and exists (
  select from realm_user o where o.realm_id = t.realm_id and o.id = t.user_id and o.enabled))`;

/** Who acts by a client: its agent, where it is one's own. */
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
  /** Somebody else has signed in as the owner, says the owner. */
  | 'reported'
  | 'expired';

/** @param which of the active agents, as a condition on the row `t` */
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

/** Those of a person that somebody made, let act or confirmed since then. */
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
