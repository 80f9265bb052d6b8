// Fills in placeholders of a realm document before it is sent: only where a secret may stand, so that no document moves
// a value of the caller's environment to a readable field. The document is streamed. Specification 2.10.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { presentSections } from '../server/contract/sections.ts';
import type { Io } from './command.ts';
import { Refused } from './faults.ts';
import { writeLine } from './output.ts';
import { utf8Text } from './text.ts';

export type Variables = ReadonlyMap<string, string>;

const PLACEHOLDER = /^\$\{(SVC_VAR_[A-Z0-9_]+)\}$/;
const NAME = /^SVC_VAR_[A-Z0-9_]+$/;
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
/**
 * The depths of section and field in `{"clients":[{"secret":…}]}`; INNER is for objects in which single values may be
 * placeholders.
 */
const [SECTION, FIELD, INNER] = [1, 3, 4];

/** The file's variables, and those of the environment that the file lacks. */
export async function variablesOf(
  env: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
): Promise<Variables> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) if (value !== undefined && NAME.test(name)) found.set(name, value);
  if (file === undefined) return found;
  const bytes = await readFile(file).catch((error: Error) => {
    throw new Refused(`cannot read ${file}: ${error.message}`);
  });
  const text = utf8Text(bytes, file);
  for (const [n, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*?)\s*$/.exec(line) ?? [];
    // the message never contains the value itself
    if (name === undefined) throw new Refused(`${file}:${n + 1} is no line NAME=VALUE`);
    if (NAME.test(name)) found.set(name, /^(["'])(.*)\1$/.exec(value)?.[2] ?? value);
  }
  return found;
}

/** Fills in a document that is already parsed. */
export async function documentWithVariables<Document extends object>(
  document: Document,
  variables: Variables,
  used: (name: string) => void,
): Promise<Document> {
  if (variables.size === 0) return document;
  const chunks: Uint8Array[] = [];
  const whole = async function* () {
    yield Buffer.from(JSON.stringify(document));
  };
  for await (const chunk of withVariables(whole(), variables, used)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

export const sayFilled = (io: Pick<Io, 'stderr'>, used: ReadonlySet<string>): void => {
  if (used.size > 0) writeLine(io, `Filled in: ${[...used].sort().join(', ')}.`);
};

export const addEnvFile = (command: Command): Command =>
  command.option('--env-file <file>', 'values of placeholders, NAME=VALUE a line; else of the environment: SVC_VAR_…');

/** @param used called with each name that was filled in */
export async function* withVariables(
  chunks: AsyncIterable<Uint8Array>,
  variables: Variables,
  used: (name: string) => void,
): AsyncGenerator<Uint8Array> {
  if (variables.size === 0) {
    yield* chunks;
    return;
  }
  /** The open brackets, outermost first: true for a list, false for an object. */
  const open: boolean[] = [];
  let key = false;
  let inString = false;
  let escaped = false;
  let [section, field, within] = ['', '', ''];
  /** The current string so far; undefined: no string, or one that can't be a placeholder. */
  let held: Buffer[] | undefined;

  function ended(text: string): string {
    if (key && open.length === SECTION) section = parsed(text);
    else if (key && open.length === FIELD) field = parsed(text);
    else if (key && open.length === INNER) within = parsed(text);
    if (key) return text;
    const { secrets = [], placeholders = [] } = presentSections.get(section) ?? {};
    const own = open.length === FIELD && open[1] === true && secrets.includes(field);
    const inner = open.length === INNER && open[1] === true && placeholders.includes(`${field}.${within}`);
    const name = own || inner ? PLACEHOLDER.exec(parsed(text))?.[1] : undefined;
    const value = name === undefined ? undefined : variables.get(name);
    if (name === undefined || value === undefined) return text;
    used(name);
    return JSON.stringify(value);
  }
  function structure(byte: number): void {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      open.push(byte === OPEN_BRACKET);
      key = byte === OPEN_BRACE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      open.pop();
      key = false;
    } else if (byte === COLON) key = false;
    else if (byte === COMMA) key = open.at(-1) === false;
  }

  for await (const piece of chunks) {
    const chunk = Buffer.from(piece);
    const out: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (!inString) {
        if (byte !== QUOTE) structure(byte);
        else {
          inString = true;
          if ([SECTION, FIELD, INNER].includes(open.length)) {
            out.push(chunk.subarray(from, at));
            from = at;
            held = [];
          }
        }
      } else if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) {
        inString = false;
        if (!held) continue;
        out.push(Buffer.from(ended(Buffer.concat([...held, chunk.subarray(from, at + 1)]).toString('utf8'))));
        held = undefined;
        from = at + 1;
      }
    }
    if (held) held.push(chunk.subarray(from));
    else out.push(chunk.subarray(from));
    if (out.length > 0) yield Buffer.concat(out);
  }
  // the document was cut off: the server reports it
  if (held) yield Buffer.concat(held);
}

function parsed(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}
