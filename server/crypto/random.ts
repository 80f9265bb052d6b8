// A buffer of random bytes: asking the system for a few at a time costs more than making the identifier or token. Each byte is
// handed out once and then erased from the buffer.
import { randomFillSync } from 'node:crypto';

const stock = Buffer.alloc(8192);
let used = stock.length;

/** @param size at most 256 bytes */
export function randomBytes(size: number): Buffer {
  if (used + size > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  const bytes = Buffer.allocUnsafe(size);
  stock.copy(bytes, 0, used, used + size);
  stock.fill(0, used, used + size);
  used += size;
  return bytes;
}
