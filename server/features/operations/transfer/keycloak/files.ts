// Reads the files of an export while they arrive: one file, or a list of them. ../document-stream.ts splits each into
// pieces, users one by one, so that memory doesn't grow with them. document.ts interprets the pieces.
import { Problem } from '../../../../contract/problem.ts';
import { createSplitter, type Slice } from '../document-stream.ts';

export const MIB = 1024 * 1024;
/** The most memory for a realm without its users, and for users before their realm is known. */
export const MOST_HELD = 32 * MIB;
const MOST_FILES = 10_000;
const limits = {
  bytes: MOST_HELD,
  elementBytes: MOST_HELD,
  unbounded: new Set(['users', 'federatedUsers']),
  lenient: true,
};

export type Piece = { slice: Slice; end?: never; listed?: never } | { end: true; listed: boolean; slice?: never };

const [OPEN, CLOSE, FIRST, LAST, COMMA, QUOTE, BACKSLASH] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x22, 0x5c];
const BOM = [0xef, 0xbb, 0xbf];
const blank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const malformed = (message: string) =>
  new Problem('invalid-request', `The export is not valid JSON: ${message}`, { errors: [{ path: '', message }] });

/** @throws Problem `invalid-request`, `too-large` */
export async function* piecesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  let pieces: Piece[] = [];
  const splitting = () => createSplitter({ limits, slice: (slice) => void pieces.push({ slice }) });
  const cut = createCutter({
    begin: splitting,
    done: (listed) => void pieces.push({ end: true, listed }),
  });
  for await (const chunk of body) {
    cut.write(chunk);
    yield* pieces;
    pieces = [];
  }
  cut.end();
  yield* pieces;
}

type Splitter = ReturnType<typeof createSplitter>;

/** Finds where each object of a list begins and ends. A single object counts as a list of one. */
function createCutter({ begin, done }: { begin(): Splitter; done(listed: boolean): void }) {
  let where: 'start' | 'element' | 'first' | 'inside' | 'after' | 'end' = 'start';
  let listed = false;
  let files = 0;
  let splitter: Splitter | undefined;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let first = true;

  function open(): void {
    files += 1;
    if (files > MOST_FILES) throw new Problem('too-large', `There are more than ${MOST_FILES} files`);
    splitter = begin();
    where = 'inside';
    depth = 0;
  }

  /** Reads to the end of the current object. @returns the position after it, or the chunk's end */
  function inside(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN || byte === FIRST) depth += 1;
      else if (byte === CLOSE || byte === LAST) {
        depth -= 1;
        if (depth > 0) continue;
        splitter?.write(chunk.subarray(from, at + 1));
        splitter?.end();
        done(listed);
        where = listed ? 'after' : 'end';
        return at + 1;
      }
    }
    splitter?.write(chunk.subarray(from));
    return chunk.length;
  }

  function between(byte: number | undefined): 'stay' | 'next' {
    if (where === 'start' && byte === FIRST) {
      listed = true;
      where = 'first';
      return 'next';
    }
    if (byte === OPEN && (where === 'start' || where === 'first' || where === 'element')) {
      open();
      return 'stay';
    }
    if (byte === LAST && (where === 'first' || where === 'after')) where = 'end';
    else if (byte === COMMA && where === 'after') where = 'element';
    else throw malformed(where === 'end' ? 'something follows it' : 'it must be an object, or a list of objects');
    return 'next';
  }

  return {
    write(chunk: Buffer): void {
      let at = first && BOM.every((byte, i) => chunk[i] === byte) ? BOM.length : 0;
      first = false;
      while (at < chunk.length) {
        if (where === 'inside') at = inside(chunk, at);
        else if (blank(chunk[at]) || between(chunk[at]) === 'next') at += 1;
      }
    },
    end(): void {
      if (where !== 'end') throw malformed('it ends too early');
    },
  };
}
