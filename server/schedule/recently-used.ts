// Values that cost something to make, by key: those that were used last are remembered.

export interface RecentlyUsed<Value> {
  /** The value of a key, made where it isn't remembered. */
  get(key: string, make: () => Value): Value;
}

/**
 * @param most how many values are remembered
 * @param size of each value: beyond `largest` together, the values whose use is longest ago are forgotten. One value always has room
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
  /** A map keeps the order in which its keys were set: the first is the one whose use is longest ago. */
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
