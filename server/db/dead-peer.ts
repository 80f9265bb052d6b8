// Owns: dead-peer detection, for a network partition or a machine that died: queries on the connection fail, and it is closed,
// instead of waiting a quarter of an hour for the operating system.
// Does not own: the request's answer (503, http/problems.ts); connecting again (the pool, changes.ts).
import { Socket } from 'node:net';
import type pg from 'pg';

/** TCP probes an idle peer after ten seconds and then each second. The probes don't cover a running query. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Added to a statement's limit, so that its answer can arrive. */
const GRACE_MS = 5_000;

const socketOf = ({ connection: { stream } }: pg.Client): Socket | undefined =>
  stream instanceof Socket ? stream : undefined;

/** The error of a database that does not answer; its code is ETIMEDOUT. */
export const peerTimeout = () => Object.assign(new Error('the database does not answer'), { code: 'ETIMEDOUT' });

/** After a pause of the process its timers run first, so the data that has arrived meanwhile is read before `act` is called. */
function onIdle(socket: Socket, act: () => void): () => void {
  let over = false;
  const check = () => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (!over && socket.bytesRead === bytesRead) act();
    });
  };
  socket.on('timeout', check);
  return () => {
    over = true;
    socket.off('timeout', check);
  };
}

/** Closes the pool's connections whose peer stays silent. @param longestMs how long a statement may take, by PostgreSQL's clock */
export function closeDeadPeers(pool: pg.Pool, longestMs: number): void {
  const acquired = new WeakSet<pg.Client>();
  pool.on('acquire', (client) => acquired.add(client));
  pool.on('release', (_, client) => acquired.delete(client));
  pool.on('connect', (client) => {
    const socket = socketOf(client);
    // Any byte, either way, restarts it.
    socket?.setTimeout(longestMs + GRACE_MS);
    if (socket) onIdle(socket, () => void (acquired.has(client) && socket.destroy(peerTimeout())));
  });
}

/** Raises the limit for a client's longer statements; the returned function restores the usual one. */
export function allowLonger(client: pg.Client, longestMs: number): () => void {
  const socket = socketOf(client);
  const usual = socket?.timeout ?? 0;
  socket?.setTimeout(longestMs + GRACE_MS);
  return () => void socket?.setTimeout(usual);
}

/**
 * For a connection that is usually idle: while the caller waits for it, closes it after `longestMs` without a byte in either
 * direction. The returned function ends the wait.
 */
export function limitWait(socket: Socket, longestMs: number): () => void {
  const end = onIdle(socket, () => void socket.destroy(peerTimeout()));
  socket.setTimeout(longestMs);
  return () => {
    end();
    socket.setTimeout(0);
  };
}

/** For a connection that listens: sends a query after `everyMs` of idleness, and closes the connection if no answer comes. */
export function probeWhenIdle(client: pg.Client, everyMs: number): void {
  const socket = socketOf(client);
  let probing = false;
  if (!socket) return;
  socket.setTimeout(everyMs);
  onIdle(socket, () => {
    if (probing) return void socket.destroy(peerTimeout());
    probing = true;
    client.query('select').then(
      () => {
        probing = false;
      },
      () => {},
    );
  });
}
