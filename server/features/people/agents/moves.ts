// The allowed transitions between the states of an agent, by an administrator or by the agent's owner. Specification 4.10;
// decisions "Agent".
import type { By, EventType } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Tx } from '../../../db/transact.ts';
import * as store from './store.ts';

export type Move = 'activate' | 'suspend' | 'revoke' | 'review';

const moves: Record<Move, { from: readonly string[]; to: store.State['status']; event: EventType }> = {
  activate: { from: ['draft', 'suspended'], to: 'active', event: 'AGENT_ACTIVATED' },
  suspend: { from: ['active'], to: 'suspended', event: 'AGENT_SUSPENDED' },
  revoke: { from: ['draft', 'active', 'suspended'], to: 'revoked', event: 'AGENT_REVOKED' },
  review: { from: ['active'], to: 'active', event: 'AGENT_REVIEWED' },
};

/** Why the agent can't become active; undefined: it can. */
function hindrance({ owner_enabled: owner, expires_at: end }: store.State, now: Date): string | undefined {
  if (owner === null) return 'it has no owner';
  if (!owner) return 'its owner is disabled';
  return end !== null && end <= now ? 'it has expired' : undefined;
}

/**
 * @param of `owner`: move the agent only if this user owns it
 * @returns the id of the client by which the agent acts
 * @throws Problem `wrong-state`: the agent's state or its owner forbids the move
 */
export async function moveAgent(
  tx: Tx,
  realm: string,
  of: { id: string; owner?: string },
  { move, by, at }: { move: Move; by: By; at: Date },
): Promise<string | null> {
  const { from, to, event } = moves[move];
  const agent = await store.lock(tx.sql, realm, of);
  if (!agent) throw new Problem('not-found', 'There is no such agent');
  const { name, status, client_id: clientId } = agent;
  if (!from.includes(status)) throw new Problem('wrong-state', `The agent ${name} is ${status}`);
  const why = to === 'active' ? hindrance(agent, at) : undefined;
  if (why !== undefined) throw new Problem('wrong-state', `The agent ${name} can’t act: ${why}`);
  await store.setStatus(tx.sql, realm, of.id, to, to === 'active' ? at : null);
  const subject = { type: 'agent', id: of.id, name } as const;
  const data = move === 'suspend' ? { reason: 'administrator' } : {};
  tx.record({ type: event, realm, by, subject, clientId, data });
  return clientId;
}
