// One form for all ways of writing a distinguished name (RFC 4514), to find somebody by what a group calls them. Pure.
import { createHash } from 'node:crypto';

/** Longer ones stand as their digest, as an index takes no value of any length. */
const LONGEST_KEY = 1_000;

/** Case and spaces at the ends don't count, nor how a sign is escaped, nor the order within one step. */
export function dnKey(dn: string): string {
  const key = steps(dn)
    .map((step) => step.map(({ type, value }) => `${type}=${escaped(value)}`).sort())
    .map((step) => step.join('+'))
    .join(',');
  if (key.length <= LONGEST_KEY) return key.replaceAll('\0', '\\00');
  return `sha256=${createHash('sha256').update(key).digest('hex')}`;
}

interface Part {
  type: string;
  value: string;
}

const escaped = (value: string): string => value.replaceAll(/[\\,+=]/g, (sign) => `\\${sign}`);
const HEX = /^[0-9A-Fa-f]{2}$/;

function steps(dn: string): Part[][] {
  const found: Part[][] = [[]];
  let type = '';
  let bytes: Buffer[] = [];
  /** Of the value, as far as its end is no space that is only written there. */
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
