// The keys that seal what is stored: the first seals, every one opens. They may change while the server runs (a file that is
// read again, a new data key), and be missing for a while (server/custody).

export interface Keyring {
  /**
   * The keys, of 32 bytes each: the same list as long as nothing changes.
   * @throws KeysUnavailable while no key is at hand
   */
  current(): readonly Buffer[];
}

/** No key is at hand: the custodian is away, and what it unwrapped may be used no longer. Requests are answered 503. */
export class KeysUnavailable extends Error {
  readonly code = 'KEYS_UNAVAILABLE';
}

/** A list of keys never changes. */
const asKeyring = (given: Keyring | readonly Buffer[]): Keyring =>
  'current' in given ? given : { current: () => given };

/** A value that `make` derives from the keys; it is made again only if these have changed. @throws what `make` throws, and KeysUnavailable */
export function derivedFrom<T>(given: Keyring | readonly Buffer[], make: (keys: readonly Buffer[]) => T): () => T {
  const keyring = asKeyring(given);
  let last: { keys: readonly Buffer[]; made: T } | undefined;
  return () => {
    const keys = keyring.current();
    if (last?.keys !== keys) last = { keys, made: make(keys) };
    return last.made;
  };
}
