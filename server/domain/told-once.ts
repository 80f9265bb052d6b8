// Logs a fault of a configuration once in this process: every request may meet the fault.
const MOST_TOLD = 1000;

export type TellOnce = (words: string, tell: (words: string) => void) => void;

/** Passes each text on once, up to a bound on the number of texts. */
export function createTellOnce(): TellOnce {
  const told = new Set<string>();
  return (words, tell) => {
    if (told.has(words) || told.size >= MOST_TOLD) return;
    told.add(words);
    tell(words);
  };
}
