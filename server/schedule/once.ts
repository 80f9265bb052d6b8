// Something that is made when it is first asked for, and then is the same for everybody.
export interface Once<T> {
  /** What was made, or is being made. Where making it failed, the next call tries again. */
  get(): Promise<T>;
  /** Undefined: nobody has asked, or it isn't made yet. */
  readonly made: T | undefined;
  /** What becomes of it, where anybody has asked; undefined where nobody has, or it could not be made. */
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
