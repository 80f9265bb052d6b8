// Reads one realm document from a file or standard input, as JSON bytes for the server: JSON is streamed at any size, YAML is
// read whole. The server parses the document's meaning.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseAllDocuments } from 'yaml';
import { errorWords } from '../server/contract/error-words.ts';
import { Refused } from './faults.ts';
import { utf8Text } from './text.ts';

export async function* documentBytes(file: string, stdin: Readable): AsyncGenerator<Uint8Array> {
  const chunks = bytesOf(file, stdin);
  const held: Buffer[] = [];
  let start = '';
  // Reads until the first character that isn't white space: a JSON document begins with a brace.
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    held.push(next.value);
    start ||= next.value.toString('latin1').trimStart().slice(0, 1);
    if (start !== '{') continue;
    yield Buffer.concat(held);
    yield* chunks;
    return;
  }
  yield Buffer.from(JSON.stringify(ofYaml(file, utf8Text(Buffer.concat(held), file))));
}

/** The bytes of a file, or of standard input. */
export async function* bytesOf(file: string, stdin: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of file === '-' ? stdin : createReadStream(file)) yield Buffer.from(chunk);
  } catch (error) {
    throw new Refused(`cannot read ${file}: ${errorWords(error)}`);
  }
}

function ofYaml(file: string, text: string): unknown {
  const documents = parseAllDocuments(text);
  const [only, ...more] = documents;
  if (!only || more.length > 0) throw new Refused(`${file} must hold one realm document`, HINT);
  const [fault] = only.errors;
  if (fault) throw new Refused(`${file}: ${fault.message.split('\n')[0]}`);
  const value: unknown = only.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused(`${file} is not a realm document: it must be an object of sections`);
  if ('apiVersion' in value && 'kind' in value) throw new Refused(`${file} is a Kubernetes manifest`, HINT);
  return value;
}

const HINT = 'For manifests and several documents: realmctl apply -f';
