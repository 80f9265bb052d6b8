// Owns: that the embedded PostgreSQL is there for as long as its server is: when it ends by itself (killed, out of memory, a
// full disk), it is started again on the same port, and its data recovers. Meanwhile it is away, as any database may be.
// Does not own: one run of it (embedded.ts), what requests are answered meanwhile (http/problems.ts).
// Implements: "Embedded database": survives kill -9 of PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorWords } from '../contract/error-words.ts';
import { type EmbeddedOptions, type EmbeddedPostgres, startPostgres } from './embedded.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** After a run of this length, the pauses begin again with the first one. */
const STEADY_MS = 60_000;

/** Without a process id, since each restart has another one. */
export type KeptPostgres = Omit<EmbeddedPostgres, 'pid'>;

/**
 * Throws if the first start fails. Afterwards it restarts PostgreSQL until `stop`, with growing pauses, and logs each
 * try.
 */
export async function keepPostgres(options: Omit<EmbeddedOptions, 'onExit' | 'port'>): Promise<KeptPostgres> {
  const { log = () => {} } = options;
  const stopping = new AbortController();
  let ended = Promise.withResolvers<Error>();
  const start = (port?: number) => {
    ended = Promise.withResolvers();
    return startPostgres({ ...options, ...(port !== undefined && { port }), onExit: ended.resolve });
  };
  let current = await start();
  const { url } = current;
  const port = Number(new URL(url).port);

  /** Tries until PostgreSQL runs. */
  async function startAgain(pauseMs: number): Promise<number> {
    for (let pause = pauseMs; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      await sleep(pause, undefined, { signal: stopping.signal });
      try {
        current = await start(port);
        return Math.min(2 * pause, LONGEST_PAUSE_MS);
      } catch (error) {
        log(`The embedded PostgreSQL could not be started again: ${errorWords(error)}`);
      }
    }
  }

  async function keep(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; ) {
      const since = performance.now();
      const error = await Promise.race([ended.promise, stopped]);
      if (!error) return;
      log(`${error.message} It is being started again.`);
      if (performance.now() - since > STEADY_MS) pause = FIRST_PAUSE_MS;
      pause = await startAgain(pause);
      log('The embedded PostgreSQL is back.');
    }
  }
  const stopped = new Promise<undefined>((resolve) =>
    stopping.signal.addEventListener('abort', () => resolve(undefined)),
  );
  const kept = keep().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  return {
    url,
    async stop() {
      stopping.abort();
      await kept;
      await current.stop();
    },
  };
}
