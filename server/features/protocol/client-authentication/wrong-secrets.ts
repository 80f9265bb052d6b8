// Limits how often one address may send a wrong secret of a client. The same wrong value again reveals nothing new and
// doesn't count, so many copies of a wrongly configured client don't lock others out. Counted in this process, also for
// unknown names.
import { sha256 } from '../../../crypto/tokens.ts';
import { inRealm } from '../../../domain/rate-limit.ts';
import { isWithin } from '../../../schedule/window.ts';

/** The most different wrong values for one client from one address. */
const MOST = 10;
const WINDOW_MS = 300_000;
/**
 * The most client names for which one address can have failures in a realm: inventing more names doesn't reset the
 * counts of others.
 */
const MOST_NAMES = 1000;
const MAX_WINDOWS = 20_000;

interface Window {
  /** The address within its realm. */
  address: string;
  from: number;
  /** Digests of values that are wrong, or are still being checked. */
  tried: Set<string>;
}

export function createWrongSecrets({ now }: { now: () => Date }) {
  /** Ordered by their beginning, oldest first. */
  const windows = new Map<string, Window>();
  const names = new Map<string, number>();

  function drop(key: string, { address }: Window): void {
    windows.delete(key);
    const left = (names.get(address) ?? 0) - 1;
    if (left > 0) names.set(address, left);
    else names.delete(address);
  }
  function sweep(at: number): void {
    for (const [key, window] of windows) {
      if (isWithin(window.from, at, WINDOW_MS) && windows.size <= MAX_WINDOWS) return;
      drop(key, window);
    }
  }

  return {
    /**
     * Counts a try before its result is known, so that concurrent tries get no more than sequential ones.
     * @returns `hold`, to call if the value was right; or `wait`, in how many seconds the next try is allowed
     */
    take(realm: string, clientId: string, ip: string, digest: Buffer): { hold(): void } | { wait: number } {
      const at = now().getTime();
      sweep(at);
      const address = inRealm(realm, ip);
      // a digest, because a sent name can have any length
      const key = sha256(`${address} ${clientId}`).toString('base64url');
      let window = windows.get(key);
      if (!window) {
        const known = names.get(address) ?? 0;
        if (known >= MOST_NAMES) return { wait: WINDOW_MS / 1000 };
        window = { address, from: at, tried: new Set() };
        windows.set(key, window);
        names.set(address, known + 1);
      }
      const { tried, from } = window;
      const value = digest.toString('base64url');
      if (!tried.has(value) && tried.size >= MOST) return { wait: Math.ceil((from + WINDOW_MS - at) / 1000) };
      tried.add(value);
      return { hold: () => void tried.delete(value) };
    },
  };
}
export type WrongSecrets = ReturnType<typeof createWrongSecrets>;
