// Owns: the durable queue (pg-boss, schema `pgboss`): its set-up, its workers, enqueueing in the caller's transaction.
// Does not own: a job's work (each feature's Job record, listed in server/compose/).
// Implements: design "Jobs"; decisions "Webhooks" (by a durable queue).

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Job as Claimed, PgBoss } from 'pg-boss';
import { DAY_SECONDS } from '../contract/durations.ts';
import { KEEP_ALIVE } from '../db/dead-peer.ts';
import { connectionTo } from '../db/hosts.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { traced, traceparent } from '../telemetry/spans.ts';
import type { Job } from './job.ts';

export interface EnqueueOptions {
  startAfterSeconds?: number;
}
export interface Queue {
  /** Registers the jobs; called once, before anything else. */
  takes(jobs: readonly Job[]): void;
  /** Installs the schema and starts the workers. An earlier `enqueue` also installs it, and waits for that. */
  start(): Promise<void>;
  /** Accepts no more work, waits briefly for running jobs, hands back the rest. */
  stop(): Promise<void>;
  /** Stores jobs in the transaction of `sql`: they exist if it commits. */
  enqueue(sql: Sql, name: string, payloads: readonly object[], options?: EnqueueOptions): Promise<void>;
}
export interface QueueOptions {
  url: string;
  log(message: string, error: unknown): void;
  /** How long stop() waits for running jobs. */
  graceMs?: number;
  /** The interval of checks for lost jobs, whose process died. */
  superviseSeconds?: number;
}

const CONNECTIONS = 4;
/** One idle worker also polls: for jobs that have become due, and in case a notification was lost. */
const LOOK_SECONDS = 1;
const LOOK_RARELY_SECONDS = 30;
const RETRY_MAX_SECONDS = 300;
const QUIET_MS = 30_000;
/** Options of pg that pg-boss passes on, though its types don't have them. pg-boss itself watches its LISTEN connection. */
const CONNECTION = { ...KEEP_ALIVE, query_timeout: 60_000 };

export function createQueue({ url, log, graceMs = 5_000, superviseSeconds = 10 }: QueueOptions): Queue {
  const known = new Map<string, Job>();
  const timers: NodeJS.Timeout[] = [];
  let opened: Promise<PgBoss> | undefined;
  let running: PgBoss | undefined;

  async function open(): Promise<PgBoss> {
    const jobs = [...known.values()];
    // Loaded here, so that programs that run no jobs don't load it.
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      ...connectionTo(url),
      schema: 'pgboss',
      application_name: 'realmkeeper-jobs',
      max: CONNECTIONS,
      ...CONNECTION,
      useListenNotify: true,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      persistWarnings: false,
      // its clock reads cron lines; ours are plain intervals
      schedule: false,
    });
    boss.on('error', quietly(log));
    boss.on('warning', ({ message }) => log(message, undefined));
    running = boss;
    await boss.start();
    const there = new Map((await boss.getQueues()).map((one) => [one.name, one]));
    for (const job of jobs) {
      const options = queueOptions(job);
      const kept = there.get(job.name);
      if (!kept) await boss.createQueue(job.name, options);
      else if (!isDeepStrictEqual({ ...kept, ...options }, { ...kept })) await boss.updateQueue(job.name, options);
    }
    const wakes: (() => void)[] = [];
    for (const job of jobs) {
      wakes.push(await work(boss, job, log));
      if (job.everySeconds !== undefined) timers.push(repeat(boss, job.name, job.everySeconds, log));
    }
    const look = () => {
      for (const wake of wakes) wake();
    };
    timers.push(setInterval(look, LOOK_SECONDS * 1000).unref());
    return boss;
  }

  const queue = (): Promise<PgBoss> => (opened ??= open());

  return {
    takes(jobs) {
      for (const job of jobs) known.set(job.name, job);
    },
    async start() {
      await queue();
    },
    async stop() {
      // a queue that is still starting can't be stopped half-way
      await Promise.race([opened?.catch(() => {}), sleep(graceMs, undefined, { ref: false })]);
      const boss = running;
      if (!boss) return;
      for (const timer of timers) clearInterval(timer);
      const idle = Promise.all([...known.keys()].map((name) => boss.offWork(name)));
      await Promise.race([idle, sleep(graceMs, undefined, { ref: false })]);
      // Running jobs are marked as failed, which makes them due again at once, in another process or after the restart.
      await boss.stop({ graceful: false, close: true });
    },
    async enqueue(sql, name, payloads, { startAfterSeconds } = {}) {
      const job = known.get(name);
      if (!job) throw new Error(`there is no job ${name}`);
      const boss = await queue();
      await boss.insert(
        name,
        payloads.map((data) => ({
          data: { cause: traceparent(), ...data },
          ...(startAfterSeconds === undefined ? {} : { startAfter: startAfterSeconds }),
          ...(job.group && { group: { id: job.group.of(data) } }),
        })),
        { db: { executeSql: (text, values) => onCallers(sql, text, values) } },
      );
    },
  };
}

