// How often one address may be wrong about a client's secret. The same wrong value again tells nothing new and isn't counted:
// a client that was configured wrongly, in many copies, locks nobody out. Counted in this process, for names that exist or not.
import { inRealm } from '../../domain/attempts.ts';

/** Different wrong values for one client, by one address. */
const MOST = 10;
const WINDOW_MS = 300_000;
const MAX_WINDOWS = 20_000;

interface Window {
  until: number;
  /** Digests of what was wrong, or may turn out to be. */
  tried: Set<string>;
}

export function createWrongSecrets({ now }: { now: () => Date }) {
  /** Oldest first: a window is put in when it begins. */
  const windows = new Map<string, Window>();

  function drop(at: number): void {
    for (const [key, { until }] of windows) {
      if (until > at && windows.size <= MAX_WINDOWS) return;
      windows.delete(key);
    }
  }

  return {
    /**
     * Takes a try before its outcome is known, so that a hundred at once get no more than one after another.
     * @returns `hold`, to be called where the value was right; or after how many seconds to come back
     */
    take(realm: string, clientId: string, address: string, digest: Buffer): { hold(): void } | { wait: number } {
      const at = now().getTime();
      const key = `${inRealm(realm, address)} ${clientId}`;
      let window = windows.get(key);
      if (!window || window.until <= at) {
        windows.delete(key);
        window = { until: at + WINDOW_MS, tried: new Set() };
        windows.set(key, window);
        drop(at);
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
