// What the request path keeps in process, realm by realm: dropped when a realm changes, with a short life as the net.
// It never serves what a drop outdated, even where the load began before the drop.

export interface RealmCache<T> {
  get(realm: string, key: string): Promise<T>;
  /** What `get` would give without asking anybody, if that is so. */
  ready(realm: string, key: string): T | undefined;
  /** Forgets one realm, or everything. */
  drop(realm: string | undefined): void;
}

interface Entry<T> {
  value: Promise<T>;
  loaded?: T;
  until: number;
}

const MAX_REALMS = 10_000;

/**
 * @param load reads one value; concurrent calls for the same key share it, and a failed load is not kept
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
  const realms = new Map<string, Map<string, Entry<T>>>();
  return {
    get(realm, key) {
      let entries = realms.get(realm);
      if (!entries) {
        // Realm names come from addresses, so that made-up ones must not fill the memory either.
        if (realms.size >= MAX_REALMS) realms.clear();
        entries = new Map();
        realms.set(realm, entries);
      }
      const at = now().getTime();
      const hit = entries.get(key);
      if (hit && hit.until > at) return hit.value;
      const value = load(realm, key);
      const entry: Entry<T> = { value, until: at + ttlMs };
      if (entries.size >= max) entries.clear();
      entries.set(key, entry);
      // The map of the time of the load: after a drop it is garbage, so a late load can't bring an old value back.
      const mine = entries;
      value.then(
        (loaded) => {
          entry.loaded = loaded;
        },
        () => {
          if (mine.get(key) === entry) mine.delete(key);
        },
      );
      return value;
    },
    ready(realm, key) {
      const entry = realms.get(realm)?.get(key);
      return entry && entry.until > now().getTime() ? entry.loaded : undefined;
    },
    drop(realm) {
      if (realm === undefined) realms.clear();
      else realms.delete(realm);
    },
  };
}