const queueOptions = (job: Job) => ({
  notify: true,
  retryLimit: job.maxAttempts - 1,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: RETRY_MAX_SECONDS,
  expireInSeconds: job.expireSeconds,
  // The server's own tables log deliveries; pg-boss's rows are only the queue.
  deleteAfterSeconds: 600,
  retentionSeconds: 30 * DAY_SECONDS,
});

/**
 * The workers of one job. A worker that found a job looks again afterwards and wakes an idle one, so a backlog spreads
 * over all of them although a notification is sent once. A group's places are counted in this process: a count in the
 * database would be read by all workers that one notification wakes, before any of them has written its claim.
 */
async function work(boss: PgBoss, job: Job, log: QueueOptions['log']): Promise<() => void> {
  const wake = () => {
    const workers = boss.getWipData().filter(({ name }) => name === job.name);
    const idle = workers.find(({ count }) => count === 0);
    for (const worker of workers) if (worker.count > 0 || worker === idle) boss.notifyWorker(worker.id);
  };
  if (job.concurrency > 0) {
    await boss.work<object>(
      job.name,
      {
        batchSize: 1,
        localConcurrency: job.concurrency,
        ...(job.group && { localGroupConcurrency: job.group.concurrency }),
        pollingIntervalSeconds: LOOK_SECONDS,
        notifyPollingIntervalSeconds: LOOK_RARELY_SECONDS,
      },
      async ([claimed]: Claimed<object>[]) => {
        if (!claimed) return;
        wake();
        try {
          const cause = 'cause' in claimed.data ? String(claimed.data.cause) : undefined;
          const options = { kind: 'consumer', attributes: { 'realmkeeper.job': job.name }, cause } as const;
          await traced(`job ${job.name}`, options, () => job.run(claimed.data, { signal: claimed.signal }));
        } catch (error) {
          log(`the job ${job.name} failed and will be tried again`, error);
          throw error;
        }
      },
    );
  }
  return wake;
}

/** Requests a job at intervals. Every process does, and PostgreSQL stores only the first request of an interval. */
function repeat(boss: PgBoss, name: string, seconds: number, log: QueueOptions['log']): NodeJS.Timeout {
  const ask = () => {
    boss
      .send(name, {}, { singletonSeconds: seconds })
      .catch((error: unknown) => log(`the job ${name} could not be asked for`, error));
  };
  ask();
  return setInterval(ask, seconds * 1000).unref();
}

/** Runs pg-boss's statement (`$1`, `$2`, …) in the caller's transaction. */
async function onCallers(sql: Sql, text: string, values: readonly unknown[] = []) {
  const parts = text.split(/\$(\d+)/);
  const strings = parts.filter((_, i) => i % 2 === 0);
  const used = parts.filter((_, i) => i % 2 === 1).map((n) => values[Number(n) - 1]);
  const whole = fragment(Object.assign(strings, { raw: strings }), ...used);
  return { rows: await sql<Record<string, unknown>>`${whole}` };
}

/** While the database is away every worker fails every second, so only one failure in a while is logged. */
function quietly(log: QueueOptions['log']) {
  let until = 0;
  return (error: Error) => {
    if (Date.now() < until) return;
    until = Date.now() + QUIET_MS;
    log(`the job queue: ${error.message}`, error);
  };
}
