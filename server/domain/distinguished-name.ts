// One canonical form for all spellings of a distinguished name (RFC 4514), to find users by the names in a group's members, and to
// compare the subject of a certificate. Pure.
import { createHash } from 'node:crypto';

/** Longer names are stored as a digest, because an index accepts no value of any length. */
const LONGEST_KEY = 1_000;

/** Ignores case, spaces at the ends, the way a character is escaped, and the order within a multi-valued RDN. */
export function dnKey(dn: string): string {
  const key = keyOf(dnSteps(dn));
  if (key.length <= LONGEST_KEY) return key.replaceAll('\0', '\\00');
  return `sha256=${createHash('sha256').update(key).digest('hex')}`;
}

/** An attribute of a relative distinguished name; its type is in lower case. */
export interface DnPart {
  type: string;
  value: string;
}

/** One text for the same steps, in which no value can be taken for a further part. */
export const keyOf = (steps: readonly (readonly DnPart[])[]): string =>
  steps
    .map((step) => step.map(({ type, value }) => `${type}=${escaped(value)}`).sort())
    .map((step) => step.join('+'))
    .join(',');

/** How values are compared (RFC 4518): without regard to case, and to how many spaces are between words. */
export const comparable = (value: string): string => value.trim().replaceAll(/ +/g, ' ').toLowerCase();

const escaped = (value: string): string => value.replaceAll(/[\\,+=]/g, (sign) => `\\${sign}`);
const HEX = /^[0-9A-Fa-f]{2}$/;

/** The relative distinguished names in the order of the text, each with its attributes. */
export function dnSteps(dn: string): DnPart[][] {
  const found: DnPart[][] = [[]];
  let type = '';
  let bytes: Buffer[] = [];
  /** The length of the value without trailing spaces, unless these are escaped. */
  let kept = 0;
  let inType = true;
  const end = (): void => {
    const value = Buffer.concat(bytes.slice(0, kept)).toString().replaceAll(/ +/g, ' ').toLowerCase();
    if (type.trim() !== '') found.at(-1)?.push({ type: type.trim().toLowerCase(), value });
    [type, bytes, kept, inType] = ['', [], 0, true];
  };
  const signs = [...dn];
  for (let i = 0; i < signs.length; i += 1) {
    const sign = signs[i] ?? '';
    if (inType) {
      if (sign === '=') inType = false;
      else type += sign;
    } else if (sign === '\\') {
      const hex = `${signs[i + 1] ?? ''}${signs[i + 2] ?? ''}`;
      const isHex = HEX.test(hex);
      bytes.push(isHex ? Buffer.from(hex, 'hex') : Buffer.from(signs[i + 1] ?? ''));
      kept = bytes.length;
      i += isHex ? 2 : 1;
    } else if (sign === ',' || sign === ';' || sign === '+') {
      end();
      if (sign !== '+') found.push([]);
    } else if (sign !== ' ' || bytes.length > 0) {
      bytes.push(Buffer.from(sign));
      if (sign !== ' ') kept = bytes.length;
    }
  }
  end();
  return found;
}
