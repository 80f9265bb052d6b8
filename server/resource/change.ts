// Computes the change of one object by a request, or by the server itself. Pure. features/operations/transfer plans
// documents and the ownership of their objects.
import { isSameJson } from './compare.ts';
import type { Existing, Fields, PlannedChange, RealmPart } from './part.ts';

/** The fields that differ, by name. */
export const differences = (before: Fields, wanted: Fields): PlannedChange['fields'] =>
  Object.keys(wanted)
    .sort()
    .filter((field) => !isSameJson(before[field] ?? null, wanted[field] ?? null))
    .map((path) => ({ path, from: before[path] ?? null, to: wanted[path] ?? null }));

/** Every field of a new object. */
export const createdFields = (wanted: Fields): PlannedChange['fields'] =>
  Object.keys(wanted)
    .sort()
    .map((path) => ({ path, from: null, to: wanted[path] }));

/** The change, or undefined if the object has these fields already. `there`: the stored object, with its secrets compared. */
export function changeOf(
  { kind, fresh }: Pick<RealmPart, 'kind' | 'fresh'>,
  realm: string,
  { key, there, wanted }: { key: string; there: Existing | undefined; wanted: Fields },
): PlannedChange | undefined {
  if (!there)
    return {
      action: 'create',
      kind,
      key,
      path: '',
      fields: createdFields(wanted),
      save: { ...fresh(realm, key), ...wanted },
    };
  const fields = differences(there.fields, wanted);
  if (fields.length === 0) return undefined;
  return {
    action: 'update',
    kind,
    key,
    ...(there.id !== undefined && { id: there.id }),
    path: '',
    fields,
    before: there.fields,
    save: { ...there.fields, ...wanted },
  };
}

/** The change that deletes an object. */
export const deletionOf = (
  { kind }: Pick<RealmPart, 'kind'>,
  { id, key, fields: before }: { id?: string; key: string; fields: Fields },
): PlannedChange => ({
  action: 'delete',
  kind,
  key,
  ...(id !== undefined && { id }),
  path: '',
  fields: [],
  before,
  save: {},
});
