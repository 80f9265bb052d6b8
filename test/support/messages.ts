// Owns: asking for messages on a test server's database, as a feature does in its transaction; the test server sends them.
// Does not own: gateways (gateways.ts, receiver.ts).
import { bySystem } from '../../server/contract/events.ts';
import { newId } from '../../server/crypto/ids.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { createTransact, type Tx } from '../../server/db/transact.ts';
import { createOutbox } from '../../server/events/outbox.ts';
import type { Request } from '../../server/features/configuration/messaging/send.ts';
import { createMessaging } from '../../server/features/configuration/messaging/service.ts';
import { createSettings } from '../../server/features/configuration/settings/service.ts';
import { createOutbound } from '../../server/http/outbound.ts';
import { createQueue } from '../../server/jobs/queue.ts';
import { MASTER_KEY, type TestServer } from './server.ts';

export function startAsking({ pool, databaseUrl, baseUrl }: TestServer, now = () => new Date()) {
  const sql = sqlOver(pool);
  const seal = createSeal([MASTER_KEY]);
  const queue = createQueue({ url: databaseUrl, log: () => {} });
  const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: true });
  const outbound = createOutbound();
  const warnings: string[] = [];
  const messaging = createMessaging({
    sql,
    realmSql: () => sql,
    transact,
    seal,
    outbound,
    settings: createSettings({ sql, transact, keys: { prepare: () => Promise.resolve() }, baseUrl, now }),
    enqueue: queue.enqueue,
    baseUrl,
    retryDelaysSeconds: undefined,
    tried: () => {},
    warn: (words) => void warnings.push(words),
    now,
    newId,
  });
  // it asks alone
  queue.takes([{ ...messaging.job, concurrency: 0 }]);
  return {
    /** Warnings for the log. */
    warnings,
    /** A job's dependencies. */
    with: { sql, transact, send: messaging.send },
    /** In a transaction of its own, which `after` may still fail. */
    ask: (request: Partial<Request> & Pick<Request, 'realm' | 'userId' | 'templateKey'>, after?: (tx: Tx) => unknown) =>
      transact(request.realm, async (tx) => {
        await messaging.send(tx, { by: bySystem, values: {}, ...request });
        await after?.(tx);
      }),
    async stop() {
      await queue.stop();
      await outbound.close();
    },
  };
}
export type Asking = ReturnType<typeof startAsking>;
