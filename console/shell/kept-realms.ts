// The realms that the reader was in lately, and those pinned, kept in this browser.
import { useSyncExternalStore } from 'react';

const RECENT = 'realmkeeper.recent-realms';
const PINNED = 'realmkeeper.pinned-realms';
const MOST_RECENT = 6;

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const cached = new Map<string, { text: string; names: readonly string[] }>();
function namesIn(key: string): readonly string[] {
  const text = localStorage.getItem(key) ?? '[]';
  const known = cached.get(key);
  if (known?.text === text) return known.names;
  let names: string[] = [];
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) names = parsed.filter((name) => typeof name === 'string');
  } catch {
    // written by something else: as if there were none
  }
  cached.set(key, { text, names });
  return names;
}
function write(key: string, names: readonly string[]): void {
  localStorage.setItem(key, JSON.stringify(names));
  for (const listener of listeners) listener();
}

export const useRecentRealms = (): readonly string[] => useSyncExternalStore(subscribe, () => namesIn(RECENT));
export const usePinnedRealms = (): readonly string[] => useSyncExternalStore(subscribe, () => namesIn(PINNED));

export function visitedRealm(realm: string): void {
  const before = namesIn(RECENT);
  if (before[0] !== realm) write(RECENT, [realm, ...before.filter((name) => name !== realm)].slice(0, MOST_RECENT));
}
export function togglePinned(realm: string): void {
  const before = namesIn(PINNED);
  write(PINNED, before.includes(realm) ? before.filter((name) => name !== realm) : [...before, realm]);
}
