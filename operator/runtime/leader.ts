// Leader election by a Lease: one process acts, others stand by. What client-go's leaderelection does, and stricter where
// two could act: it counts from before a renewal was sent, and gives up at once when it sees another writer.
// It knows no Kubernetes (source/lease.ts does) and does no work. Decisions "Custom resources".

import { errorWords } from '../../server/contract/error-words.ts';
import type { Timers } from './queue.ts';

export interface LeaseRecord {
  /** Empty: released. */
  holderIdentity: string;
  leaseDurationSeconds: number;
  acquireTime: Date;
  renewTime: Date;
  leaseTransitions: number;
}

/** One Lease. Writes go over what was read or written last; they answer false where somebody else has written since. */
export interface LeasePort {
  read(signal: AbortSignal): Promise<LeaseRecord | undefined>;
  create(record: LeaseRecord, signal: AbortSignal): Promise<boolean>;
  update(record: LeaseRecord, signal: AbortSignal): Promise<boolean>;
}

export interface LeaderOptions {
  lease: LeasePort;
  /** Of this process alone: a process that is started again is another one. */
  identity: string;
  leaseSeconds: number;
  /** `now` is a monotonic clock; when another process wrote its record doesn't matter, only that it changed. */
  timers: Timers;
  /** Goes into the record, for people to read. */
  wallClock(): Date;
  /** From now on this process may act. */
  acquired(): void;
  /** From now on it must not; called once, after `acquired`. It never leads again. */
  lost(reason: string): void;
  log(message: string): void;
}

export interface Leader {
  /** Whether this process may act at this very moment, by the clock and not by a timer that may be late. */
  leading(): boolean;
  /** Who was last seen to lead. */
  holder(): string | undefined;
  start(): void;
  /** Gives the Lease up, so that another need not wait for its end. Call it when nothing acts any more. */
  stop(): Promise<void>;
}

/** Of client-go's defaults 15, 10 and 2 seconds. */
const DEADLINE = 2 / 3;
const RETRY = 2 / 15;
const JITTER = 1.2;
const RELEASE_MS = 5_000;

