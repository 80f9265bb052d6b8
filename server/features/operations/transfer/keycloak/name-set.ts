// A set of possibly millions of names, with eight bytes of each name's digest. Two names practically never collide: for
// ten million names the chance is one in 300,000.
import { hash } from 'node:crypto';

export function createNameSet() {
  let slots = new BigUint64Array(1024);
  let count = 0;

  const digestOf = (name: string): bigint => hash('sha1', name, 'buffer').readBigUInt64LE() || 1n;
  function slotOf(digest: bigint): number {
    const mask = slots.length - 1;
    let at = Number(digest & BigInt(mask));
    while (slots[at] !== 0n && slots[at] !== digest) at = (at + 1) & mask;
    return at;
  }
  function grow(): void {
    const before = slots;
    slots = new BigUint64Array(before.length * 2);
    for (const digest of before) if (digest !== 0n) slots[slotOf(digest)] = digest;
  }
  return {
    has: (name: string): boolean => slots[slotOf(digestOf(name))] !== 0n,
    /** @returns false: the set already contained the name */
    add(name: string): boolean {
      const digest = digestOf(name);
      const at = slotOf(digest);
      if (slots[at] === digest) return false;
      slots[at] = digest;
      count += 1;
      if (count * 2 > slots.length) grow();
      return true;
    },
  };
}
export type NameSet = ReturnType<typeof createNameSet>;
