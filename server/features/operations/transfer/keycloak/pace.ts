// Yields to the event loop during long translations.
import { yieldLoop } from '../../../../resource/write.ts';

const SLICE_MS = 10;

export function createPace(): () => Promise<void> {
  let until = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < until) return;
    await yieldLoop();
    until = performance.now() + SLICE_MS;
  };
}
