// Reads what a file holds field by field: a value of another form than Keycloak writes is cut out and told by its place in the file, and
// everything around it is read. Pure. docs/keycloak.md.
import type { z } from 'zod';
import { isObject } from '../../../contract/json.ts';

/** Each round cuts all that the one before found; only what then lacks a needed field needs another. */
const MOST_ROUNDS = 30;

/** Which place in the file an element of a list had before others were cut out of it. */
export type Indices = WeakMap<object, number[]>;

export const placeOf = (indices: Indices, list: object, index: number): number => indices.get(list)?.[index] ?? index;

type Key = string | number;

/** `clients[3].redirectUris[1]` */
const pathText = (path: readonly Key[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );

/** The path with the places that list elements had in the file. */
function inFile(root: unknown, path: readonly Key[], indices: Indices): Key[] {
  let at: unknown = root;
  return path.map((key) => {
    const here = typeof key === 'number' && Array.isArray(at) ? placeOf(indices, at, key) : key;
    at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
    return here;
  });
}

/** Cuts the value at the path, or the object that lacks it. @returns how much of the path it was; 0: the root */
function cut(root: unknown, path: readonly Key[], indices: Indices): number {
  for (let length = path.length; length > 0; length -= 1) {
    const key = path[length - 1] ?? '';
    let holder: unknown = root;
    for (const step of path.slice(0, length - 1))
      holder = typeof holder === 'object' && holder !== null ? Reflect.get(holder, step) : undefined;
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) continue;
    if (Array.isArray(holder)) {
      const places = indices.get(holder) ?? holder.map((_, i) => i);
      places.splice(Number(key), 1);
      holder.splice(Number(key), 1);
      indices.set(holder, places);
    } else Reflect.deleteProperty(holder, key);
    return length;
  }
  return 0;
}

/** Later elements of a list before earlier ones, so that places stay what they are. */
function fromBehind(a: readonly Key[], b: readonly Key[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [x, y] = [a[i], b[i]];
    if (x === y) continue;
    return typeof x === 'number' && typeof y === 'number' ? y - x : String(x) < String(y) ? 1 : -1;
  }
  return b.length - a.length;
}

/** @returns undefined: nothing of it can be read */
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
    for (const { path, message } of [...faults.values()].sort((a, b) => fromBehind(a.path, b.path))) {
      const there = inFile(value, path, indices);
      const length = cut(value, path, indices);
      const lacks = length < path.length ? `${pathText(path.slice(length))} ` : '';
      tell(pathText(there.slice(0, length)), `can’t be read: ${lacks}${message}`);
      if (length === 0) return undefined;
    }
  }
  return undefined;
}

/**
 * A JSON text of a file as a value that can be stored: half a surrogate pair becomes U+FFFD, and a key `__proto__` is left out.
 * @returns undefined for `value`: it is no JSON
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
