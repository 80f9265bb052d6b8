// Moves agents from state to state, and lists those that somebody should look at. Specification 4.10; decisions "Agent".
import type { Agent } from '../../contract/agents.ts';
import type { EventType } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Caller, ResourceApi } from '../../resource/api.ts';
import type { Resource } from '../../resource/resource.ts';
import { refuseStronger } from '../../resource/rights.ts';
import * as store from './store.ts';

export type Move = 'activate' | 'suspend' | 'revoke' | 'review';

const moves: Record<Move, { from: readonly string[]; to: store.State['status']; event: EventType }> = {
  activate: { from: ['draft', 'suspended'], to: 'active', event: 'AGENT_ACTIVATED' },
  suspend: { from: ['active'], to: 'suspended', event: 'AGENT_SUSPENDED' },
  revoke: { from: ['draft', 'active', 'suspended'], to: 'revoked', event: 'AGENT_REVOKED' },
  review: { from: ['active'], to: 'active', event: 'AGENT_REVIEWED' },
};

/** Why it can't begin to act. */
function hindrance({ owner_enabled: owner, expires_at: end }: store.State, now: Date): string | undefined {
  if (owner === null) return 'it has no owner';
  if (!owner) return 'its owner is disabled';
  return end !== null && end <= now ? 'it has expired' : undefined;
}

export function createAgents({
  sql,
  transact,
  api,
  of,
  now,
}: {
  sql: Sql;
  transact: Transact;
  api: ResourceApi;
  of: Resource;
  now: () => Date;
}) {
  const shown = async (realm: string, id: string) => of.toWire(realm, await api.get(of, realm, { id })) as Agent;

  return {
    /** @throws Problem `wrong-state` where its state or its owner forbids it */
    async move({ principal, by }: Caller, realm: string, id: string, move: Move): Promise<Agent> {
      const { from, to, event } = moves[move];
      await transact(realm, async (tx) => {
        const agent = await store.lock(tx.sql, realm, id);
        if (!agent) throw new Problem('not-found', 'There is no such agent');
        const { name, status, client_id: clientId } = agent;
        if (!from.includes(status)) throw new Problem('wrong-state', `The agent ${name} is ${status}`);
        const why = to === 'active' ? hindrance(agent, now()) : undefined;
        if (why !== undefined) throw new Problem('wrong-state', `The agent ${name} can’t act: ${why}`);
        await refuseStronger(tx.sql, principal, realm, clientId === null ? [] : [clientId]);
        await store.setStatus(tx.sql, realm, id, to, to === 'active' ? now() : null);
        const subject = { type: 'agent', id, name } as const;
        const data = move === 'suspend' ? { reason: 'administrator' } : {};
        tx.record({ type: event, realm, by, subject, clientId, data });
      });
      return shown(realm, id);
    },

    async inReview(realm: string, page: { after: string | undefined; limit: number }) {
      const at = now();
      const rows = await api.list(of, realm, { ...page, filter: store.inReview(at) });
      const why = await store.reasonsOf(
        sql,
        realm,
        rows.map(({ wire }) => String(wire.id)),
        at,
      );
      return rows.map(({ key, wire }) => ({ key, wire: { ...wire, reasons: why.get(String(wire.id)) ?? [] } }));
    },
  };
}
export type Agents = ReturnType<typeof createAgents>;
