// A part of the server that is made at the first call, and is the same for every later call.
export interface Once<T> {
  /** Gives the part, and makes it at the first call. Where making it failed, the next call tries again. */
  get(): Promise<T>;
  /** Undefined until the part is made. */
  readonly made: T | undefined;
  /** The part, once it is made; undefined where no call has asked for it, or making it failed. */
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