export function createLeader(options: LeaderOptions): Leader {
  const { lease, identity, leaseSeconds, timers, wallClock, log } = options;
  const leaseMs = leaseSeconds * 1000;
  const deadlineMs = leaseMs * DEADLINE;
  const retryMs = leaseMs * RETRY;
  const stopping = new AbortController();
  let state: 'standby' | 'leading' | 'over' = 'standby';
  let deadline = 0;
  let cancelDeadline: (() => void) | undefined;
  /** What was seen last, and when it was seen to change. */
  let observed: LeaseRecord | undefined;
  let observedAt = 0;
  /** A write was sent, and may have succeeded. */
  let maybeOurs = false;
  let troubled = false;
  let wake: () => void = () => {};

  function see(record: LeaseRecord | undefined): void {
    if (record === undefined || (observed && same(record, observed))) return;
    if (record.holderIdentity !== observed?.holderIdentity && record.holderIdentity !== identity)
      log(record.holderIdentity === '' ? 'the Lease is free' : `standing by: ${record.holderIdentity} leads`);
    observed = record;
    observedAt = timers.now();
  }

  function recordOf(before: LeaseRecord | undefined): LeaseRecord {
    const now = wallClock();
    const ours = before?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: leaseSeconds,
      renewTime: now,
      acquireTime: ours ? before.acquireTime : now,
      leaseTransitions: before ? before.leaseTransitions + (ours ? 0 : 1) : 0,
    };
  }

  /** The Lease is ours from when the request was sent: others see it later, and wait longer. */
  async function write(how: 'create' | 'update', signal: AbortSignal): Promise<boolean> {
    const sentAt = timers.now();
    const record = recordOf(observed);
    maybeOurs = true;
    const written = await lease[how](record, signal);
    maybeOurs = written;
    if (!written || state === 'over' || timers.now() >= sentAt + deadlineMs) return false;
    observed = record;
    observedAt = sentAt;
    deadline = sentAt + deadlineMs;
    cancelDeadline?.();
    cancelDeadline = timers.after(deadline - timers.now(), () => lose('it could not be renewed in time'));
    if (state === 'standby') {
      state = 'leading';
      options.acquired();
    }
    return true;
  }

  async function renew(signal: AbortSignal): Promise<void> {
    if (await write('update', signal)) return;
    // Somebody has written, a person's label perhaps.
    const record = await lease.read(signal);
    if (record === undefined) {
      if (!(await write('create', signal))) lose('the Lease was deleted, and made anew by another');
      return;
    }
    if (record.holderIdentity !== identity) return lose(`it is ${record.holderIdentity || 'nobody'} that holds it now`);
    observed = record;
    await write('update', signal);
  }

  async function acquire(signal: AbortSignal): Promise<void> {
    const record = await lease.read(signal);
    see(record);
    // A Lease that somebody deleted ends none of its holder's time, of which the holder may not know yet.
    if (isHeldByAnother()) return;
    await write(record === undefined ? 'create' : 'update', signal);
  }

  const expiry = () => observedAt + (observed?.leaseDurationSeconds || leaseSeconds) * 1000;
  const isHeldByAnother = () =>
    observed !== undefined &&
    observed.holderIdentity !== '' &&
    observed.holderIdentity !== identity &&
    timers.now() < expiry();

  function lose(reason: string): void {
    if (state !== 'leading') return;
    end();
    options.lost(reason);
  }

  function end(): void {
    state = 'over';
    cancelDeadline?.();
    stopping.abort();
    wake();
  }

  /** Half of the deadline for a try: one that hangs leaves time for another over a new connection. */
  async function attempt(): Promise<void> {
    const slow = new AbortController();
    const cancel = timers.after(deadlineMs / 2, () => slow.abort(new Error('the Kubernetes API did not answer')));
    const signal = AbortSignal.any([stopping.signal, slow.signal]);
    try {
      await (state === 'leading' ? renew(signal) : acquire(signal));
      troubled = false;
    } catch (error) {
      if (!troubled && !stopping.signal.aborted)
        log(`cannot ${state === 'leading' ? 'renew' : 'get at'} the Lease: ${errorWords(error)}; trying again`);
      troubled = true;
    } finally {
      cancel();
    }
  }

  async function pause(): Promise<void> {
    if (stopping.signal.aborted) return;
    const standby = state === 'standby';
    let ms = standby ? retryMs * (1 + JITTER * timers.random()) : retryMs;
    // The end of another's time is known: no need to come late.
    if (standby && isHeldByAnother()) ms = Math.min(ms, expiry() - timers.now() + 1 + 0.1 * retryMs * timers.random());
    await new Promise<void>((resolve) => {
      const cancel = timers.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await attempt();
      await pause();
    }
  }

  async function release(): Promise<void> {
    const signal = AbortSignal.timeout(RELEASE_MS);
    try {
      // What is on the server counts: an answer may have been lost, and the version with it.
      const record = await lease.read(signal);
      if (record?.holderIdentity !== identity) return;
      const now = wallClock();
      const free = { ...record, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
      if (await lease.update(free, signal)) log('released the Lease');
    } catch (error) {
      log(`cannot release the Lease: ${errorWords(error)}; another waits for its end`);
    }
  }

  let running: Promise<void> | undefined;
  return {
    leading: () => state === 'leading' && timers.now() < deadline,
    holder: () => observed?.holderIdentity || undefined,
    start() {
      running ??= run();
    },
    async stop() {
      const lost = state === 'over';
      end();
      await running;
      // A lost Lease is another's.
      if (maybeOurs && !lost) await release();
    },
  };
}

const same = (a: LeaseRecord, b: LeaseRecord): boolean =>
  a.holderIdentity === b.holderIdentity &&
  a.leaseDurationSeconds === b.leaseDurationSeconds &&
  a.leaseTransitions === b.leaseTransitions &&
  a.renewTime.getTime() === b.renewTime.getTime() &&
  a.acquireTime.getTime() === b.acquireTime.getTime();
