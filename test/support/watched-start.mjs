// Loaded ahead of a built server with --expose-gc: says on stderr which of its files the server had loaded when it was ready, and how
// much memory it keeps at rest. test/guards/start.test.ts reads it.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a start leaves behind goes within a second or two, later on a busy machine: the least of several looks is what stays. */
const LOOKS = 10;
const BETWEEN_MS = 400;
const files = [];
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.push(path.basename(url));
    return next(url, context);
  },
});

const said = process.stderr.write.bind(process.stderr);
process.stderr.write = (chunk, ...rest) => {
  if (String(chunk).includes(' listens on ')) void tell([...files]);
  return said(chunk, ...rest);
};

function memory() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function tell(untilReady) {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look += 1) {
    await sleep(BETWEEN_MS);
    least = Math.min(least, memory());
  }
  said(`watched: ${JSON.stringify({ files: untilReady, memory: least })}\n`);
}
