// Fetches the tokens of transmitters that don't push: one look a minute, and until nothing more is waiting. RFC 8936 §2.4.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import { POLL_JOB, pollDueTerms, pollTerms } from './jobs.ts';
import type { Receiving } from './receiving.ts';
import * as store from './store.ts';
import { SetRefusal } from './token.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 } as const;
const AT_ONCE = 50;
const ROUNDS = 20;

const Answer = z.object({
  sets: z.record(z.string(), z.string()).default({}),
  moreAvailable: z.boolean().default(false),
});
interface Receipts {
  ack: string[];
  setErrs: Record<string, { err: string; description: string }>;
}

export interface PollJobDeps {
  sql: Sql;
  outbound: Pick<Outbound, 'fetch'>;
  receiving: Receiving;
  enqueue: Enqueue;
  warn(message: string): void;
}

export function pollJobs({ sql, outbound, receiving, enqueue, warn }: PollJobDeps): Job[] {
  async function fetched(realm: string, transmitter: store.TransmitterRow, settled: Receipts, maxEvents: number) {
    const authorization = receiving.secretOf(realm, transmitter);
    const { status, body } = await outbound.fetch(transmitter.poll_url ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(authorization !== undefined && { authorization }),
      },
      body: Buffer.from(JSON.stringify({ maxEvents, returnImmediately: true, ...settled })),
      ...LIMITS,
    });
    if (status < 200 || status >= 300) throw new Error(`answered ${status}`);
    return body.length === 0 ? Answer.parse({}) : Answer.parse(JSON.parse(body.toString()));
  }

  async function drain(realm: string, transmitter: store.TransmitterRow, signal: AbortSignal): Promise<void> {
    let settled: Receipts = { ack: [], setErrs: {} };
    for (let round = 0; round < ROUNDS && !signal.aborted; round += 1) {
      const { sets, moreAvailable } = await fetched(realm, transmitter, settled, AT_ONCE);
      settled = { ack: [], setErrs: {} };
      for (const [jti, jwt] of Object.entries(sets).slice(0, AT_ONCE)) {
        try {
          await receiving.receive(realm, transmitter, jwt, null);
          settled.ack.push(jti);
        } catch (error) {
          if (!(error instanceof SetRefusal)) throw error;
          settled.setErrs[jti] = { err: error.err, description: error.message };
        }
      }
      const some = settled.ack.length + Object.keys(settled.setErrs).length > 0;
      if (!some) return;
      if (moreAvailable) continue;
      await fetched(realm, transmitter, settled, 0);
      return;
    }
  }

  return [
    job({
      ...pollTerms,
      async run({ realm, id }, { signal }) {
        const transmitter = await store.polledTransmitter(sql, realm, id);
        if (!transmitter) return;
        try {
          await drain(realm, transmitter, signal);
        } catch (error) {
          const theirs = [OutboundError, OAuthError, SyntaxError, z.ZodError];
          const isTheirs = theirs.some((kind) => error instanceof kind);
          if (!(error instanceof Error && (isTheirs || /^answered \d+$/.test(error.message)))) throw error;
          // The next look tries again; nothing was acknowledged that didn't count.
          warn(`the signal transmitter ${transmitter.name} of the realm ${realm} could not be asked: ${error.message}`);
        }
      },
    }),
    job({
      ...pollDueTerms,
      async run() {
        const all = await store.polledTransmitters(sql);
        if (all.length > 0) await enqueue(sql, POLL_JOB, all);
      },
    }),
  ];
}
