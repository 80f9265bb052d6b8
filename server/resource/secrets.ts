// Compares declared secrets with stored ones in constant time, and never shows a stored one. features/operations/transfer owns
// placeholders.
// Decisions "Import, export, plan" (Secrets in a document).
import type { FieldError } from '../contract/problem.ts';
import type { Sql } from '../db/sql.ts';
import { isSameJson } from './compare.ts';
import {
  type Existing,
  type Fields,
  type Item,
  isStoredSecret,
  type PlannedChange,
  type RealmPart,
  type Saved,
} from './part.ts';

/** Counts the wrong guesses of secrets in one request, once even if it is planned again (features/operations/transfer/guesses.ts). */
export interface GuessCount {
  /** @throws Problem `too-many-requests` before any of these is compared */
  begin(sql: Sql, secrets: readonly string[]): Promise<void>;
  wrong(secret: string, value: string): void;
}

/**
 * Stands in place of a declared secret: the stored one stays and isn't compared; without a stored one, the value is missing. It is an
 * object, so that no code stores it as a text.
 */
export class KeepsSecret {
  readonly because: 'variableNotSet' | 'notCompared';
  /** The placeholder's name. */
  readonly variable: string | undefined;
  /** For plans only: the document's application will pass the secret. */
  readonly planned: boolean;
  constructor(because: KeepsSecret['because'], variable?: string, { planned = false } = {}) {
    this.because = because;
    this.variable = variable;
    this.planned = planned;
  }
}

export const MASK = '***';
/** An object, so that no declared text equals it. */
const MASK_OF_OTHER = Object.freeze({ secret: MASK });

/**
 * The stored secrets of these objects, in a form for the planner. A stored secret that equals the declared text
 * (compared in constant time) is replaced by that text. A different one is replaced by a mark that equals nothing, and
 * `guessCount` counts it. Undeclared secrets are left out.
 * @throws Problem `too-many-requests`
 */
export async function compareSecrets(
  part: RealmPart,
  items: readonly Item[],
  current: ReadonlyMap<string, Existing>,
  { sql, guessCount }: { sql: Sql; guessCount: GuessCount },
): Promise<ReadonlyMap<string, Existing>> {
  if (!part.secrets?.length) return current;
  const asked = new Map(items.map((item) => [item.key, item.fields]));
  const tried = [...current].flatMap(([key, { fields }]) =>
    (part.secrets ?? []).flatMap((field) => {
      const stored = fields[field];
      return isStoredSecret(stored) && typeof asked.get(key)?.[field] === 'string' ? [stored.id] : [];
    }),
  );
  if (tried.length > 0) await guessCount.begin(sql, tried);
  const out = new Map<string, Existing>();
  for (const [key, existing] of current)
    out.set(key, { ...existing, fields: await comparedSecrets(part, asked.get(key), existing.fields, guessCount) });
  return out;
}

/** The same for one object. Omit `guessCount` if the wanted value will be stored, so that it is no guess. */
export async function comparedSecrets(
  part: RealmPart,
  wanted: Fields | undefined,
  stored: Fields,
  guessCount?: GuessCount,
): Promise<Fields> {
  const fields: Record<string, unknown> = { ...stored };
  for (const field of part.secrets ?? []) fields[field] = await compared(wanted?.[field], fields[field], guessCount);
  return fields;
}

async function compared(wanted: unknown, stored: unknown, guessCount: GuessCount | undefined): Promise<unknown> {
  if (!isStoredSecret(stored)) return null;
  if (wanted instanceof KeepsSecret) return wanted;
  if (typeof wanted !== 'string') return MASK_OF_OTHER;
  if (await stored.matches(wanted)) return wanted;
  guessCount?.wrong(stored.id, wanted);
  return MASK_OF_OTHER;
}

/** The change's fields with every secret masked, for responses and events. */
export const maskedFields = (change: PlannedChange, secrets: readonly string[]): PlannedChange['fields'] =>
  change.fields.map((field) =>
    secrets.includes(field.path)
      ? { path: field.path, from: field.from === null ? null : MASK, to: field.to === null ? null : MASK }
      : field,
  );

const isGiven = (secret: unknown): boolean =>
  typeof secret === 'string' || (secret instanceof KeepsSecret && secret.planned);

/**
 * Field errors for stored secrets that a change would send to another address. The administrator, who can't read a
 * stored secret, must enter it again for such a change.
 */
export function movedSecrets(
  { secrets = [], sentTo }: RealmPart,
  { key, renamedFrom = key, before, fields }: Saved,
): FieldError[] {
  if (!sentTo || !before) return [];
  const [from, to] = [sentTo({ key: renamedFrom, fields: before }), sentTo({ key, fields })];
  const paths = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const moved = paths.filter((path) => !isSameJson(from[path] ?? null, to[path] ?? null));
  if (moved.length === 0) return [];
  const message = `is asked for again, since ${moved.join(', ')} changes where it is sent`;
  return secrets
    .filter((field) => (before[field] ?? null) !== null && !isGiven(fields[field]))
    .map((path) => ({ path, message }));
}
