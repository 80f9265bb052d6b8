// Password hashes as PHC strings: parsing and formatting. password-hash.ts computes them.
// A hash that is not argon2id was imported; it stays usable, and the next sign-in replaces it.
import { randomBytes } from 'node:crypto';

export interface Argon2Parameters {
  /** KiB */
  memory: number;
  passes: number;
  lanes: number;
}

export type Phc =
  | ({ algorithm: 'argon2id' | 'argon2i' | 'argon2d' } & Argon2Parameters & Sealed)
  | ({ algorithm: 'scrypt'; cost: number; block: number; lanes: number } & Sealed)
  | ({ algorithm: 'bcrypt'; cost: number } & Sealed)
  | ({ algorithm: 'pbkdf2'; digest: 'sha1' | 'sha256' | 'sha512'; iterations: number } & Sealed);
interface Sealed {
  salt: Buffer;
  hash: Buffer;
}

const VERSION_13 = 19;
export const HASH_BYTES = 32;
/** The most that checking an imported hash may cost, so that it can't delay the sign-ins of other users. Memory in KiB. */
const MOST = { memory: 256 * 1024, passes: 16, lanes: 16, logCost: 18, iterations: 3_000_000, bcrypt: 14 } as const;
/** KiB of memory that all checks of imported hashes may take at once, in all threads. */
export const FOREIGN_KIB = 256 * 1024;
/** KiB for one imported hash: half of it, so that at least two checks run at once. */
const MOST_IMPORTED = FOREIGN_KIB / 2;
/** KiB that one check may write in all: memory times passes, about a second. */
const MOST_WORK = 1024 * 1024;
/** RFC 9106 §3.1: argon2 is not defined for less memory. */
const LEAST_KIB_A_LANE = 8;

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/(?<!=)=+$/, '');
/** Both alphabets, and passlib's `.` for `+`. */
const unbase64 = (text: string): Buffer => Buffer.from(text.replaceAll('.', '+'), 'base64');
const within = (n: number | undefined, most: number): n is number =>
  n !== undefined && Number.isInteger(n) && n >= 1 && n <= most;

function parameters(text: string): Map<string, number> {
  return new Map(
    text.split(',').map((pair): [string, number] => [pair.split('=')[0] ?? '', Number(pair.split('=')[1])]),
  );
}

/** `$2b$12$` and 53 characters of bcrypt's own alphabet; 2a and 2y are the same. */
const BCRYPT = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const ALPHABETS = [
  './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
] as const;
const translated = (text: string, [from, to]: readonly [string, string]): string =>
  text.replaceAll(/./g, (sign) => to[from.indexOf(sign)] ?? '');

/** The hash as it is stored: bcrypt's own format becomes a PHC string, other hashes stay as they are. */
export function inPhcForm(phc: string): string {
  const [, cost, salt, hash] = BCRYPT.exec(phc) ?? [];
  if (cost === undefined || salt === undefined || hash === undefined) return phc;
  return `$bcrypt$v=98$r=${Number(cost)}$${translated(salt, ALPHABETS)}$${translated(hash, ALPHABETS)}`;
}
/** The salt in bcrypt's own format, and the hash out of bcrypt's output. */
export const bcryptSalt = (cost: number, salt: Buffer): string =>
  `$2b$${String(cost).padStart(2, '0')}$${translated(base64(salt), [ALPHABETS[1], ALPHABETS[0]])}`;
/** The hash's 23 bytes, out of the last 31 characters of bcrypt's text. */
export const bcryptHash = (written: string): Buffer => unbase64(translated(written.slice(-31), ALPHABETS));

