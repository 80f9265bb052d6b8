// The permit to act: checked before each request that acts; requests in progress are aborted when it ends. leader.ts
// does the election; this file knows no server. Decisions "Custom resources": two operators never act at once.

export interface Permit {
  granted(): boolean;
  /** Aborted once, when the process must stop acting. */
  signal: AbortSignal;
}

export class NotPermitted extends Error {
  constructor() {
    super('this operator does not lead (any more)');
  }
}

/** For an operator without standbys. */
export const alwaysPermitted: Permit = { granted: () => true, signal: new AbortController().signal };

export const mayAct = ({ granted, signal }: Permit): boolean => !signal.aborted && granted();

/** @throws NotPermitted */
export function demandPermit(permit: Permit): void {
  if (!mayAct(permit)) throw new NotPermitted();
}

/** A `fetch` whose requests aren't sent without the permit, and are aborted when it ends. */
export function permittedFetch(permit: Permit, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    demandPermit(permit);
    const { signal } = permit;
    return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });
  };
}
