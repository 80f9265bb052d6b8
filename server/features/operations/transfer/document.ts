// Reads a realm document while it arrives: each part parses its pieces, faults are collected with their places, users are
// passed on one by one. It doesn't compare with the realm. Specification 2.10; decisions "Import, export, plan".
import { createEarlierDocument } from '../../../contract/earlier-documents.ts';
import { unknownField } from '../../../contract/field-words.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { Problem } from '../../../contract/problem.ts';
import { presentSections, sections } from '../../../contract/sections.ts';
import { FORMAT_VERSION, furtherSections } from '../../../contract/transfer.ts';
import type { RealmPart, Section } from '../../../resource/part.ts';
import type { UserSink } from '../../people/users/user-sink.ts';
import { createSplitter, parseJson, type Slice } from './document-stream.ts';

const MIB = 1024 * 1024;
export const limits = { bytes: 32 * MIB, elementBytes: MIB, unbounded: new Set(['users']) };
const MOST_FAULTS = 100;
const everyKey = [...Object.keys(sections).filter((key) => key !== 'users'), 'formatVersion', 'requiredEnv'];
/** The longest time for which parsing may block the event loop. */
const SLICE_MS = 10;

export interface Document {
  declared: Section[];
  users: boolean;
  /** The document is a whole export, apart from users: objects that it lacks didn't exist. */
  whole: boolean;
}

/** Throws the faults, at most a hundred of them; the message has the number of the others. */
export function refuse(faults: readonly FieldError[], detail?: string): void {
  if (faults.length === 0) return;
  const [first] = faults;
  throw new Problem(
    'invalid-request',
    detail ?? `${first?.path}: ${first?.message}${faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''}`,
    { errors: faults.slice(0, MOST_FAULTS) },
  );
}

/**
 * Reads the document; sections come in the parts' order, absent ones are absent.
 * @throws Problem `invalid-request` with every fault, `too-large`
 */
export async function readDocument(
  body: AsyncIterable<Buffer>,
  { parts, users }: { parts: readonly RealmPart[]; users: UserSink },
): Promise<Document> {
  const bySection = new Map(parts.map((part): [string, RealmPart] => [part.section, part]));
  const found = new Map<string, Section>();
  const keys = new Set<string>();
  const faults: FieldError[] = [];
  // A loop instead of `push(...found)`: one value can have any number of faults.
  const note = (found: readonly FieldError[]) => {
    for (const fault of found) faults.push(fault);
  };
  const today = createEarlierDocument();
  let hasUsers = false;
  let queue: Slice[] = [];

  function config({ key, index, text }: Slice): FieldError[] {
    const part = bySection.get(key);
    const path = index === undefined ? key : `${key}[${index}]`;
    const value = text === undefined ? undefined : parseJson(text, path);
    if (!part) return other(key, { value, index, empty: text === undefined });
    if (!found.has(key)) found.set(key, { part, items: [] });
    const list = index !== undefined || text === undefined;
    if (part.list !== list) return [{ path: key, message: part.list ? 'must be a list' : 'must be an object' }];
    if (text === undefined) return [];
    const { element, claims } = today(key, value);
    return [
      ...claims.flatMap(({ claim, path: within }) => declare('claims', claim, `${path}.${within}`)),
      ...declare(key, element, path),
    ];
  }

  function declare(key: string, value: unknown, path: string): readonly FieldError[] {
    const part = bySection.get(key);
    if (!part) throw new Error(`no part reads ${key}`);
    const section = found.get(key) ?? { part, items: [] };
    found.set(key, section);
    const parsed = part.parse(value, path);
    if (parsed.errors) return parsed.errors;
    for (const item of parsed.items) section.items.push(item);
    const most = presentSections.get(key)?.most ?? Number.POSITIVE_INFINITY;
    // The rest isn't read, because its plan would take the memory that all requests share.
    if (section.items.length > most)
      refuse([{ path: key, message: `has more than ${most} objects: send it in parts` }]);
    return [];
  }

  function take(slice: Slice): void {
    keys.add(slice.key);
    if (slice.key !== 'users') {
      note(config(slice));
      return;
    }
    const { index, text } = slice;
    if (text === undefined) return;
    if (index === undefined) faults.push({ path: 'users', message: 'must be a list' });
    else {
      const path = `users[${index}]`;
      note(users.add(parseJson(text, path), path, index));
    }
  }

  const splitter = createSplitter({ limits, slice: (slice) => void queue.push(slice) });
  let until = performance.now() + SLICE_MS;
  const work = async () => {
    const slices = queue;
    queue = [];
    for (const slice of slices) {
      if (faults.length >= MOST_FAULTS) refuse(faults);
      if (slice.key === 'users' && !hasUsers) {
        hasUsers = true;
        await users.begin([...found.values()]);
      }
      take(slice);
      if (performance.now() < until) continue;
      await new Promise((resolve) => setImmediate(resolve));
      until = performance.now() + SLICE_MS;
    }
    if (hasUsers) await users.flush();
  };
  for await (const chunk of body) {
    splitter.write(chunk);
    if (queue.length > 0) await work();
  }
  splitter.end();
  refuse(faults);
  const declared = parts.flatMap((part) => found.get(part.section) ?? []);
  // Where a new realm has none of them, an export leaves an empty further section out.
  const isThere = (key: string) => keys.has(key) || (furtherSections.has(key) && !bySection.get(key)?.seeded);
  refuse(doubles(declared));
  return { declared, users: hasUsers, whole: everyKey.every(isThere) && declared.every(wholly) };
}

/**
 * Whether the section has every field of its objects. An export without defaults omits fields, and whole seeded
 * objects, though it may have every top-level key.
 */
const wholly = ({ part, items }: Section): boolean =>
  !part.seeded || items.every(({ key, fields }) => Object.keys(part.fresh('', key)).every((field) => field in fields));

/** Keys that no part reads: the document's description, and keys of later versions. */
function other(
  key: string,
  { value, index, empty }: { value: unknown; index: number | undefined; empty: boolean },
): FieldError[] {
  if (key === 'formatVersion')
    return value === FORMAT_VERSION ? [] : [{ path: key, message: `must be ${FORMAT_VERSION}` }];
  if (key === 'requiredEnv') {
    if (empty || (index !== undefined && typeof value === 'string')) return [];
    return [{ path: key, message: 'must be a list of names' }];
  }
  if (!Object.hasOwn(sections, key)) return [{ path: key, message: unknownField(key, Object.keys(sections)) }];
  // A section of a later version: accepted if empty, otherwise refused, so that no data is lost silently.
  if (empty) return [];
  const path = index === undefined ? key : `${key}[${index}]`;
  return [
    { path, message: index === undefined ? 'must be a list' : 'is not supported by this version of the server yet' },
  ];
}

/** The faults of objects declared twice in one document: neither declaration has priority. */
export function doubles(declared: readonly Section[]): FieldError[] {
  return declared.flatMap(({ items }) => {
    const first = new Map<string, string>();
    return items.flatMap(({ key, path }) => {
      const other = first.get(key);
      if (other !== undefined) return [{ path, message: `declares ${key} again: ${other} does already` }];
      first.set(key, path);
      return [];
    });
  });
}
