// A cache in process, realm by realm: dropped when a realm changes, and expired after seconds in case a change was missed.
// A value that was loaded before a drop is never served after it.
import { oldestMs, orLast } from './stale.ts';

export interface RealmCache<T> {
  get(realm: string, key: string): Promise<T>;
  /** The value if it is loaded and not expired; undefined otherwise. */
  ready(realm: string, key: string): T | undefined;
  /** Forgets one realm, or everything. */
  drop(realm: string | undefined): void;
}

interface Entry<T> {
  value: Promise<T>;
  loaded?: T;
  until: number;
}
type Shelf<T> = Map<string, Map<string, Entry<T>>>;

const MAX_REALMS = 10_000;
/** The most keys without a value, and the most realms that have such keys. */
const MAX_MADE_UP = 1_000;

/** Removes the oldest entries, by the map's order of insertion, until one more entry fits. */
export function makeRoom(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size < max) return;
    map.delete(key);
  }
}

function put<T>(shelf: Shelf<T>, { realm, key, maxRealms, max }: CacheSlot, entry: Entry<T>): Map<string, Entry<T>> {
  let entries = shelf.get(realm);
  if (!entries) {
    makeRoom(shelf, maxRealms);
    entries = new Map();
    shelf.set(realm, entries);
  }
  makeRoom(entries, max);
  entries.set(key, entry);
  return entries;
}
interface CacheSlot {
  realm: string;
  key: string;
  maxRealms: number;
  max: number;
}

/**
 * @param load reads one value. Concurrent calls for the same key share it; a failed load is not kept.
 * @param ttlMs how long a value may be served without a sign of change
 * @param max entries per realm, so that made-up keys can't fill the memory
 */
export function createRealmCache<T>({
  load,
  now,
  ttlMs = 10_000,
  max = 10_000,
}: {
  load(realm: string, key: string): Promise<T>;
  now(): Date;
  ttlMs?: number;
  max?: number;
}): RealmCache<T> {
  const known: Shelf<T> = new Map();
  /**
   * Loads that run, and keys without a value. They are kept apart from values: a client can put made-up names into addresses,
   * and those must not evict existing ones.
   */
  const unproven: Shelf<T> = new Map();
  function begin(realm: string, key: string, at: number): Promise<T> {
    const value = load(realm, key);
    const entry: Entry<T> = { value, until: at + ttlMs };
    // A drop replaces the map, so that a load which ends after it can't bring an old value back.
    const mine = put(unproven, { realm, key, maxRealms: MAX_MADE_UP, max: MAX_MADE_UP }, entry);
    const isCurrent = () => unproven.get(realm) === mine && mine.get(key) === entry;
    value.then(
      (loaded) => {
        entry.loaded = loaded;
        if (!isCurrent()) return;
        known.get(realm)?.delete(key);
        if (loaded === undefined || loaded === false) return;
        mine.delete(key);
        if (mine.size === 0) unproven.delete(realm);
        put(known, { realm, key, maxRealms: MAX_REALMS, max }, entry);
      },
      () => {
        if (mine.get(key) === entry) mine.delete(key);
      },
    );
    return value;
  }

  return {
    get(realm, key) {
      const at = now().getTime();
      const last = known.get(realm)?.get(key);
      if (last && last.until > at) return last.value;
      const loading = unproven.get(realm)?.get(key);
      const value = loading && loading.until > at ? loading.value : begin(realm, key, at);
      // The last value stays until a load replaces it. Only requests that may go on without the database get it.
      if (!last || at > last.until - ttlMs + oldestMs()) return value;
      // A drop while the database is waited for takes it away.
      return orLast(value, () => (known.get(realm)?.get(key) === last ? last.value : value));
    },
    ready(realm, key) {
      const entry = known.get(realm)?.get(key);
      return entry && entry.until > now().getTime() ? entry.loaded : undefined;
    },
    drop(realm) {
      for (const shelf of [known, unproven]) {
        if (realm === undefined) shelf.clear();
        else shelf.delete(realm);
      }
    },
  };
}
