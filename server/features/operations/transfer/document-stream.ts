// Splits a realm document while it arrives: elements of top-level arrays one by one, other values whole, so that memory
// does not grow with the number of users. It knows JSON's outline, not its values. Decisions "Import, export, plan".
import { isUtf8 } from 'node:buffer';
import type { FieldError } from '../../../contract/problem.ts';
import { Problem } from '../../../contract/problem.ts';

/** `index` undefined: the whole value of a top-level key; an empty array comes as one slice without `text`. */
export interface Slice {
  key: string;
  index: number | undefined;
  text: string | undefined;
  /** The fault if the slice can't be read but the document can continue. Then the slice has no `text`. */
  fault?: string;
}

export interface Limits {
  /** The limit of all values together, without those of `unbounded` keys. */
  bytes: number;
  /** The limit of one element or value of an unbounded key. */
  elementBytes: number;
  unbounded: ReadonlySet<string>;
  /**
   * A slice that is too deep or not UTF-8, or too large an element of an unbounded key, gets a fault and doesn't end
   * the document.
   */
  lenient?: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** The depth of one value: its comparison and printing are recursive, in this process and in PostgreSQL. */
const MOST_LEVELS = 100;
const BOM = [0xef, 0xbb, 0xbf];
const blank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const malformed = (message: string, path = '') =>
  new Problem('invalid-request', `The document is not valid JSON: ${message}`, { errors: [{ path, message }] });

const TOO_DEEP = `is nested deeper than ${MOST_LEVELS} levels`;
const NO_UTF8 = 'is not UTF-8';
export const tooLarge = (bytes: number): string => `is larger than ${bytes} bytes`;

function tooDeep(path: string): Problem {
  return new Problem('invalid-request', `${path} ${TOO_DEEP}`, { errors: [{ path, message: TOO_DEEP }] });
}

/** The fault in a value's bytes, found before they are parsed as JSON. */
export function faultOfBytes(bytes: Buffer, most: number): string | undefined {
  if (bytes.length > most) return tooLarge(most);
  if (!isUtf8(bytes)) return NO_UTF8;
  let [depth, inString, escaped] = [0, false, false];
  for (const byte of bytes) {
    if (inString) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > MOST_LEVELS) return TOO_DEEP;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return undefined;
}

type State = 'start' | 'key-or-end' | 'key' | 'colon' | 'value' | 'after-value' | 'element' | 'after-element' | 'end';

/**
 * Takes the chunks, and calls `slice` for each piece in order. `end()` tells whether the document was complete.
 * @throws Problem `invalid-request` for invalid JSON or a repeated key, `too-large` past the limits
 */
export function createSplitter({ limits, slice }: { limits: Limits; slice(slice: Slice): void }) {
  let state: State = 'start';
  const seen = new Set<string>();
  let key = '';
  let index = 0;
  let emptySoFar = true;
  /** The current piece: its bytes from earlier chunks, and the present depth within it. */
  let pending: Buffer[] = [];
  let heldBytes = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let collecting: 'key' | 'value' | 'element' | undefined;
  let bounded = 0;
  let total = 0;
  /** The fault of the current piece, whose rest is skipped. */
  let fault: string | undefined;
  const isForgiven = () => limits.lenient === true && collecting !== 'key';
  function spoil(words: string): void {
    fault ??= words;
    pending = [];
    heldBytes = 0;
  }

  function hold(part: Buffer): void {
    if (part.length === 0 || fault !== undefined) return;
    pending.push(part);
    heldBytes += part.length;
    const free = collecting !== 'key' && limits.unbounded.has(key);
    if (!free) bounded += part.length;
    if ((free && heldBytes > limits.elementBytes) || bounded > limits.bytes) {
      if (isForgiven() && free && collecting === 'element') {
        spoil(tooLarge(limits.elementBytes));
        return;
      }
      throw new Problem(
        'too-large',
        free
          ? `${key}[${index}] ${tooLarge(limits.elementBytes)}`
          : `The document is larger than ${limits.bytes} bytes, users aside`,
      );
    }
  }
  function held(): Buffer {
    const [only, ...more] = pending;
    const bytes = only === undefined ? Buffer.alloc(0) : more.length === 0 ? only : Buffer.concat(pending);
    pending = [];
    heldBytes = 0;
    return bytes;
  }
  function textOf(bytes: Buffer): string {
    // Decoded leniently, the text would differ from the one that was sent.
    if (!isUtf8(bytes)) throw malformed(NO_UTF8, collecting === 'element' ? `${key}[${index}]` : key);
    return bytes.toString('utf8').trim();
  }
  function gotKey(): void {
    const parsed: unknown = parseJson(textOf(held()), '');
    if (typeof parsed !== 'string') throw malformed('a key must be a string');
    if (seen.has(parsed)) throw malformed('is given twice', parsed);
    if (parsed === '__proto__') throw malformed('is not a known field', parsed);
    seen.add(parsed);
    key = parsed;
    state = 'colon';
  }
  function gotPiece(): void {
    const bytes = held();
    if (isForgiven() && !isUtf8(bytes)) spoil(NO_UTF8);
    const place = { key, index: collecting === 'element' ? index : undefined };
    if (fault === undefined) {
      const text = textOf(bytes);
      if (text === '') throw malformed('a value is missing', key);
      slice({ ...place, text });
    } else slice({ ...place, text: undefined, fault });
    fault = undefined;
    if (collecting === 'element') index += 1;
    emptySoFar = false;
  }
  function begin(what: 'key' | 'value' | 'element', next: State): void {
    collecting = what;
    depth = 0;
    inString = false;
    escaped = false;
    state = next;
  }

  /** Reads to the end of the current piece. @returns the position after it, or the chunk's end */
  function collect(chunk: Buffer, from: number): number {
    let at = from;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          if (collecting === 'key') {
            hold(chunk.subarray(from, at + 1));
            collecting = undefined;
            gotKey();
            return at + 1;
          }
        }
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth += 1;
        if (depth > MOST_LEVELS) {
          if (!isForgiven()) throw tooDeep(collecting === 'element' ? `${key}[${index}]` : key);
          spoil(TOO_DEEP);
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return finish(chunk, from, at);
        depth -= 1;
      } else if (byte === COMMA && depth === 0) return finish(chunk, from, at);
    }
    hold(chunk.subarray(from));
    return at;
  }
  function finish(chunk: Buffer, from: number, at: number): number {
    hold(chunk.subarray(from, at));
    gotPiece();
    state = collecting === 'element' ? 'after-element' : 'after-value';
    collecting = undefined;
    return at;
  }

  function step(byte: number): 'stay' | 'next' {
    switch (state) {
      case 'start':
        if (byte !== OPEN_BRACE) throw malformed('it must be an object');
        state = 'key-or-end';
        return 'next';
      case 'key-or-end':
        if (byte === CLOSE_BRACE) {
          state = 'end';
          return 'next';
        }
        if (byte !== QUOTE) throw malformed('a key is expected');
        begin('key', 'key');
        return 'stay';
      case 'key':
        if (byte !== QUOTE) throw malformed('a key is expected');
        begin('key', 'key');
        return 'stay';
      case 'colon':
        if (byte !== COLON) throw malformed('a colon is expected', key);
        state = 'value';
        return 'next';
      case 'value':
        if (byte === OPEN_BRACKET) {
          index = 0;
          emptySoFar = true;
          state = 'element';
          return 'next';
        }
        begin('value', 'value');
        return 'stay';
      case 'element':
        if (byte === CLOSE_BRACKET && emptySoFar) {
          slice({ key, index: undefined, text: undefined });
          state = 'after-value';
          return 'next';
        }
        begin('element', 'element');
        return 'stay';
      case 'after-element':
        if (byte === COMMA) state = 'element';
        else if (byte === CLOSE_BRACKET) state = 'after-value';
        else throw malformed('a comma is expected', `${key}[${index}]`);
        return 'next';
      case 'after-value':
        if (byte === COMMA) state = 'key';
        else if (byte === CLOSE_BRACE) state = 'end';
        else throw malformed('a comma is expected', key);
        return 'next';
      default:
        throw malformed('something follows the document');
    }
  }

  return {
    write(chunk: Buffer): void {
      let at = 0;
      if (total === 0 && BOM.every((byte, i) => chunk[i] === byte)) at = BOM.length;
      total += chunk.length;
      while (at < chunk.length) {
        if (collecting) {
          // The first quote of a key begins its string, which collect() reads.
          at = collect(chunk, at);
          continue;
        }
        const byte = chunk[at] ?? 0;
        if (blank(byte) || step(byte) === 'next') at += 1;
      }
    },
    end(): void {
      if (state !== 'end') throw malformed(total === 0 ? 'it is empty' : 'it ends too early', key);
    },
  };
}

// Matches the key `__proto__` in every escaped form. It is refused, because a careless merge would set the prototype.
const PROTOTYPE_KEY =
  /"(?:_|\\u005[Ff]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[Ff])(?:t|\\u0074)(?:o|\\u006[Ff])(?:_|\\u005[Ff]){2}"\s*:/;

/** @throws Problem `invalid-request` at `path` */
export function parseJson(text: string, path: string): unknown {
  if (text.includes('"') && PROTOTYPE_KEY.test(text)) throw malformed('holds the key __proto__', path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8's message quotes the text, which may hold a secret; only its position is reported.
    const at = /at position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    const fault: FieldError = { path, message: at ? `is not valid JSON ${at}` : 'is not valid JSON' };
    throw new Problem('invalid-request', `The document is not valid JSON at ${path}`, { errors: [fault] });
  }
  // PostgreSQL can't store half a surrogate pair.
  if (/\\u[dD][89a-fA-F]/.test(text) && /\\ud[89a-f]/.test(JSON.stringify(value)))
    throw malformed('holds half a surrogate pair', path);
  return value;
}
