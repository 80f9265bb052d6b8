// The job that enforces reviews and ends of agents: it reminds owners of a due review, then suspends the agent. Running it
// twice is safe: it reminds once for each review, and it suspends only active agents. Decisions "Agent".

import { z } from 'zod';
import { DAY_MS, DAY_SECONDS } from '../../../contract/durations.ts';
import { bySystem } from '../../../contract/events.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { AGENT_REMINDER_DAYS, suspendAgents } from '../../../domain/agents.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { type Job, job } from '../../../jobs/job.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import * as store from './store.ts';

export interface AgentReviewDeps {
  sql: Sql;
  transact: Transact;
  send: Send;
  baseUrl: string;
  now: () => Date;
}

export function agentReviews({ sql, transact, send, baseUrl, now }: AgentReviewDeps): Job {
  async function remind(tx: Tx, realm: string, until: Date): Promise<void> {
    for (const { name, user_id: userId, email, due } of await store.takeDueReminders(tx.sql, realm, until))
      await send(tx, {
        realm,
        by: bySystem,
        userId,
        to: email,
        templateKey: 'agent-review-email',
        values: { agent: name, time: due.toISOString().slice(0, 10), link: endpointsOf(baseUrl, realm).account },
        goodForSeconds: DAY_SECONDS,
      });
  }

  return job({
    name: 'agent-reviews',
    schema: z.object({}),
    maxAttempts: 1,
    expireSeconds: 600,
    concurrency: 1,
    everySeconds: 600,
    async run() {
      const at = now();
      const until = new Date(at.getTime() + AGENT_REMINDER_DAYS * DAY_MS);
      // One transaction for each realm, because each realm has its own audit log.
      for (const realm of await store.realmsDue(sql, at, until))
        await transact(
          realm,
          async (tx) => {
            const which = { 'review-overdue': store.reviewDue, expired: fragment`t.expires_at` } as const;
            for (const cause of ['review-overdue', 'expired'] as const)
              await suspendAgents(tx, realm, { which: fragment`${which[cause]} <= ${at}`, cause, by: bySystem });
            await remind(tx, realm, until);
          },
          { bookkeeping: true },
        );
    },
  });
}
