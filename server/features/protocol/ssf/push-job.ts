// Owns: pushing tokens to receivers, and trying again.
// Does not own: making them (tokens-job.ts), what receivers fetch (service.ts).
// Implements: RFC 8935 §2; decisions "Signal receiver". Safe to repeat: a try with a stored outcome ends at once.
import { z } from 'zod';
import { bySystem } from '../../../contract/events.ts';
import { SET_TYPE } from '../../../contract/signals.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue } from '../../../jobs/retries.ts';
import { createConcurrencyLimit } from '../../../schedule/concurrency-limit.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { RETRY_DELAYS } from '../../configuration/webhooks/delivery.ts';
import { PUSH_JOB, type PushedSet, pushTerms } from './consumer.ts';
import { streamSecret } from './secret.ts';
import type { SetSigner } from './signing.ts';
import * as store from './store.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 16 * 1024, excess: 'cut' } as const;
const PER_REALM = 8;
const MOST_ERROR = 500;
const DISABLED_SECONDS = 600;

/** RFC 8935 §2.4: the token itself is at fault, so sending it again is of no use. */
const Refusal = z.object({ err: z.string().max(100), description: z.string().max(1000).optional() });
const FINAL: readonly string[] = ['invalid_request', 'invalid_key', 'invalid_issuer', 'invalid_audience'];

export interface PushJobDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  signing: SetSigner;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  outbound: Pick<Outbound, 'fetch'>;
  enqueue: Enqueue;
  retryDelaysSeconds?: readonly number[];
  now: () => Date;
}

export function pushJob(deps: PushJobDeps): Job {
  const { sql, realmSql, transact, seal, signing, clients, outbound, enqueue, now } = deps;
  const { retryDelaysSeconds = RETRY_DELAYS } = deps;
  const retry = createRetries({ sql, enqueue, job: PUSH_JOB, delaysSeconds: retryDelaysSeconds });
  const limited = createConcurrencyLimit({ perKey: PER_REALM, now });

  async function send(realm: string, streamId: string, set: store.Sendable, client: ClientView) {
    const authorization =
      set.authorization_header && streamSecret(seal).open(set.authorization_header, { realm, id: streamId });
    try {
      const { status, body } = await outbound.fetch(set.endpoint_url ?? '', {
        method: 'POST',
        headers: {
          'content-type': SET_TYPE,
          accept: 'application/json',
          ...(authorization && { authorization }),
        },
        body: Buffer.from(await signing.sign(realm, client, set.claims)),
        ...LIMITS,
      });
      if (status >= 200 && status < 300) return { responseStatus: status, error: null, final: false };
      const refusal = status === 400 ? refusalIn(body) : undefined;
      const error = refusal ? `${refusal.err}: ${refusal.description ?? ''}` : `answered ${status}`;
      return { responseStatus: status, error: error.slice(0, MOST_ERROR), final: FINAL.includes(refusal?.err ?? '') };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { responseStatus: null, error: error.message.slice(0, MOST_ERROR), final: false };
    }
  }

  /** One try of one token. @returns an older token about the same user, which goes first: nothing was sent */
  async function attemptOf(
    { realm, streamId, id, attempt = 1, group = 0 }: PushedSet,
    { inOrder }: { inOrder: boolean },
  ): Promise<string | undefined> {
    const set = await store.sendableSet(sql, realm, id);
    if (set?.sent !== 'pending' || set.attempts >= attempt) return undefined;
    const client = await clients.view(realm, set.client_id);
    // A paused stream keeps its tokens until it is enabled again; SSF 1.0 §8.1.2.
    if (!set.pushed || set.status !== 'enabled' || !client) return undefined;
    if (!set.enabled || !client.enabled) {
      // Nothing says when an administrator enables the receiver again; the janitor ends the waiting.
      await enqueue(sql, PUSH_JOB, [{ realm, streamId, id, attempt, group }], { startAfterSeconds: DISABLED_SECONDS });
      return undefined;
    }
    if (inOrder && set.earlier !== null) return set.earlier;
    const outcome = await limited(realm, () => send(realm, streamId, set, client));
    if ('retryAfterSeconds' in outcome) {
      const { retryAfterSeconds: startAfterSeconds } = outcome;
      if (inOrder) await enqueue(sql, PUSH_JOB, [{ realm, streamId, id, attempt, group }], { startAfterSeconds });
      return undefined;
    }
    const { final, ...answer } = outcome.result;
    const settled = { ...answer, attempt, at: now() };
    if (answer.error === null) {
      await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status: 'delivered' });
      return undefined;
    }
    await retry(
      { realm, streamId, id, attempt, group },
      async (status) => {
        if (status === 'retrying') {
          await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status: 'pending' });
          return;
        }
        await transact(realm, async (tx) => {
          await store.recordOutcome(tx.sql, realm, id, { ...settled, status: 'dead' });
          tx.record({
            type: 'SIGNAL_DELIVERY_FAILED',
            realm,
            by: bySystem,
            clientId: set.client_id,
            outcome: 'failure',
            data: { streamId, jti: id, reason: answer.error },
          });
        });
      },
      { final },
    );
    return undefined;
  }

  return job({
    ...pushTerms,
    async run(pushed) {
      // The queue may hand jobs out in another order than they came. The older token's own job ends at once, as it has been tried.
      const earlier = await attemptOf(pushed, { inOrder: true });
      if (earlier === undefined) return;
      await attemptOf({ ...pushed, id: earlier, attempt: 1 }, { inOrder: false });
      await enqueue(sql, PUSH_JOB, [pushed], { startAfterSeconds: 1 });
    },
  });
}

function refusalIn(body: Buffer): z.infer<typeof Refusal> | undefined {
  try {
    return Refusal.safeParse(JSON.parse(body.toString())).data;
  } catch {
    return undefined;
  }
}
