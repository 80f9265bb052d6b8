// Limits how often one address may send a wrong secret of a client. The same wrong value again reveals nothing new and
// doesn't count: many copies of a wrongly configured client lock out no other. Counted in this process, also for unknown
// names.
import { sha256 } from '../../../crypto/tokens.ts';
import { inRealm } from '../../../domain/rate-limit.ts';

/** Different wrong values for one client, by one address. */
const MOST = 10;
const WINDOW_MS = 300_000;
/** Names that one address may be wrong about in a realm at a time: inventing more names doesn't reset the count of others. */
const MOST_NAMES = 1000;
const MAX_WINDOWS = 20_000;

interface Window {
  /** The address in its realm. */
  from: string;
  until: number;
  /** Digests of values that are wrong, or are still being checked. */
  tried: Set<string>;
}

export function createWrongSecrets({ now }: { now: () => Date }) {
  /** Oldest first: a window is put in when it begins. */
  const windows = new Map<string, Window>();
  const names = new Map<string, number>();

  function drop(key: string, { from }: Window): void {
    windows.delete(key);
    const left = (names.get(from) ?? 0) - 1;
    if (left > 0) names.set(from, left);
    else names.delete(from);
  }
  function sweep(at: number): void {
    for (const [key, window] of windows) {
      if (window.until > at && windows.size <= MAX_WINDOWS) return;
      drop(key, window);
    }
  }

  return {
    /**
     * Takes a try before its outcome is known, so that a hundred at once get no more than one after another.
     * @returns `hold`, to be called where the value was right; or after how many seconds to come back
     */
    take(realm: string, clientId: string, address: string, digest: Buffer): { hold(): void } | { wait: number } {
      const at = now().getTime();
      sweep(at);
      const from = inRealm(realm, address);
      // of one length, however long a name a stranger sends
      const key = sha256(`${from} ${clientId}`).toString('base64url');
      let window = windows.get(key);
      if (!window) {
        const known = names.get(from) ?? 0;
        if (known >= MOST_NAMES) return { wait: WINDOW_MS / 1000 };
        window = { from, until: at + WINDOW_MS, tried: new Set() };
        windows.set(key, window);
        names.set(from, known + 1);
      }
      const { tried, until } = window;
      const value = digest.toString('base64url');
      if (!tried.has(value) && tried.size >= MOST) return { wait: Math.ceil((until - at) / 1000) };
      tried.add(value);
      return { hold: () => void tried.delete(value) };
    },
  };
}
export type WrongSecrets = ReturnType<typeof createWrongSecrets>;
