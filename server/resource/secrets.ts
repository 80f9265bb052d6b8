// Secrets at rest beside declared ones: compared in constant time, never shown. Placeholders are features/transfer's.
// Decisions "Import, export, plan" (Secrets in a document).
import { type Existing, type Fields, type Item, isStoredSecret, type PlannedChange, type RealmPart } from './part.ts';

const MASK = '***';
/** An object, so that no declared text equals it. */
const MASK_OF_OTHER = Object.freeze({ secret: MASK });

/**
 * The stored secrets of these objects, as the planner can compare them: replaced by the declared text where it is the same (in
 * constant time), else by a mark that equals nothing. Secrets that nobody declares are left out.
 */
export async function compareSecrets(
  part: RealmPart,
  items: readonly Item[],
  current: ReadonlyMap<string, Existing>,
): Promise<ReadonlyMap<string, Existing>> {
  if (!part.secrets?.length) return current;
  const asked = new Map(items.map((item) => [item.key, item.fields]));
  const out = new Map<string, Existing>();
  for (const [key, existing] of current)
    out.set(key, { ...existing, fields: await comparedSecrets(part, asked.get(key), existing.fields) });
  return out;
}

/** The same for one object. */
export async function comparedSecrets(part: RealmPart, wanted: Fields | undefined, stored: Fields): Promise<Fields> {
  const fields: Record<string, unknown> = { ...stored };
  for (const field of part.secrets ?? []) fields[field] = await compared(wanted?.[field], fields[field]);
  return fields;
}

async function compared(wanted: unknown, stored: unknown): Promise<unknown> {
  if (!isStoredSecret(stored)) return null;
  if (typeof wanted === 'string' && (await stored.matches(wanted))) return wanted;
  return MASK_OF_OTHER;
}

/** A change as anybody may see it. */
export const masked = (change: PlannedChange, secrets: readonly string[]): PlannedChange['fields'] =>
  change.fields.map((field) =>
    secrets.includes(field.path)
      ? { path: field.path, from: field.from === null ? null : MASK, to: field.to === null ? null : MASK }
      : field,
  );
