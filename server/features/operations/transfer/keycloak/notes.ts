// Notes on the items of an export that can't be carried over, each with its place in the file. docs/keycloak.md.
import type { NotCarried } from '../../../../contract/keycloak.ts';
import type { Indices } from './lenient.ts';
import { type Places, placeBelow } from './places.ts';

/** The most listed notes; further ones are only counted. */
const MOST = 1000;

export interface At {
  kind: string;
  key: string;
  field?: string | undefined;
  /** The field by which the place is searched, if list elements have other indices in the file. */
  below?: string;
  /** The index among the objects with the same name in the file; absent: the first. */
  nth?: number;
  /** The place; absent: the place of the first object with this name in the realm's file. */
  path?: string;
  file?: number;
}
export interface Notes {
  /** @param at the item's kind and key in the export, and the field */
  add(at: At, why: string): void;
  /** Sets the file in which the places of the following notes are searched. */
  find(file: number, places: Places, indices: Indices): void;
  /** The body is a list of files, so each note names its file. */
  listed(): void;
  all(): { notCarried: NotCarried[]; notCarriedCount: number };
}

export function createNotes(): Notes {
  const notes: NotCarried[] = [];
  let count = 0;
  let isListed = false;
  let source: { file: number; places: Places; indices: Indices } | undefined;

  function placeIn({ kind, key, field, below: named = field, nth }: At): { path: string | null; file: number | null } {
    const base = source?.places(kind, key, nth);
    if (!source || !base) return { path: null, file: null };
    const below = named === undefined ? '' : placeBelow(base.value, named, source.indices);
    const [dot, { file }] = [base.path === '' || below === '' || below.startsWith('[') ? '' : '.', source];
    return { path: `${base.path}${dot}${below}` || null, file };
  }
  return {
    add(at, why) {
      count += 1;
      if (notes.length >= MOST) return;
      const { kind, key, field, path, file } = at;
      const place = path === undefined ? placeIn(at) : { path, file: file ?? source?.file ?? null };
      notes.push({ kind, key: key.slice(0, 1000), field: field ?? null, ...place, why });
    },
    find(file, places, indices) {
      source = { file, places, indices };
    },
    listed() {
      isListed = true;
    },
    all: () => ({
      notCarried: isListed ? notes : notes.map((note) => ({ ...note, file: null })),
      notCarriedCount: count,
    }),
  };
}
