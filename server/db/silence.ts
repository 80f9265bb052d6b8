// Owns: noticing that PostgreSQL's end of a connection is gone without a word (a partition, a machine that died): what was
// asked fails, and the connection is given up, instead of waiting a quarter of an hour for the operating system.
// Does not own: what becomes of the request (503, http/problems.ts); connecting again (the pool, changes.ts).
import { Socket } from 'node:net';
import type pg from 'pg';

/** Asks an idle peer, after ten seconds and then each second, whether it is there. What is under way it can't tell of. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Within this the peer must have sent something, if anything was asked of it. */
const GRACE_MS = 5_000;

const socketOf = ({ connection: { stream } }: pg.Client): Socket | undefined =>
  stream instanceof Socket ? stream : undefined;

export const gone = () => Object.assign(new Error('the database does not answer'), { code: 'ETIMEDOUT' });

/** After this process stood still its timers come first: what was sent meanwhile is read before anything is decided. */
function onSilence(socket: Socket, act: () => void): () => void {
  let over = false;
  const silent = () => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (!over && socket.bytesRead === bytesRead) act();
    });
  };
  socket.on('timeout', silent);
  return () => {
    over = true;
    socket.off('timeout', silent);
  };
}

/** @param longestMs how long a statement may take, by PostgreSQL's own clock */
export function endSilent(pool: pg.Pool, longestMs: number): void {
  const lent = new WeakSet<pg.Client>();
  pool.on('acquire', (client) => lent.add(client));
  pool.on('release', (_, client) => lent.delete(client));
  pool.on('connect', (client) => {
    const socket = socketOf(client);
    // Any byte, either way, puts it off.
    socket?.setTimeout(longestMs + GRACE_MS);
    if (socket) onSilence(socket, () => void (lent.has(client) && socket.destroy(gone())));
  });
}

/** For statements that take longer; returns the way back. */
export function allowSilence(client: pg.Client, longestMs: number): () => void {
  const socket = socketOf(client);
  const usual = socket?.timeout ?? 0;
  socket?.setTimeout(longestMs + GRACE_MS);
  return () => void socket?.setTimeout(usual);
}

/**
 * For a connection that is silent for good reasons, unless it is waited for: gives it up where nothing goes either way for
 * `longestMs`. Returns the end of waiting.
 */
export function endSilentWait(socket: Socket, longestMs: number): () => void {
  const end = onSilence(socket, () => void socket.destroy(gone()));
  socket.setTimeout(longestMs);
  return () => {
    end();
    socket.setTimeout(0);
  };
}

/** A connection that mostly listens is asked something whenever it was silent for `everyMs`, and given up if it still is. */
export function endDeaf(client: pg.Client, everyMs: number): void {
  const socket = socketOf(client);
  let asked = false;
  if (!socket) return;
  socket.setTimeout(everyMs);
  onSilence(socket, () => {
    if (asked) return void socket.destroy(gone());
    asked = true;
    client.query('select').then(
      () => {
        asked = false;
      },
      () => {},
    );
  });
}
