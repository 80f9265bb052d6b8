// Shows the running step and its duration each second if stderr is watched; a pipeline's log stays short.
import type { Io } from './command.ts';
import { plain } from './output.ts';

const MIB = 1024 * 1024;
const EVERY_MS = 1000;
/** Moves the cursor to the beginning of the line and clears it (ECMA-48 EL). */
const CLEAR = '\r\u001b[2K';

type Watched = Pick<Io, 'watched' | 'stderr'>;

/** Reports a long task while it runs: `Planning realm acme … 3 s`. */
export async function withProgress<T>(io: Watched, what: string, work: Promise<T>): Promise<T> {
  if (!io.watched) return work;
  const begun = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    shown = true;
    io.stderr.write(`${CLEAR}${plain(what)} … ${Math.round((performance.now() - begun) / 1000)} s`);
  }, EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) io.stderr.write(CLEAR);
  }
}

/** Shows a progress message, which the next one replaces. */
export function progress(io: Watched): { say(how: string): void; end(): void } {
  let shown = false;
  return {
    say(how) {
      if (!io.watched) return;
      shown = true;
      io.stderr.write(`${CLEAR}${plain(how)}`);
    },
    end() {
      if (shown) io.stderr.write(CLEAR);
    },
  };
}

/** Reports the progress of a long transfer. */
export async function* counted(
  io: Watched,
  what: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let told = performance.now();
  let shown = false;
  for await (const chunk of chunks) {
    yield chunk;
    bytes += chunk.length;
    if (!io.watched || performance.now() - told < EVERY_MS) continue;
    told = performance.now();
    shown = true;
    io.stderr.write(`${CLEAR}${plain(what)}: ${(bytes / MIB).toFixed(0)} MiB`);
  }
  if (shown) io.stderr.write(`${CLEAR}${plain(what)}: ${(bytes / MIB).toFixed(0)} MiB\n`);
}
