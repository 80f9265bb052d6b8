// Listens for configuration changes that other replicas committed (NOTIFY realm_changed), so that caches drop them.
// It holds one connection of its own, and reports when it may have missed a notification. Design "Cache invalidation".
import pg from 'pg';
import { KEEP_ALIVE, probeWhenIdle } from './dead-peer.ts';

export interface Changes {
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;
const CONNECT_MS = 5_000;
/** Caches serve a value for ten seconds without a notification, so a dead connection is found within that time. */
const IDLE_MS = 10_000;

/**
 * Calls `changed(realm)` for each notification, and `changed(undefined)` when the connection was lost and is back:
 * anything may have changed meanwhile.
 */
export async function listenForChanges({
  url,
  changed,
  log,
  idleMs = IDLE_MS,
}: {
  url: string;
  changed(realm: string | undefined): void;
  log(message: string, error: Error): void;
  idleMs?: number;
}): Promise<Changes> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      application_name: 'realmkeeper-changes',
      connectionTimeoutMillis: CONNECT_MS,
      ...KEEP_ALIVE,
    });
    next.on('notification', ({ payload }) => changed(payload));
    next.on('error', () => {});
    next.on('end', () => {
      if (client === next && !stopped) again();
    });
    await next.connect();
    probeWhenIdle(next, idleMs);
    await next.query('listen realm_changed');
    if (stopped) return next.end();
    client = next;
  }
  function again(): void {
    client = undefined;
    timer = setTimeout(() => {
      connect().then(
        () => changed(undefined),
        (error: Error) => {
          log(`waiting for the database to listen for changes: ${error.message}`, error);
          if (!stopped) again();
        },
      );
    }, RETRY_MS);
  }

  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}
