// The agents of a user, on the account surface: the user lists the agents that act for them, and stops, revokes or reviews
// the agents that they own. Only an administrator activates an agent. Specification 4.10, 4.11; decisions "Agent".

import type { OwnAgent } from '../../../contract/account.ts';
import type { By } from '../../../contract/events.ts';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { suspendAgents } from '../../../domain/agents.ts';
import { moveAgent } from './moves.ts';
import * as store from './store.ts';

export function createOwnAgents({ sql, transact, now }: { sql: Sql; transact: Transact; now: () => Date }) {
  return {
    list: (realm: string, userId: string): Promise<OwnAgent[]> => store.ownAgents(sql, realm, userId),

    /** Stopping an agent that is not active changes nothing. */
    stop: (by: By, realm: string, of: { id: string; owner: string }): Promise<void> =>
      transact(realm, async (tx) => {
        if (!(await store.isOwn(tx.sql, realm, of))) throw new Problem('not-found', phrase('noAgent'));
        await suspendAgents(tx, realm, { which: fragment`t.id = ${of.id}`, cause: 'owner', by });
      }),

    async move(by: By, realm: string, of: { id: string; owner: string }, move: 'revoke' | 'review'): Promise<void> {
      await transact(realm, (tx) => moveAgent(tx, realm, of, { move, by, at: now() }));
    },
  };
}
export type OwnAgents = ReturnType<typeof createOwnAgents>;
