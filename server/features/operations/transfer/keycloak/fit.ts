// Fits a translated object to this server's rules: each part checks it like an object of a document. Refused values are
// removed and reported, so that one invalid address doesn't prevent a realm's migration. docs/keycloak.md.
import { isObject } from '../../../../contract/json.ts';
import type { FieldError } from '../../../../contract/problem.ts';
import type { Item, RealmPart } from '../../../../resource/part.ts';
import { faultsOf } from '../../../../resource/write.ts';

/** The most refused fields of one object. */
const MOST_CUTS = 1000;

export interface Cut {
  /** The path below the object; empty: the whole object. */
  path: string;
  /** The same path, but with list elements by name or value, because their indices may differ in the file. */
  named: string;
  why: string;
}

export interface Fitting {
  part: RealmPart;
  realm: string;
  /** The names of omitted objects by kind; other objects can't refer to them. */
  gone: ReadonlyMap<string, ReadonlySet<string>>;
  /** The keys of earlier objects in the section. */
  seen: ReadonlySet<string>;
}

/** The object as it can be declared; undefined: it can't be declared at all. */
export function declarableObject(
  given: unknown,
  { part, realm, gone, seen }: Fitting,
): { value: unknown; items: Item[]; cuts: Cut[] } {
  let value: unknown = structuredClone(given);
  const cuts: Cut[] = [];
  while (value !== undefined && cuts.length < MOST_CUTS) {
    const parsed = part.parse(value, '');
    const items = parsed.items ?? [];
    const twice = new Set(doubles(items, seen).map(({ path }) => path));
    const faults = parsed.errors ?? [
      ...doubles(items, seen),
      ...items.flatMap((item) => faultsOfItem(part, realm, item)),
    ];
    if (faults.length === 0) {
      const dangling = items.flatMap((item) => danglingIn(part, item, gone));
      if (dangling.length === 0) return { value, items, cuts };
      for (const one of dangling) {
        cuts.push({
          path: one.path,
          named: `${namedPath(value, one.path)}.${one.key}`,
          why: `names ${one.kind} ${one.key}, which isn’t carried over`,
        });
        value = withoutPath(value, one.path, one.key);
      }
      continue;
    }
    // From the end, so that list indices stay valid.
    for (const { path, message } of [...new Map(faults.map((fault) => [fault.path, fault])).values()].reverse()) {
      cuts.push({ ...(twice.has(path) ? { path, named: path } : cutAt(value, path)), why: message });
      value = withoutPath(value, path);
    }
  }
  return { value: undefined, items: [], cuts };
}

export const cutAt = (value: unknown, path: string): Pick<Cut, 'path' | 'named'> => ({
  path,
  named: namedPath(value, path),
});

function namedPath(value: unknown, path: string): string {
  let here: unknown = value;
  return stepsOf(value, path).reduce((named, step) => {
    const next: unknown = typeof here === 'object' && here !== null ? Reflect.get(here, step) : undefined;
    const { name, alias } = Object(next);
    const isElement = Array.isArray(here);
    const word = isElement ? [next, name, alias].find((one) => typeof one === 'string') : step;
    here = next;
    return word === undefined ? `${named}[${step}]` : named === '' ? String(word) : `${named}.${word}`;
  }, '');
}

/** The faults of repeated keys: the first object with a key counts. */
function doubles(items: readonly Item[], seen: ReadonlySet<string>): FieldError[] {
  const keys = new Set(seen);
  return items.flatMap(({ key, path }) => {
    const isThere = keys.has(key);
    keys.add(key);
    return isThere ? [{ path, message: `${key} is there twice: the first counts` }] : [];
  });
}

function faultsOfItem(part: RealmPart, realm: string, { key, fields, path }: Item): FieldError[] {
  const lacking = (part.required ?? []).filter((field) => fields[field] === undefined);
  if (lacking.length > 0) return lacking.map(() => ({ path, message: `needs ${lacking.join(', ')}` }));
  const all = { ...part.fresh(realm, key), ...fields };
  return faultsOf(part, realm, [{ key, fields: all, path, changed: Object.keys(all) }]).map((fault) => ({
    path: fault.path,
    message: fault.message.startsWith(`${key}: `) ? fault.message.slice(key.length + 2) : fault.message,
  }));
}

function danglingIn(part: RealmPart, item: Item, gone: Fitting['gone']) {
  return (part.references?.(item) ?? [])
    .filter(({ kind, key }) => gone.get(kind)?.has(key))
    .map(({ kind, key, path }) => ({
      kind,
      key,
      path: item.path && path ? `${item.path}.${path}` : item.path || path,
    }));
}

/** `config.urls[2]` → `config`, `urls`, `2`; names can contain dots. */
function stepsOf(value: unknown, path: string): string[] {
  const steps: string[] = [];
  let at: unknown = value;
  for (let rest = path; rest !== ''; ) {
    const names = isObject(at) ? Object.keys(at) : [];
    const begins = names.filter((name) => rest === name || rest.startsWith(`${name}.`) || rest.startsWith(`${name}[`));
    const step = begins.sort((a, b) => b.length - a.length)[0] ?? /^\[?([^.[\]]*)/.exec(rest)?.[1] ?? '';
    steps.push(step);
    at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
    rest = rest.slice(rest.startsWith('[') ? step.length + 2 : step.length).replace(/^\./, '');
    if (step === '') break;
  }
  return steps;
}

/**
 * The value without its part at the path, or without one name of the list there. If the path ends early, the last part
 * that exists is removed.
 */
export function withoutPath(value: unknown, path: string, name?: string): unknown {
  const steps = stepsOf(value, path);
  while (steps.length > 0) {
    const last = steps.pop() ?? '';
    let holder: unknown = value;
    for (const step of steps)
      holder = holder === null || holder === undefined ? undefined : Reflect.get(Object(holder), step);
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) continue;
    const at: unknown = Reflect.get(holder, last);
    if (name !== undefined && Array.isArray(at)) {
      if (!at.includes(name)) continue;
      Reflect.set(
        holder,
        last,
        at.filter((one) => one !== name),
      );
    } else if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else Reflect.deleteProperty(holder, last);
    return value;
  }
  return undefined;
}
