// Owns: cancelling a transaction's statement after its client has disconnected.
// Does not own: the transaction (transact.ts), noticing the disconnection.
import type { Sql } from './sql.ts';

/**
 * Cancels the running statement of `tx` when the signal aborts, and begins no other.
 * @param beside an `Sql` on another connection, which sends the cancellation
 */
export async function cancelledBy<T>(
  signal: AbortSignal,
  { tx, beside }: { tx: Sql; beside: Sql },
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  const live: Sql = (...of) => {
    signal.throwIfAborted();
    return tx(...of);
  };
  const [backend] = await live<{ pid: number }>`select pg_backend_pid() as pid`;
  let cancelled: Promise<unknown> | undefined;
  const cancel = () => {
    // if it can't be cancelled, its own timeout ends it
    cancelled = beside`select pg_cancel_backend(${backend?.pid})`.catch(() => {});
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work(live);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // before the connection goes back to the pool
    await cancelled;
  }
}
