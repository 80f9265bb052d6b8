// Text at the edges of realmctl: files that must be UTF-8, and answers as a terminal may show them.
import { isUtf8 } from 'node:buffer';
import { Refused } from './faults.ts';
import { plain } from './output.ts';

/** The text of a file's bytes. @throws Refused instead of replacing what another encoding wrote */
export function utf8Text(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return Buffer.from(bytes).toString('utf8');
  throw new Refused(`${file} is not UTF-8`, 'Convert it first: iconv -f ISO-8859-1 -t UTF-8');
}

/** A text of several lines without what would steer a terminal; each line stays a line. */
export const shownLines = (text: string): string => text.split('\n').map(plain).join('\n');

/** The same for a text that arrives in pieces. */
export async function* shownChunks(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks)
    yield shownLines(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
  yield shownLines(decoder.decode());
}
