// Tells a client with a notification endpoint that its request was decided. The client then asks the token endpoint; the message itself
// grants nothing. CIBA Core §10.2. Safe to repeat: the client ignores a second message.
import { z } from 'zod';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import { readNotification } from '../../../domain/backchannel-requests.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { notificationContext, PING_JOB, pingTerms } from './ping-terms.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 1024, excess: 'cut' } as const;
/** A request lives ten minutes at most. */
const RETRY_DELAYS: readonly number[] = [2, 10, 30, 120];
const Notification = z.object({ authReqId: z.string(), token: z.string() });

export interface PingDeps {
  sql: Sql;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  enqueue: Enqueue;
  now: () => Date;
}

export function pingJob({ sql, seal, outbound, clients, enqueue, now }: PingDeps): Job {
  const retry = createRetries({ sql, enqueue, job: PING_JOB, delaysSeconds: RETRY_DELAYS });

  async function isTold(uri: string, { authReqId, token }: z.infer<typeof Notification>): Promise<boolean> {
    try {
      const { status } = await outbound.fetch(uri, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: Buffer.from(JSON.stringify({ auth_req_id: authReqId })),
        ...LIMITS,
      });
      // §10.2: a redirect is not followed, and a client that refuses isn't told again.
      return status < 500 && status !== 429;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return false;
    }
  }

  return job({
    ...pingTerms,
    async run(decided) {
      const { realm, id } = decided;
      const row = await readNotification(sql, realm, id, now());
      const client = row && (await clients.view(realm, row.client_id));
      const uri = client?.enabled ? client.backchannelNotificationEndpoint : null;
      if (!row || uri === null || uri === undefined) return;
      const opened = seal.open(row.notification, notificationContext(realm, id)).toString();
      if (await isTold(uri, Notification.parse(JSON.parse(opened)))) return;
      // The client can poll as well, so giving up loses nothing.
      await retry(decided, async () => {});
    },
  });
}
