// Says what is wrong with a configuration once in this process, for those who read its log: what meets it may come with each request.
const MOST_TOLD = 1000;

export type TellOnce = (words: string, tell: (words: string) => void) => void;

export function createTellOnce(): TellOnce {
  const told = new Set<string>();
  return (words, tell) => {
    if (told.has(words) || told.size >= MOST_TOLD) return;
    told.add(words);
    tell(words);
  };
}
