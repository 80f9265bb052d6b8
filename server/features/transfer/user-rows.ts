// Rows of users while they arrive: the elements of a JSON array, or lines. It knows JSON's outline, not what a row holds.
// Decisions "Import, export, plan".
import { Problem } from '../../contract/problem.ts';
import { createSplitter } from './document-stream.ts';

/** Of one row. */
const ROW_BYTES = 1024 * 1024;
const KEY = 'users';

export async function* elements(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rows: string[] = [];
  const slice = ({ index, text }: { index: number | undefined; text: string | undefined }): void => {
    if (text === undefined) return;
    if (index === undefined) throw new Problem('invalid-request', 'The body must be a list of users');
    rows.push(text);
  };
  const limits = { bytes: 1024, elementBytes: ROW_BYTES, unbounded: new Set([KEY]) };
  const splitter = createSplitter({ limits, slice });
  splitter.write(Buffer.from(`{"${KEY}":`));
  for await (const chunk of body) {
    splitter.write(chunk);
    yield* rows;
    rows = [];
  }
  splitter.write(Buffer.from('}'));
  splitter.end();
  yield* rows;
}

export async function* lines(body: AsyncIterable<Buffer>, most = ROW_BYTES): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      yield* filled(Buffer.concat([rest, chunk.subarray(from, end)]));
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    if (rest.length > most) throw new Problem('too-large', `A line is larger than ${most} bytes`);
  }
  yield* filled(rest);
}

function filled(line: Buffer): string[] {
  const text = line.toString().trim();
  return text === '' ? [] : [text];
}
