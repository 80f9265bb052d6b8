// The effects of a change of configuration, before it is made: the server's own plan of a document with that one object.
import type { z } from 'zod';
import { problemType } from '../../server/contract/problem.ts';
import { call, type OutputOf, ServerProblem } from '../api/client.ts';
import { importRealm } from '../generated/routes.ts';
import type { KindEntry, LoadedKind, Row } from './entry.ts';

export type Plan = OutputOf<typeof importRealm>;

/** A dry run asks as this manager, which never applies anything. */
const MANAGER = 'console';

const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, unknown>> =>
  Object(schema ? (schema.def as { shape?: unknown }).shape : undefined);

/**
 * A document that declares the object with these fields alone. undefined: a document can't say it.
 * @param of the clientId of the client that it belongs to
 */
export function documentOf(entry: KindEntry, kind: LoadedKind, fields: Row, of?: string): Row | undefined {
  const shape = shapeOf(kind.entry?.element);
  const keys = [entry.key].flat();
  if (Object.keys(shape).length === 0 || keys.some((key) => fields[key] === undefined)) return undefined;
  if (kind.namedBy?.some((field) => field in fields)) return undefined;
  const element = Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => name in shape && value !== undefined && !(value === null && isSecret(kind, name)),
    ),
  );
  if (!entry.ofClient) return { [entry.section]: [element] };
  if (of === undefined) return undefined;
  return {
    [entry.section]:
      typeof entry.inDocument === 'object'
        ? [{ [entry.inDocument.by]: of, [entry.inDocument.list]: [element] }]
        : { [of]: [element] },
  };
}
/** The fields that a manifest of the object would declare: those that differ from a new one. */
export function declaredFields(entry: KindEntry, kind: LoadedKind, row: Row): Row {
  const keys = [entry.key].flat();
  return Object.fromEntries(
    Object.entries(row).filter(
      ([name, value]) =>
        keys.includes(name) ||
        (!kind.namedBy?.includes(name) &&
          value !== null &&
          JSON.stringify(value) !== JSON.stringify(kind.fresh?.[name])),
    ),
  );
}

/** A document has a secret, or leaves it out. */
const isSecret = (kind: LoadedKind, name: string): boolean => secretsOf(kind).includes(name);
export const secretsOf = (kind: LoadedKind): readonly string[] => {
  const { secrets } = Object(kind.entry);
  const listed: readonly string[] = Array.isArray(secrets) ? secrets : [];
  return 'secret' in shapeOf(kind.input) && !listed.includes('secret') ? [...listed, 'secret'] : listed;
};

/**
 * The plan of a change by hand. An administrator may change an object by hand although a manager owns it, so the dry run has
 * `force`: without it the server plans nothing for the object of another manager.
 * @throws ServerProblem with the faults of a document that is refused
 */
export async function planOf(realm: string, document: Row): Promise<Plan | undefined> {
  const { body } = await call(importRealm, {
    params: { realm },
    query: { dryRun: 'true', force: 'true', manager: MANAGER },
    body: document,
  });
  // a document may make a realm; a form edits in one that was there
  if (body?.changes.some(({ kind, action }) => kind === 'realm' && action === 'create')) {
    const detail = `There is no realm ${realm}`;
    const problem = { type: problemType('not-found'), title: 'Not found', status: 404, detail };
    throw new ServerProblem(404, detail, problem);
  }
  return body;
}

/** The changed fields that other managers declare, by manager: each manager sets its fields back. */
export function fieldsSetBack({ changes, ownership }: Plan): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { kind, key, from, declares = [] } of ownership) {
    if (from === undefined) continue;
    // the settings are one object in the changes, and are owned by field
    const changed = changes
      .filter((change) => change.kind === kind)
      .flatMap((change) => change.fields.filter(({ path }) => change.key === key || path === key))
      .filter(({ path }) => declares.includes(path));
    if (changed.length > 0) found.set(from, [...(found.get(from) ?? []), ...changed.map(({ path }) => path)]);
  }
  return found;
}

/** The field at which a fault of the object's name is shown. */
export const keyOf = (entry: KindEntry): string => [entry.key].flat()[0] ?? '';
/** The object as faults of a document name it: `EMAIL/smtp`. */
export const nameIn = (entry: KindEntry, fields: Row): string =>
  [entry.key]
    .flat()
    .map((key) => String(fields[key] ?? ''))
    .join('/');

/** The faults that a plan finds in the object or the settings of its document, by path in these. */
export function planFaults(problem: ServerProblem | null, document: Row, name?: string): Map<string, string> {
  const found = faultsOf(problem, Object.keys(document)[0]);
  const before = `${name}: `;
  const without = (message: string) =>
    name !== undefined && message.startsWith(before) ? message.slice(before.length) : message;
  return new Map([...found].map(([path, message]) => [path, without(message)]));
}

/** The faults of fields, by path in the object: `clients[0].redirectUris[1]` and `redirectUris[1]` are the same. */
export function faultsOf(problem: ServerProblem | null, section?: string): Map<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of problem?.problem?.errors ?? []) {
    const inside =
      section === undefined
        ? path
        : path.replace(new RegExp(`^(body\\.)?${section}(\\[\\d+\\]|\\.[^.[]+)*?\\.?(?=[a-z]|$)`), '');
    const at = inside === '' ? path : inside;
    if (!faults.has(at)) faults.set(at, message);
  }
  return faults;
}
