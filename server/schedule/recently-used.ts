// A cache of values that are expensive to create: the most recently used ones stay.

export interface RecentlyUsed<Value> {
  /** The value of a key, created by `make` if it isn't cached. */
  get(key: string, make: () => Value): Value;
}

/**
 * @param most the most values
 * @param size the size of each value: if all together exceed `largest`, the least recently used values are evicted. One
 * value always has room
 */
export function createRecentlyUsed<Value>({
  most,
  largest = Number.POSITIVE_INFINITY,
  size = () => 0,
}: {
  most: number;
  largest?: number;
  size?: (value: Value) => number;
}): RecentlyUsed<Value> {
  /** A map keeps the order in which its keys were set: the first is the least recently used one. */
  const values = new Map<string, { value: Value }>();
  let total = 0;
  return {
    get(key, make) {
      const entry = values.get(key) ?? { value: make() };
      if (!values.delete(key)) total += size(entry.value);
      values.set(key, entry);
      for (const [oldest, { value }] of values) {
        if (values.size === 1 || (values.size <= most && total <= largest)) break;
        values.delete(oldest);
        total -= size(value);
      }
      return entry.value;
    },
  };
}
