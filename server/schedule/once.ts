// A part of the server that is created at the first call, and shared by all later calls.
export interface Once<T> {
  /** The part, created at the first call. If creating it failed, the next call tries again. */
  get(): Promise<T>;
  /** Undefined until the part is created. */
  readonly made: T | undefined;
  /** The part, once it is created; undefined if no call has requested it, or creating it failed. */
  settled(): Promise<T | undefined>;
}

export function once<T>(make: () => Promise<T>): Once<T> {
  let making: Promise<T> | undefined;
  let made: T | undefined;
  async function first(): Promise<T> {
    try {
      made = await make();
      return made;
    } catch (error) {
      making = undefined;
      throw error;
    }
  }
  return {
    get: () => (making ??= first()),
    get made() {
      return made;
    },
    settled: async () => making?.catch(() => undefined),
  };
}
