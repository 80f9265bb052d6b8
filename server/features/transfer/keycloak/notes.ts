// What of an export could not be carried over, item by item, as it is met. docs/keycloak.md.
import type { NotCarried } from '../../../contract/keycloak.ts';

/** More are counted, not told. */
const MOST = 1000;

export interface Notes {
  /** @param at kind and key of what it is in the export, and its field there */
  add(at: { kind: string; key: string; field?: string | undefined }, why: string): void;
  all(): { notCarried: NotCarried[]; notCarriedCount: number };
}

export function createNotes(): Notes {
  const notes: NotCarried[] = [];
  let count = 0;
  return {
    add({ kind, key, field }, why) {
      count += 1;
      if (notes.length < MOST) notes.push({ kind, key, field: field ?? null, why });
    },
    all: () => ({ notCarried: notes, notCarriedCount: count }),
  };
}
