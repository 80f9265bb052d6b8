// Reads a file's content field by field. A value in another form than Keycloak's is removed and reported with its
// place; all others are read. Pure. docs/keycloak.md.
import type { z } from 'zod';
import { isObject } from '../../../../contract/json.ts';

/**
 * Each round removes all faults that it finds. An object that then lacks a required field is removed in the next round.
 */
const MOST_ROUNDS = 30;

/** The index in the file of each element of a list from which others were removed. */
export type Indices = WeakMap<object, number[]>;

export const placeOf = (indices: Indices, list: object, index: number): number => indices.get(list)?.[index] ?? index;

type Key = string | number;

/** `clients[3].redirectUris[1]` */
const pathText = (path: readonly Key[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );

const valueAt = (root: unknown, path: readonly Key[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined), root);

/** The path with the indices that list elements had in the file. */
function inFile(root: unknown, path: readonly Key[], indices: Indices): Key[] {
  let at: unknown = root;
  return path.map((key) => {
    const here = typeof key === 'number' && Array.isArray(at) ? placeOf(indices, at, key) : key;
    at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
    return here;
  });
}

/** The fields or elements to remove, by object or list. */
type Cuts = Map<object, Set<Key>>;

/**
 * Marks the value at the path for removal. If an object on the path lacks the rest, marks the innermost such object.
 * @returns the length of the path to the marked value; 0: the root
 */
function noteCut(root: unknown, path: readonly Key[], cuts: Cuts): number {
  let holder: unknown = root;
  let innermost: { of: object; key: Key } | undefined;
  let length = 0;
  for (const key of path) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) break;
    innermost = { of: holder, key };
    length += 1;
    holder = Reflect.get(holder, key);
  }
  if (innermost) cuts.set(innermost.of, (cuts.get(innermost.of) ?? new Set()).add(innermost.key));
  return length;
}

/**
 * Removes all marked values at once: removing one element after another would shift the indices of the remaining
 * faults.
 */
function cutAll(cuts: Cuts, indices: Indices): void {
  for (const [holder, keys] of cuts)
    if (Array.isArray(holder)) {
      const stay = [...holder.keys()].filter((i) => !keys.has(i));
      const places = stay.map((i) => placeOf(indices, holder, i));
      for (const [to, from] of stay.entries()) holder[to] = holder[from];
      holder.length = stay.length;
      indices.set(holder, places);
    } else for (const key of keys) Reflect.deleteProperty(holder, key);
}

/** @returns undefined: no part of it can be read */
export function readLeniently<S extends z.ZodType>(
  schema: S,
  value: unknown,
  { indices, tell }: { indices: Indices; tell(path: string, why: string): void },
): z.output<S> | undefined {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    const faults = new Map(
      error.issues.map((issue) => {
        const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
        return [JSON.stringify(path), { path, message: issue.message }] as const;
      }),
    );
    const cuts: Cuts = new Map();
    for (const { path, message } of faults.values()) {
      const there = inFile(value, path, indices);
      // A value that is no JSON is undefined here; it was reported when it was parsed.
      const isTold = valueAt(value, path) === undefined;
      const length = noteCut(value, path, cuts);
      const lacks = length < path.length ? `${pathText(path.slice(length))} ` : '';
      if (!isTold || length < path.length) tell(pathText(there.slice(0, length)), `can’t be read: ${lacks}${message}`);
      if (length === 0) return undefined;
    }
    cutAll(cuts, indices);
  }
  return undefined;
}

/**
 * Parses a JSON text of a file to a value that PostgreSQL can store: half a surrogate pair becomes U+FFFD, and a key
 * `__proto__` is left out.
 * @returns undefined: the text is no JSON
 */
export function parseExported(text: string, tell: (why: string) => void): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    tell('is not valid JSON');
    return undefined;
  }
  const isBroken = /\\u[dD][89a-fA-F]/.test(text) && /\\ud[89a-f]/.test(JSON.stringify(value));
  if (!isBroken && !/__proto__|\\u005[fF]/.test(text)) return value;
  let changed = false;
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') {
      changed ||= !one.isWellFormed();
      return one.toWellFormed();
    }
    if (Array.isArray(one)) return one.map(clean);
    if (!isObject(one)) return one;
    return Object.fromEntries(
      Object.entries(one).flatMap(([key, inner]) => {
        changed ||= key === '__proto__' || !key.isWellFormed();
        return key === '__proto__' ? [] : [[key.toWellFormed(), clean(inner)]];
      }),
    );
  };
  const cleaned = clean(value);
  if (changed) tell('holds half a character, or the key __proto__: that is replaced, or left out');
  return cleaned;
}
