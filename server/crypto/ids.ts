// UUIDv7 (RFC 9562 §5.7): ids sort by time, so that keys append and cursors follow time. UUIDv8 for ids derived from a name.
import { randomBytes } from './random.ts';
import { sha256 } from './tokens.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Whether PostgreSQL accepts the text as a uuid; any version counts. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** The id of no object (RFC 9562 §5.9), for statements that run for an unknown one as they do for a known one. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

let last = 0;
let sequence = 0;

/** A new UUIDv7. The ids of one process ascend even within one millisecond (12-bit counter in rand_a). */
export function newId(): string {
  let at = Date.now();
  if (at <= last) {
    at = last;
    sequence += 1;
    if (sequence > 0xfff) {
      at = last + 1;
      sequence = 0;
    }
  } else sequence = 0;
  last = at;
  const bytes = Buffer.allocUnsafe(16);
  randomBytes(8).copy(bytes, 8);
  bytes.writeUIntBE(at, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  return written(bytes);
}

const LAST_MOMENT = 2 ** 48 - 1;

/** The least UUIDv7 of a moment, or the nearest where an id can't say it. */
export function leastIdAt(at: Date): string {
  const ms = Math.min(Math.max(at.getTime(), 0), LAST_MOMENT);
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The UUIDv8 (RFC 9562 §5.8) of a name: always the same one. */
export function idNamed(name: string): string {
  const bytes = sha256(name).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  return written(bytes);
}

/** Formats the bytes after setting RFC 9562's variant bits. */
function written(bytes: Buffer): string {
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
