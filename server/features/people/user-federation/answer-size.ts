// Bounds what a directory's answers take: ldapts keeps each message in memory until it is whole, and each answer until its last entry.
// Pure. RFC 4511 §5.1 (BER: a message is a SEQUENCE of definite length).

const MIB = 1024 * 1024;
/** One entry: a group of a hundred thousand members without ranges has 8 MiB. */
const MOST_MESSAGE = 16 * MIB;
/** All messages of one answer: a page of groups with the first 1,500 members of each. */
const MOST_ANSWER = 64 * MIB;
const SEQUENCE = 0x30;
const LONG_FORM = 0x80;

/** The length that a message's first bytes say; undefined: more bytes are needed; null: it is no LDAP message. */
function lengthIn(head: readonly number[]): number | null | undefined {
  const [tag, first, ...rest] = head;
  if (tag !== undefined && tag !== SEQUENCE) return null;
  if (first === undefined) return undefined;
  if (first < LONG_FORM) return first;
  const bytes = first - LONG_FORM;
  if (bytes === 0 || bytes > 4) return null;
  if (rest.length < bytes) return undefined;
  return rest.reduce((length, byte) => length * 256 + byte, 0);
}

export interface AnswerSize {
  /** A new request is sent, and so its answer begins. */
  begin(): void;
  /** Takes what arrived. @returns why no more may be taken */
  take(chunk: Uint8Array): string | undefined;
}

export function createAnswerSize({ mostMessage = MOST_MESSAGE, mostAnswer = MOST_ANSWER } = {}): AnswerSize {
  let answer = 0;
  let head: number[] = [];
  /** Bytes of the message that have not arrived. */
  let left = 0;

  const large = (most: number) => `the directory sent more than ${Math.round(most / MIB)} MB`;

  return {
    begin() {
      answer = 0;
    },
    take(chunk) {
      answer += chunk.length;
      if (answer > mostAnswer) return `${large(mostAnswer)} in one answer: try a smaller pageSize`;
      for (let at = 0; at < chunk.length; ) {
        if (left > 0) {
          const step = Math.min(left, chunk.length - at);
          left -= step;
          at += step;
          continue;
        }
        head.push(chunk[at] ?? 0);
        at += 1;
        const length = lengthIn(head);
        if (length === undefined) continue;
        if (length === null) return 'what the directory sent is not LDAP';
        if (length > mostMessage) return `${large(mostMessage)} as one message`;
        left = length;
        head = [];
      }
      return undefined;
    },
  };
}
