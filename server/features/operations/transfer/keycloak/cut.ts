// Removes from translated sections the values that this server would refuse: first each object by its part's rules, then
// by a plan of the whole document. Each removal is reported with its place in the file. docs/keycloak.md.
import type { FieldError } from '../../../../contract/problem.ts';
import { presentSections } from '../../../../contract/sections.ts';
import type { RealmPart } from '../../../../resource/part.ts';
import { type Cut, cutAt, declarableObject, withoutPath } from './fit.ts';
import type { Notes } from './notes.ts';
import { createPace } from './pace.ts';
import { theirField } from './places.ts';

/** Sections that decide permissions: an object of theirs is carried over whole or not at all. */
const DECIDING: ReadonlySet<string> = new Set(['authorizationServices']);
const HALF = 'half of it could permit what the whole denies: declare it by hand';

/** Whether the value refers to Keycloak's vault or environment. This server's own placeholders differ. */
const isElsewhere = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\$\{[^}]*\}$|\$\{(vault|env)\./i.test(value) &&
  !/^\$\{SVC_VAR_[A-Z0-9_]+\}$/.test(value);

function withoutReferences({ secrets = [] }: RealmPart, given: unknown, tell: (cut: Cut) => void): unknown {
  const found = secrets.filter((field) => isElsewhere(Object(given)[field]));
  if (found.length === 0) return given;
  const why = 'refers to a secret that is not in the file: set it';
  for (const field of found) tell({ path: field, named: field, why });
  return Object.fromEntries(Object.entries(Object(given)).filter(([field]) => !found.includes(field)));
}

const teller =
  (notes: Notes, part: RealmPart, given: unknown, nth = 0) =>
  ({ path, named, why }: Cut): void => {
    const { kind } = part;
    const key = nameOf(part, given);
    if (path === '') {
      notes.add({ kind, key, nth }, why);
      return;
    }
    const isMap = presentSections.get(part.section)?.shape === 'map';
    const below = isMap ? named.slice(key.length).replace(/^\./, '') : named;
    notes.add({ kind, key, nth, field: theirField(kind, path), below: theirField(kind, below) }, why);
  };

/** Cuts in the parts' order, so that later sections don't name objects that an earlier one has lost. */
export async function cutSections(
  translated: ReadonlyMap<string, unknown>,
  { target: realm, parts, notes }: { target: string; parts: readonly RealmPart[]; notes: Notes },
): Promise<Map<string, unknown>> {
  const sections = new Map<string, unknown>();
  const gone = new Map<string, Set<string>>();
  const breathe = createPace();
  for (const part of parts) {
    const whole = translated.get(part.section);
    if (whole === undefined) continue;
    const { kind } = part;
    const seen = new Set<string>();
    const times = new Map<string, number>();
    const most = presentSections.get(part.section)?.most ?? Number.POSITIVE_INFINITY;
    const one = async (given: unknown) => {
      await breathe();
      const name = nameOf(part, given);
      const nth = times.get(name) ?? 0;
      times.set(name, nth + 1);
      const tell = teller(notes, part, given, nth);
      const { value, items, cuts } = declarableObject(withoutReferences(part, given, tell), {
        part,
        realm,
        gone,
        seen,
      });
      for (const cut of cuts) tell(cut);
      const isFull = value !== undefined && seen.size + items.length > most;
      if (isFull) notes.add({ kind, key: name, nth }, `there are more than ${most}`);
      const isHalf = value !== undefined && cuts.length > 0 && DECIDING.has(part.section);
      if (isHalf) notes.add({ kind, key: name, nth }, HALF);
      const isTwice = value === undefined && items.length === 0 && cuts.some(({ path }) => path === '');
      if (value !== undefined && !isFull && !isHalf) {
        for (const { key } of items) seen.add(key);
        return value;
      }
      // Of two objects with the same key, the first is kept, so references to it are valid
      if (!(isTwice && nth > 0)) gone.set(kind, (gone.get(kind) ?? new Set()).add(name));
      return undefined;
    };
    if (part.list && Array.isArray(whole)) {
      const list: unknown[] = [];
      for (const given of whole) {
        const value = await one(given);
        if (value !== undefined) list.push(value);
      }
      if (list.length > 0) sections.set(part.section, list);
    } else if (presentSections.get(part.section)?.shape === 'map') {
      const map = {};
      for (const [name, list] of Object.entries(Object(whole))) Object.assign(map, await one({ [name]: list }));
      if (Object.keys(map).length > 0) sections.set(part.section, map);
    } else {
      const value = await one(whole);
      if (value !== undefined && Object.keys(Object(value)).length > 0) sections.set(part.section, value);
    }
  }
  return sections;
}

/** The name of an object in the report: its key, else the client that it belongs to, else the section. */
function nameOf({ section }: RealmPart, given: unknown): string {
  const { key, shape } = presentSections.get(section) ?? {};
  const of = Object(given);
  if (shape === 'map') return Object.keys(of)[0] ?? '';
  const fields = typeof key === 'string' ? [key] : (key ?? []);
  const named = fields.map((field) => of[field]).filter((name) => name !== undefined);
  return String(named.length > 0 ? named.join('/') : (of.clientId ?? section));
}

/**
 * Removes the values that a plan of these sections refused, found by the paths of the faults.
 * @returns whether anything was removed
 */
export function cutRefused(
  sections: Map<string, unknown>,
  faults: readonly FieldError[],
  { parts, notes }: { parts: readonly RealmPart[]; notes: Notes },
): boolean {
  // the value of each fault, found before a removal changes the places
  const found = faults.flatMap((fault) => {
    const [, section = '', digits, rest = ''] = /^(\w+)(?:\[(\d+)\])?\.?(.*)$/s.exec(fault.path) ?? [];
    const part = parts.find((one) => one.section === section);
    const whole = sections.get(section);
    const value: unknown = digits !== undefined && Array.isArray(whole) ? whole[Number(digits)] : whole;
    return part && value !== undefined ? [{ fault, part, value, rest, index: digits }] : [];
  });
  const dropped = new Set<unknown>();
  let isCut = false;
  for (const { fault, part, value, rest, index } of found.toReversed()) {
    if (dropped.has(value)) continue;
    isCut = true;
    const tell = teller(notes, part, value);
    const shape = presentSections.get(part.section)?.shape;
    const { path, named } = cutAt(value, rest);
    const told: Cut = {
      path,
      named: fault.missing ? `${named}.${fault.missing.key}` : named,
      why: fault.message,
    };
    if (shape === 'map') tellOfMap(notes, part, value, told);
    else tell(told);
    const isDeciding = DECIDING.has(part.section);
    if (isDeciding && rest !== '') tell({ path: '', named: '', why: HALF });
    const left = isDeciding || rest === '' ? undefined : withoutPath(value, rest, fault.missing?.key);
    if (left !== undefined) continue;
    dropped.add(value);
    if (index === undefined) sections.delete(part.section);
  }
  for (const [section, whole] of sections)
    if (Array.isArray(whole) && whole.some((one) => dropped.has(one))) {
      const list = whole.filter((one) => !dropped.has(one));
      if (list.length > 0) sections.set(section, list);
      else sections.delete(section);
    }
  return isCut;
}

function tellOfMap(notes: Notes, part: RealmPart, value: unknown, told: Cut): void {
  const { path: rest } = told;
  const key = Object.keys(Object(value))
    .filter((name) => rest === name || rest.startsWith(`${name}[`) || rest.startsWith(`${name}.`))
    .sort((a, b) => b.length - a.length)[0];
  const of = key === undefined ? value : { [key]: Object(value)[key] };
  teller(notes, part, of)(told);
}
