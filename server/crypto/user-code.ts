// Codes that a user reads off a device and types (RFC 8628 §6.1): only consonants, so that they form no words and none
// is mistaken for a digit; 34 random bits, valid for minutes, and guesses are counted.
import { randomBytes } from './random.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** The largest multiple of the alphabet's size in a byte: higher bytes would make some letters more frequent. */
const FAIR = 256 - (256 % LETTERS.length);

/** A new code of 8 letters without the hyphen that {@link shownUserCode} adds. */
export function newUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    const [byte = FAIR] = randomBytes(1);
    if (byte < FAIR) code += LETTERS[byte % LETTERS.length];
  }
  return code;
}

/** `WDJBMJHT` → `WDJB-MJHT` */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a user typed, in capitals and without separators; undefined if its length is wrong. */
export function readUserCode(typed: string | undefined): string | undefined {
  const code = (typed ?? '').toUpperCase().replace(/[^A-Z]/g, '');
  return code.length === LENGTH ? code : undefined;
}
