// Owns: merging many parts into one document of a realm, and finding contradictions.
// Does not own: the parts (declared.ts).
// Implements: docs/cli.md: all declarations of one run belong to one manager, so none may be repeated.
import { elementsOf } from '../server/contract/section.ts';
import { presentSections } from '../server/contract/sections.ts';
import type { RealmDocument } from '../server/contract/transfer.ts';
import { type Part, shownPath } from './declared.ts';
import type { FileFault, Path } from './files.ts';

export interface Merged {
  realm: string;
  document: RealmDocument;
  /** The place in the files for a path of the document (`flows[0].executions[1]`). */
  placeOf(path: string): Omit<FileFault, 'message'> | undefined;
}

type Lists = Record<string, unknown>;

export function merge(parts: readonly Part[]): { realms: Merged[]; faults: FileFault[] } {
  const byRealm = byName(parts);
  const faults: FileFault[] = [];
  const realms = [...byRealm]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([realm, ofRealm]) => ({ realm, ...mergeRealm(ofRealm, faults) }));
  return { realms, faults };
}

function byName(parts: readonly Part[]): Map<string, Part[]> {
  const found = new Map<string, Part[]>();
  for (const part of parts) found.set(part.realm, [...(found.get(part.realm) ?? []), part]);
  return found;
}

function mergeRealm(parts: readonly Part[], faults: FileFault[]): Omit<Merged, 'realm'> {
  const merged: Lists = {};
  /** The origin of each merged value, by `flows 0`, `clientRoles app 0`, `realm requireMfa`. */
  const origins = new Map<string, { part: Part; path: Path }>();
  const first = new Map<string, { part: Part; path: Path; value: unknown }>();
  /** Reserves a name. False, with a fault: another part has declared the name before. */
  const claim = (part: Part, section: string, name: string, path: Path, value: unknown): boolean => {
    const before = first.get(`${section} ${name}`);
    if (!before) {
      first.set(`${section} ${name}`, { part, path, value });
      return true;
    }
    faults.push(twice({ section, name, path, value, part }, before));
    return false;
  };
  for (const part of parts) for (const [section, value] of Object.entries(part.document)) add(part, section, value);

  function add(part: Part, name: string, value: unknown): void {
    const section = presentSections.get(name);
    if (section?.shape === 'object') {
      const kept = Object.entries(Object(value)).filter(([field, one]) => claim(part, name, field, [name, field], one));
      for (const [field] of kept) origins.set(`${name} ${field}`, { part, path: [name, field] });
      merged[name] = { ...Object(merged[name]), ...Object.fromEntries(kept) };
      return;
    }
    const found = section ? elementsOf(section, value) : []; // one of a later release is empty
    const kept = found.filter(({ key, element, at }) => claim(part, name, key, [name, ...at], element));
    if (section?.shape === 'map') {
      // without a prototype: a client may be called constructor
      const lists: Record<string, unknown[]> = Object.assign(Object.create(null), merged[name]);
      for (const under of Object.keys(Object(value))) lists[under] = [...(lists[under] ?? [])];
      for (const { at, element } of kept) lists[String(at[0])]?.push(element);
      merged[name] = lists;
      return;
    }
    const before = list(merged[name]);
    if (section?.groups) {
      // a repeated declaration is a fault, so no element is left out here
      for (const n of list(value).keys()) origins.set(`${name} ${before.length + n}`, { part, path: [name, n] });
      merged[name] = [...before, ...list(value)];
      return;
    }
    for (const [n, { at }] of kept.entries())
      origins.set(`${name} ${before.length + n}`, { part, path: [name, ...at] });
    merged[name] = [...before, ...kept.map(({ element }) => element)];
  }
  return {
    document: merged satisfies Lists as RealmDocument, // its pieces were parsed, and each went to where it came from
    placeOf(text) {
      const [section = '', name = '', ...rest] = (text.match(/[^.[\]]+/g) ?? []).map((step) =>
        /^\d+$/.test(step) ? Number(step) : step,
      );
      const origin = origins.get(`${section} ${name}`);
      if (!origin) return undefined;
      const { item, object, pathOf } = origin.part;
      const at = pathOf([...origin.path, ...rest]);
      return { file: item.file, line: item.lineOf(at), document: item.document, object, path: shownPath(at) };
    },
  };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

interface Claim {
  section: string;
  name: string;
  path: Path;
  value: unknown;
  part: Part;
}
function twice({ section, name, path, value, part }: Claim, before: Omit<Claim, 'section' | 'name'>): FileFault {
  const at = part.pathOf(path);
  const { item, object } = part;
  const other = before.part.item.lineOf(before.part.pathOf(before.path));
  const same = JSON.stringify(value) === JSON.stringify(before.value);
  const where = `${before.part.item.file}${other === undefined ? '' : `:${other}`}`;
  return {
    file: item.file,
    line: item.lineOf(at),
    document: item.document,
    object,
    path: shownPath(at),
    message: `the ${presentSections.get(section)?.label ?? section} ${name} is declared ${same ? 'twice' : 'otherwise before'}, at ${where}`,
  };
}
