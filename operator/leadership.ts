// Sets up leader election for a process: the cluster's Lease, the process's identity, and the effects of each turn.
// runtime/leader.ts has the rules. Decisions "Custom resources" (operator).
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type Connections, createConnections, fetchOver } from './connections.ts';
import { createLeader, type Leader } from './runtime/leader.ts';
import type { Permit } from './runtime/permit.ts';
import { systemTimers } from './runtime/queue.ts';
import { clusterLease, type LeaseOptions } from './source/lease.ts';

export interface Leadership {
  permit: Permit;
  /** The connections of all requests that act, `fetch` included. */
  connections: Connections;
  start(terms: Terms): void;
  /** Aborts all requests that still run: they took too long to end by themselves. */
  abort(reason: string): void;
  /** Releases the Lease. */
  stop(): Promise<void>;
}

export interface Terms {
  acquired(): void;
  /** The process must end: the next leader may begin after a third of the Lease's time. */
  lost(): void;
}

export function createLeadership({
  leaseSeconds,
  hostname,
  log,
  ...lease
}: LeaseOptions & { leaseSeconds: number; hostname: string; log(message: string): void }): Leadership {
  const port = clusterLease(lease);
  const acting = new AbortController();
  const permit: Permit = { granted: () => leader.leading(), signal: acting.signal };
  const connections = createConnections(permit);
  fetchOver(connections);
  const identity = `${hostname}_${randomBytes(8).toString('hex')}`;
  let terms: Terms | undefined;
  const leader: Leader = createLeader({
    lease: port,
    identity,
    leaseSeconds,
    // a monotonic clock
    timers: { ...systemTimers, now: () => performance.now() },
    wallClock: () => new Date(),
    acquired() {
      log(`leading as ${identity} (Lease ${port.described})`);
      terms?.acquired();
    },
    lost(reason) {
      connections.cut();
      acting.abort(new Error(`the Lease ${port.described} is lost`));
      log(`no longer leading: ${reason}; ending, so that no request of this process runs beside the next leader`);
      terms?.lost();
    },
    log: (message) => log(`Lease ${port.described}: ${message}`),
  });
  return {
    permit,
    connections,
    start(what) {
      terms = what;
      leader.start();
    },
    abort(reason) {
      connections.cut();
      acting.abort(new Error(reason));
    },
    async stop() {
      await leader.stop();
      await port.close();
    },
  };
}
