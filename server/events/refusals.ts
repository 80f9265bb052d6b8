// Audits refused requests of unknown callers, without letting an address fill the log: for each realm, type and network
// the first few of a minute are events of their own, the others one event with their number. Refusals of known callers
// are counted by their kind, so that a flood can't hide them. Each process counts by itself. Specification 6.1; changed
// state is audited by the code that changes it, never here.
import type { By, DomainEvent } from '../contract/events.ts';
import { sha256 } from '../crypto/tokens.ts';
import { network } from '../http/network.ts';
import type { OAuthError } from '../http/oauth-error.ts';
import { isWithin } from '../schedule/window.ts';

const WINDOW_MS = 60_000;
const MOST = 20;
const MOST_OF_A_KIND = 5;
const MAX_WINDOWS = 20_000;

interface Window {
  from: number;
  /** Whether the window counts one kind only. */
  kind: boolean;
  seen: number;
  last: DomainEvent;
}

const mostOf = (kind: boolean): number => (kind ? MOST_OF_A_KIND : MOST);

export function createRefusals({ record, now }: { record(event: DomainEvent): void; now: () => Date }) {
  /** Ordered by their beginning, oldest first. */
  const windows = new Map<string, Window>();
  let timer: NodeJS.Timeout | undefined;

  function close(key: string, { seen, last, kind }: Window): void {
    windows.delete(key);
    const unrecorded = seen - mostOf(kind);
    if (unrecorded <= 0) return;
    const { type, realm, by, outcome } = last;
    const ipAddress = by.ipAddress === null ? null : network(by.ipAddress);
    const reason = `${unrecorded} more within a minute from this address`;
    const data = kind ? { ...last.data, unrecorded } : { unrecorded, reason };
    const actor = kind ? by.actor : null;
    record({ type, realm, by: { actor, ipAddress }, data, ...(outcome && { outcome }) });
  }

  function closeEnded(): void {
    const at = now().getTime();
    for (const [key, window] of windows) {
      if (isWithin(window.from, at, WINDOW_MS) && windows.size <= MAX_WINDOWS) break;
      close(key, window);
    }
    clearTimeout(timer);
    timer = windows.size > 0 ? setTimeout(closeEnded, WINDOW_MS).unref() : undefined;
  }

  return {
    /** `kind`: the refused action and its reason, for a known caller; each kind is counted apart. */
    record(event: DomainEvent, kind?: string): void {
      const apart = kind === undefined ? '' : sha256(kind).toString('base64url');
      const key = `${event.realm} ${event.type} ${network(event.by.ipAddress ?? '')} ${apart}`;
      const at = now().getTime();
      let window = windows.get(key);
      if (window && !isWithin(window.from, at, WINDOW_MS)) {
        close(key, window);
        window = undefined;
      }
      if (!window) {
        window = { from: at, kind: kind !== undefined, seen: 0, last: event };
        windows.set(key, window);
        if (timer === undefined || windows.size > MAX_WINDOWS) closeEnded();
      }
      window.seen += 1;
      window.last = event;
      if (window.seen <= mostOf(window.kind)) record(event);
    },
    /** Records the refusals that have only been counted so far. */
    stop(): void {
      clearTimeout(timer);
      for (const [key, window] of windows) close(key, window);
    },
  };
}
export type Refusals = ReturnType<typeof createRefusals>;

/** The audit row of a refused token request. */
export const refusedEvent = (
  { realm, by }: { realm: string; by: By },
  clientId: string | null,
  grant: string | null,
  error: OAuthError,
): DomainEvent => ({
  type: 'TOKEN_REFUSED',
  realm,
  by,
  clientId,
  outcome: 'failure',
  data: { grant, error: error.error, reason: error.reason ?? error.description ?? null },
});
