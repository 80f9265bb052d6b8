// Leader election by a Lease: one process acts, others stand by. It works like client-go's leaderelection, and is
// stricter where two could act: a term counts from before its renewal was sent, and ends at once when another process
// has written. source/lease.ts talks to Kubernetes; other files do the leader's work. Decisions "Custom resources".

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

/** One Lease. A write replaces the version read or written last; it resolves to false if another process wrote since. */
export interface LeasePort {
  read(signal: AbortSignal): Promise<LeaseRecord | undefined>;
  create(record: LeaseRecord, signal: AbortSignal): Promise<boolean>;
  update(record: LeaseRecord, signal: AbortSignal): Promise<boolean>;
}

export interface LeaderOptions {
  lease: LeasePort;
  /** Unique to this process: a restarted process has another identity. */
  identity: string;
  leaseSeconds: number;
  /** `now` is a monotonic clock: only a change of another process's record matters, not the time in it. */
  timers: Timers;
  /** The time in the record, for people to read. */
  wallClock(): Date;
  /** Called when this process may begin to act. */
  acquired(): void;
  /** Called once, after `acquired`, when the process must stop acting. The process never leads again. */
  lost(reason: string): void;
  log(message: string): void;
}

export interface Leader {
  /** Whether this process may act at this moment, by the clock and not by a timer that may be late. */
  leading(): boolean;
  /** The identity that the last read Lease names as its holder. */
  holder(): string | undefined;
  start(): void;
  /** Releases the Lease, so that another process need not wait for its expiry. Call it when nothing acts any more. */
  stop(): Promise<void>;
}

/** The proportion of client-go's defaults 15, 10 and 2 seconds. */
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
  /** The Lease as last read, and when its content last changed. */
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

  /** The term counts from when the request was sent: other processes see the write later, and so wait longer. */
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
    // Another process has written the Lease: a rival's claim, or only a label that a person set.
    const record = await lease.read(signal);
    if (record === undefined) {
      if (!(await write('create', signal))) lose('the Lease was deleted, and made anew by another');
      return;
    }
    if (record.holderIdentity !== identity) return lose(`${record.holderIdentity || 'no process'} holds the Lease now`);
    observed = record;
    await write('update', signal);
  }

  async function acquire(signal: AbortSignal): Promise<void> {
    const record = await lease.read(signal);
    see(record);
    // Deleting the Lease doesn't end its holder's term: the holder may not know of the deletion yet.
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

  /** Each try gets half of the deadline: if one hangs, there is time for another over a new connection. */
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
    // The expiry of the other's Lease is known, so the next try comes right after it.
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
      // A response may have been lost, and the version with it: only the Lease on the server counts.
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
      // A lost Lease belongs to another process.
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
