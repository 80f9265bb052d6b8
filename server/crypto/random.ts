// Random bytes in stock: asking the system for a few at a time costs more than the identifier or token they are for.
// Each byte is given once and kept nowhere.
import { randomFillSync } from 'node:crypto';

const stock = Buffer.alloc(8192);
let used = stock.length;

/** `size` random bytes of the caller's own, at most 256. */
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
