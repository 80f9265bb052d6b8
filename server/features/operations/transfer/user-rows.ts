// Splits users' rows while they arrive: the elements of a JSON array, or lines. It knows JSON's outline, not a row's fields.
// Decisions "Import, export, plan".
import { Problem } from '../../../contract/problem.ts';
import { createSplitter, faultOfBytes, tooLarge } from './document-stream.ts';

/** The limit of one row. */
const ROW_BYTES = 1024 * 1024;
const KEY = 'users';
const MARK = Buffer.from('\uFEFF');

/** A row's text, or why it has none. */
export type RowText = { text: string; fault?: undefined } | { text?: undefined; fault: string };

export async function* elements(body: AsyncIterable<Buffer>): AsyncGenerator<RowText> {
  let rows: RowText[] = [];
  const limits = { bytes: 1024, elementBytes: ROW_BYTES, unbounded: new Set([KEY]), lenient: true };
  const splitter = createSplitter({
    limits,
    slice({ index, text, fault }) {
      if (text === undefined && fault === undefined) return;
      if (index === undefined) throw new Problem('invalid-request', 'The body must be a list of users');
      rows.push(text === undefined ? { fault: fault ?? '' } : { text });
    },
  });
  splitter.write(Buffer.from(`{"${KEY}":`));
  for await (const chunk of withoutMark(body)) {
    splitter.write(chunk);
    yield* rows;
    rows = [];
  }
  splitter.write(Buffer.from('}'));
  splitter.end();
  yield* rows;
}

/** Drops a byte order mark, which some programs write before the data. */
async function* withoutMark(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of body) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < MARK.length) continue;
    yield head.subarray(0, MARK.length).equals(MARK) ? head.subarray(MARK.length) : head;
    head = undefined;
  }
  if (head !== undefined) yield head;
}

/** One row per line. */
export async function* lineRows(body: AsyncIterable<Buffer>): AsyncGenerator<RowText> {
  for await (const line of linesOf(body, ROW_BYTES)) {
    const fault = line === undefined ? tooLarge(ROW_BYTES) : faultOfBytes(line, ROW_BYTES);
    if (line === undefined || fault !== undefined) yield { fault: fault ?? '' };
    else for (const text of filled(line)) yield { text };
  }
}

/** The lines of a text that the server wrote, of any length. */
export async function* lines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const line of linesOf(body, Number.POSITIVE_INFINITY)) if (line !== undefined) yield* filled(line);
}

/** Yields undefined for a line with more than `most` bytes, and drops the rest of it. */
async function* linesOf(body: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length > most) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const taken = () => {
    const line = length > most ? undefined : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      add(chunk.subarray(from, end));
      yield taken();
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  yield taken();
}

function filled(line: Buffer): string[] {
  const text = line.toString().trim();
  return text === '' ? [] : [text];
}
