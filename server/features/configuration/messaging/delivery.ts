// Sends messages through the realm's gateways, and schedules the next try. Safe to repeat: a try whose outcome is
// stored ends at once; a message that is sent twice has the same content. Decisions "Messaging".
import { bySystem } from '../../../contract/events.ts';
import type { Channel } from '../../../contract/message-drivers.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { namedUser } from '../../../domain/party.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue } from '../../../jobs/retries.ts';
import type { Sent } from './driver.ts';
import type { Gateways } from './gateways.ts';
import { MESSAGE_JOB, messageTerms } from './message-job.ts';
import { forgetDevice, markUsed } from './push-tokens.ts';
import { Content, contentContext } from './send.ts';
import * as store from './store.ts';

/** Seven tries in two hours, while the message is still useful; each delay is up to a fifth shorter or longer. */
const RETRY_DELAYS: readonly number[] = [5, 15, 60, 300, 1_200, 3_600];

export interface MessageJobDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  gateways: Gateways;
  /** Counts tries for the metrics. A message that is given up is an event instead. */
  tried(realm: string, channel: Channel, outcome: 'sent' | 'retried'): void;
  enqueue: Enqueue;
  now: () => Date;
  retryDelaysSeconds?: readonly number[] | undefined;
  random?: () => number;
}

export function messageJob({
  sql,
  realmSql,
  transact,
  seal,
  gateways,
  tried,
  enqueue,
  now,
  retryDelaysSeconds = RETRY_DELAYS,
  random = Math.random,
}: MessageJobDeps): Job {
  type Row = NonNullable<Awaited<ReturnType<typeof store.sendableMessage>>>;

  async function giveUp(
    realm: string,
    { id, channel, template_key, user_id }: Row,
    outcome: store.Outcome,
  ): Promise<void> {
    await transact(realm, async (tx) => {
      const [settled] = await store.recordOutcome(tx.sql, realm, id, outcome);
      if (!settled) return;
      const subject = await namedUser(tx.sql, realm, user_id);
      const data = { message: id, channel, templateKey: template_key, error: outcome.error };
      tx.record({ type: 'MESSAGE_FAILED', realm, by: bySystem, subject, outcome: 'failure', data });
    });
  }

  async function tryOnce(realm: string, row: Row, content: Content, attempt: number): Promise<Sent> {
    if (row.expires_at <= now()) return { ok: false, words: 'it was not sent while it was of use', again: false };
    const { pushTokenId, driver, secrets, ...message } = content;
    const sent = await gateways.send(
      realm,
      { ...message, id: row.id, expiresAt: row.expires_at },
      { channel: row.channel, driver, attempt, secrets },
    );
    if (pushTokenId !== undefined && sent.ok) await markUsed(realmSql(realm), realm, pushTokenId, now());
    if (pushTokenId !== undefined && !sent.ok && sent.gone) await forgetDevice(realmSql(realm), realm, pushTokenId);
    return sent;
  }

  const retry = createRetries({ sql, enqueue, job: MESSAGE_JOB, delaysSeconds: retryDelaysSeconds, random });

  return job({
    ...messageTerms,
    async run({ realm, id, attempt, done }) {
      const row = await store.sendableMessage(sql, realm, id);
      if (!row || row.attempts >= attempt || row.status === 'sent' || row.status === 'dead') return;
      if (!row.content) {
        await store.drop(realmSql(realm), realm, id);
        return;
      }
      const content = Content.parse(JSON.parse(seal.open(row.content, contentContext(realm, id)).toString()));
      const sent = await tryOnce(realm, row, content, attempt);
      const gone = !sent.ok && sent.gone;
      const settled = { attempt, error: sent.ok ? null : sent.words, at: now(), gone };
      if (sent.ok) {
        const [first] = await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status: 'sent' });
        if (first) tried(realm, row.channel, 'sent');
        return;
      }
      const { channel } = row;
      const settle = async (status: 'retrying' | 'dead') => {
        if (status === 'dead') return giveUp(realm, row, { ...settled, status });
        const [first] = await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status });
        if (first) tried(realm, channel, 'retried');
      };
      await retry({ realm, id, channel, attempt, done }, settle, {
        done,
        final: !sent.again,
        notBeforeSeconds: sent.afterSeconds ?? 0,
        isOfUse: (seconds) => now().getTime() + seconds * 1000 < row.expires_at.getTime(),
      });
    },
  });
}