/** The parsed hash; undefined if this server can't check it. */
export function parsePhc(phc: string): Phc | undefined {
  const [start, id = '', ...rest] = inPhcForm(phc).split('$');
  if (start !== '' || rest.length < 3) return undefined;
  const hash = unbase64(rest.pop() ?? '');
  const salt = unbase64(rest.pop() ?? '');
  const named = parameters(rest.pop() ?? '');
  if (hash.length < 16 || hash.length > 512 || salt.length > 512) return undefined;
  if (id === 'argon2id' || id === 'argon2i' || id === 'argon2d') {
    const [memory, passes, lanes] = [named.get('m'), named.get('t'), named.get('p')];
    if (rest[0] !== `v=${VERSION_13}` || salt.length < 8) return undefined;
    if (!within(memory, MOST.memory) || !within(passes, MOST.passes) || !within(lanes, MOST.lanes)) return undefined;
    if (memory < LEAST_KIB_A_LANE * lanes || memory * passes > MOST_WORK) return undefined;
    return { algorithm: id, memory, passes, lanes, salt, hash };
  }
  if (id === 'scrypt') {
    const [logCost, block, lanes] = [named.get('ln'), named.get('r'), named.get('p')];
    if (!within(logCost, MOST.logCost) || !within(block, 32) || !within(lanes, MOST.lanes)) return undefined;
    const cost = 2 ** logCost;
    const kib = (cost * block) / 8;
    // RFC 7914 §2: the cost is less than 2^(16 · block).
    if (kib > MOST.memory || kib * lanes > MOST_WORK || logCost >= 16 * block) return undefined;
    return { algorithm: 'scrypt', cost, block, lanes, salt, hash };
  }
  if (id === 'bcrypt') {
    const cost = named.get('r');
    if (rest[0] !== 'v=98' || !within(cost, MOST.bcrypt) || cost < 4 || salt.length !== 16 || hash.length !== 23)
      return undefined;
    return { algorithm: 'bcrypt', cost, salt, hash };
  }
  const digest = /^pbkdf2(?:-(sha1|sha256|sha512))?$/.exec(id);
  // $pbkdf2-sha256$i=600000$… of PHC, $pbkdf2-sha256$29000$… of passlib
  const iterations = named.get('i') ?? Number([...named.keys()][0]);
  if (!digest || !within(iterations, MOST.iterations)) return undefined;
  const known = digest[1] === 'sha256' || digest[1] === 'sha512' ? digest[1] : 'sha1';
  return { algorithm: 'pbkdf2', digest: known, iterations, salt, hash };
}

/** KiB of memory that checking the hash takes; 0 if it takes no notable amount or can't be checked. */
export function kibOf(phc: string): number {
  const parsed = parsePhc(phc);
  if (!parsed || parsed.algorithm === 'pbkdf2' || parsed.algorithm === 'bcrypt') return 0;
  return parsed.algorithm === 'scrypt' ? (parsed.cost * parsed.block) / 8 : parsed.memory;
}

/** Whether a hash may be imported. Stored hashes are checked up to twice this size. */
export const usablePhc = (phc: string): boolean => parsePhc(phc) !== undefined && kibOf(phc) <= MOST_IMPORTED;

/** The beginning of every hash made with these parameters. */
export const argon2Prefix = ({ memory, passes, lanes }: Argon2Parameters): string =>
  `$argon2id$v=${VERSION_13}$m=${memory},t=${passes},p=${lanes}$`;

/** The PHC string of an argon2id hash. */
export const formatArgon2 = (of: Argon2Parameters, salt: Buffer, hash: Buffer): string =>
  `${argon2Prefix(of)}${base64(salt)}$${base64(hash)}`;

/** A hash of no password: checking against it takes as long as against a real one. */
export const phcOfNobody = (of: Argon2Parameters): string => formatArgon2(of, randomBytes(16), randomBytes(HASH_BYTES));

/** A hash of no password of another kind: `kind` is a hash's beginning, `$`, and the number of characters of the hash itself. */
export function phcOfKind(kind: string): string {
  const at = kind.lastIndexOf('$') + 1;
  const length = Math.min(Number(kind.slice(at)) || 0, 1000);
  return `${kind.slice(0, at)}${base64(randomBytes(16))}$${base64(randomBytes(length)).slice(0, length)}`;
}
