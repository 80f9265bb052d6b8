// Turns: for each key so many are under way at once, and the others wait for theirs, in order. Nobody is told off (db/lanes.ts
// does that, where connections are at stake).
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(most: number): InTurn {
  /** Of the keys that somebody is under way for. */
  const turns = new Map<string, { underWay: number; waiting: (() => void)[] }>();
  return async (key, work) => {
    const turn = turns.get(key) ?? { underWay: 0, waiting: [] };
    turns.set(key, turn);
    if (turn.underWay < most) turn.underWay += 1;
    else await new Promise<void>((resolve) => void turn.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = turn.waiting.shift();
      if (next) next();
      else turn.underWay -= 1;
      if (turn.underWay === 0) turns.delete(key);
    }
  };
}
