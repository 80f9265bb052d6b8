// Moves agents between states, and lists the agents that need an administrator's attention. Specification 4.10; decisions
// "Agent".
import type { Agent } from '../../../contract/agents.ts';
import { Problem } from '../../../contract/problem.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Caller, ResourceApi } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import { refuseStronger } from '../../../resource/rights.ts';
import { type Move, moveAgent } from './moves.ts';
import * as store from './store.ts';

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
    async move({ principal, by }: Caller, realm: string, id: string, move: Move): Promise<Agent> {
      await transact(realm, async (tx) => {
        const clientId = await moveAgent(tx, realm, { id }, { move, by, at: now() });
        await refuseStronger(tx.sql, principal, realm, clientId === null ? [] : [clientId]);
      });
      return shown(realm, id);
    },

    /** The agents of an owner. @throws Problem `not-found` */
    async ofUser(realm: string, userId: string, page: { after: string | undefined; limit: number }) {
      if (!(await store.userExists(sql, realm, userId))) throw new Problem('not-found', 'There is no such user');
      return api.list(of, realm, { ...page, filter: fragment`and t.user_id = ${userId}::uuid` });
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
