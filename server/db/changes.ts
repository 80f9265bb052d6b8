// Listens for configuration changes that other replicas committed (NOTIFY realm_changed), so that caches drop them.
// It holds one connection of its own, and reports when it may have missed a notification. Design "Cache invalidation".
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { KEEP_ALIVE, probeWhenIdle } from './dead-peer.ts';
import { connectionTo } from './hosts.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

export interface Changes {
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;
const CONNECT_MS = 5_000;
/** Caches serve a value for ten seconds without a notification, so a dead connection is found within that time. */
const IDLE_MS = 10_000;
const ACCESS_ENDED = 'access_ended';
/** Tells the replicas whose access may have ended. */
export const tellAccessEnds = (ends: readonly { realm: string; userId: string | undefined }[]): Statement[] =>
  ends.map(
    ({ realm, userId }) =>
      statement`select pg_notify(${ACCESS_ENDED}, ${userId === undefined ? realm : `${realm} ${userId}`})`,
  );

/** By which the server hears itself once, at its start. */
const ITSELF = 'realmkeeper_itself';
/** Several notifications are sent in this time, so that one which a failover loses doesn't count. */
const HEARS_WITHIN_MS = 6_000;
const SAYS_EVERY_MS = 2_000;

/**
 * Checks that a notification from another connection arrives here. A pooler in transaction mode gives the session that listens to other
 * clients: the server would serve old settings, and fail by prepared statements that are another session's.
 * @throws Error with what to do
 */
async function hearItself(client: pg.Client, sql: Sql): Promise<void> {
  const word = randomUUID();
  const { promise: heard, resolve, reject } = Promise.withResolvers<boolean>();
  const listener = ({ channel, payload }: pg.Notification) => {
    if (channel === ITSELF && payload === word) resolve(true);
  };
  const lost = () => reject(new Error('The connection to the database was lost.'));
  client.on('notification', listener);
  client.on('end', lost);
  // A failure ends the start elsewhere, in words of its own.
  const say = () => sql`select pg_notify(${ITSELF}, ${word})`.catch(() => {});
  const saying = setInterval(() => void say(), SAYS_EVERY_MS);
  const late = setTimeout(resolve, HEARS_WITHIN_MS, false);
  try {
    await client.query(`listen ${ITSELF}`);
    void say();
    if (await heard) return;
  } finally {
    clearInterval(saying);
    clearTimeout(late);
    client.off('notification', listener);
    client.off('end', lost);
  }
  throw new Error(
    'The database’s notifications don’t arrive: a connection pooler in transaction or statement mode, such as PgBouncer, stands before it. Name the database itself in DATABASE_DIRECT_URL, or a pool in session mode in DATABASE_URL.',
  );
}

/**
 * Calls `changed(realm)` for each notification, and `changed(undefined)` when the connection was lost and is back:
 * anything may have changed meanwhile.
 */
export async function listenForChanges({
  url,
  sql,
  changed,
  ended,
  log,
  idleMs = IDLE_MS,
}: {
  url: string;
  /** Other connections of the same address; by default their notifications aren't waited for once at the start. */
  sql?: Sql;
  changed(realm: string | undefined): void;
  /** Called for each user, or realm, whose access may have ended; absent: nobody asks. */
  ended?: ((realm: string, userId: string | undefined) => void) | undefined;
  log(message: string, error: Error): void;
  idleMs?: number;
}): Promise<Changes> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(before: (next: pg.Client) => Promise<void> = async () => {}): Promise<void> {
    const next = new pg.Client({
      ...connectionTo(url),
      application_name: 'realmkeeper-changes',
      connectionTimeoutMillis: CONNECT_MS,
      ...KEEP_ALIVE,
    });
    next.on('notification', ({ channel, payload }) => {
      if (channel === 'realm_changed') changed(payload);
      if (channel === ACCESS_ENDED) {
        const [realm = '', userId] = (payload ?? '').split(' ');
        ended?.(realm, userId);
      }
    });
    next.on('error', () => {});
    next.on('end', () => {
      if (client === next && !stopped) again();
    });
    await next.connect();
    probeWhenIdle(next, idleMs);
    try {
      await next.query('listen realm_changed');
      if (ended) await next.query(`listen ${ACCESS_ENDED}`);
      await before(next);
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
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

  await connect(sql && ((next) => hearItself(next, sql)));
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}
