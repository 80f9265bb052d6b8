// Codes that a person types off a device (RFC 8628 §6.1): consonants alone, so that no words come out and none is mistaken for a
// digit; 34 random bits, which live for minutes and whose guesses are counted.
import { randomBytes } from './random.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** The largest multiple of their number in a byte: beyond it some would come more often. */
const FAIR = 256 - (256 % LETTERS.length);

export function newUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    const [byte = FAIR] = randomBytes(1);
    if (byte < FAIR) code += LETTERS[byte % LETTERS.length];
  }
  return code;
}

/** As it is shown. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** As somebody typed it; undefined: it can't be one. */
export function readUserCode(typed: string | undefined): string | undefined {
  const code = (typed ?? '').toUpperCase().replace(/[^A-Z]/g, '');
  return code.length === LENGTH ? code : undefined;
}
