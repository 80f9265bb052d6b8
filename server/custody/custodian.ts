// What a custodian does: it holds a key that never leaves it, and wraps and unwraps the server's data keys by it. A driver is one
// file of drivers/, loaded if SVC_KEY_CUSTODIAN names it.

export interface Custodian {
  /** The driver, the place and the key, without credentials: stored beside each wrapped key, and shown in errors. */
  name: string;
  /** @throws CustodianError */
  wrap(key: Buffer): Promise<Buffer>;
  /** @throws CustodianError */
  unwrap(wrapped: Buffer): Promise<Buffer>;
  close(): Promise<void>;
}

/** Its message names no secret; it may stand in logs and in answers to administrators. */
export class CustodianError extends Error {
  /** Whether a later try may succeed: the custodian can't be reached, or has no time. */
  readonly away: boolean;
  constructor(message: string, { away, cause }: { away: boolean; cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.away = away;
  }
}

/** The context to which a wrapped data key is bound, where the custodian binds to one. */
export const WRAPPED_FOR = 'realmkeeper data key';
