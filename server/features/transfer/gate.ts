// Who waits for an import of the same realm waits here, not with a database connection in the hand: so a queue of imports
// never takes the connections that everybody else's requests need.

export interface Gate {
  /** Runs `work` when no other of the same realm runs here, and at most `atOnce` in all. */
  pass<T>(realm: string, work: () => Promise<T>): Promise<T>;
}

export function createGate({ atOnce }: { atOnce: number }): Gate {
  const busy = new Set<string>();
  const waiting: { realm: string; enter(): void }[] = [];

  function admit(): void {
    while (busy.size < atOnce) {
      const next = waiting.findIndex(({ realm }) => !busy.has(realm));
      const [entered] = next < 0 ? [] : waiting.splice(next, 1);
      if (!entered) return;
      busy.add(entered.realm);
      entered.enter();
    }
  }

  return {
    async pass(realm, work) {
      await new Promise<void>((enter) => {
        waiting.push({ realm, enter });
        admit();
      });
      try {
        return await work();
      } finally {
        busy.delete(realm);
        admit();
      }
    },
  };
}
