// Audits what strangers are refused, so that no address can fill the log: of one realm and network the first few of a
// minute are events of their own, the others one event that says how many they were. It counts in this process.
// Specification 6.1; state that changed is audited where it changed, never here.
import type { DomainEvent } from '../contract/events.ts';
import { network } from '../http/network.ts';

const WINDOW_MS = 60_000;
const MOST = 20;
const MAX_WINDOWS = 20_000;

interface Window {
  until: number;
  seen: number;
  last: DomainEvent;
}

export function createRefusals({ record, now }: { record(event: DomainEvent): void; now: () => Date }) {
  /** Oldest first: a window is put in when it begins. */
  const windows = new Map<string, Window>();
  let timer: NodeJS.Timeout | undefined;

  function close(key: string, { seen, last }: Window): void {
    windows.delete(key);
    if (seen <= MOST) return;
    const { type, realm, by, outcome } = last;
    const ipAddress = by.ipAddress === null ? null : network(by.ipAddress);
    const data = { unrecorded: seen - MOST, reason: `${seen - MOST} more within a minute from this address` };
    record({ type, realm, by: { actor: null, ipAddress }, data, ...(outcome && { outcome }) });
  }

  function closeEnded(): void {
    const at = now().getTime();
    for (const [key, window] of windows) {
      if (window.until > at && windows.size <= MAX_WINDOWS) break;
      close(key, window);
    }
    clearTimeout(timer);
    timer = windows.size > 0 ? setTimeout(closeEnded, WINDOW_MS).unref() : undefined;
  }

  return {
    record(event: DomainEvent): void {
      const key = `${event.realm} ${network(event.by.ipAddress ?? '')}`;
      const at = now().getTime();
      let window = windows.get(key);
      if (window && window.until <= at) {
        close(key, window);
        window = undefined;
      }
      if (!window) {
        window = { until: at + WINDOW_MS, seen: 0, last: event };
        windows.set(key, window);
        if (timer === undefined || windows.size > MAX_WINDOWS) closeEnded();
      }
      window.seen += 1;
      window.last = event;
      if (window.seen <= MOST) record(event);
    },
    /** Says what was not recorded yet. */
    stop(): void {
      clearTimeout(timer);
      for (const [key, window] of windows) close(key, window);
    },
  };
}
export type Refusals = ReturnType<typeof createRefusals>;
