// How much of a long transfer has passed, once a second, where somebody watches; a pipeline's log stays short.
import type { Io } from './command.ts';

const MIB = 1024 * 1024;
const EVERY_MS = 1000;

export async function* counted(
  io: Pick<Io, 'terminal' | 'stderr'>,
  what: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let told = performance.now();
  let shown = false;
  const show = (end: string) => io.stderr.write(`\r${what}: ${(bytes / MIB).toFixed(0)} MiB${end}`);
  for await (const chunk of chunks) {
    yield chunk;
    bytes += chunk.length;
    if (!io.terminal || performance.now() - told < EVERY_MS) continue;
    told = performance.now();
    shown = true;
    show('');
  }
  if (shown) show('\n');
}
