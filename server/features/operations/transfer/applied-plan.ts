// The record of an applied plan: its changes and their former owners, without secrets and users. Pure. history.ts reads it,
// undo.ts reverses it. Decisions "Import, export, plan".
import { z } from 'zod';
import { Change } from '../../../contract/transfer.ts';
import type { PlannedChange, RealmPart } from '../../../resource/part.ts';
import { MASK } from '../../../resource/secrets.ts';
import type { Move } from './plan.ts';

const Owner = z.object({ manager: z.string(), fields: z.array(z.string()), kept: z.boolean() });
export const RecordedChange = Change.extend({
  /** Fields of a created object that the document didn't declare, with their values then. */
  rest: z.record(z.string(), z.unknown()).optional(),
  /** The object lost a reference to a removed one; the document doesn't name it. */
  tied: z.literal(true).optional(),
});
export type RecordedChange = z.infer<typeof RecordedChange>;
export const RecordedMove = z.object({
  action: z.enum(['take', 'release', 'fields']),
  kind: z.string(),
  key: z.string(),
  before: Owner.nullable(),
  after: Owner.nullable(),
});
export type RecordedMove = z.infer<typeof RecordedMove>;
export type RecordedOwner = z.infer<typeof Owner>;

/** A larger plan is recorded by its counts alone. */
export const MOST_RECORDED = 5000;

/** Fields that no record holds. */
export const unrecordedFields = ({
  secrets = [],
  people = [],
}: Pick<RealmPart, 'secrets' | 'people'>): ReadonlySet<string> => new Set([...secrets, ...people]);

export function recordedChange(part: RealmPart, change: PlannedChange): RecordedChange {
  const { action, kind, key, before = {}, save } = change;
  const left = unrecordedFields(part);
  const fields =
    action === 'delete' ? Object.entries(before).map(([path, from]) => ({ path, from, to: null })) : change.fields;
  // omitted values are named, so that undoing can report them; for secrets also whether one was set
  const blank = (value: unknown, path: string) => (part.secrets?.includes(path) && value !== null ? MASK : null);
  const shown = fields.map((field) => {
    const { path, from, to } = field;
    return left.has(path) ? { path, from: blank(from, path), to: blank(to, path) } : field;
  });
  const declared = new Set(fields.map(({ path }) => path));
  const others = Object.entries(save).filter(([path]) => !declared.has(path) && !left.has(path));
  return { action, kind, key, fields: shown, ...(action === 'create' && { rest: Object.fromEntries(others) }) };
}

/** @param owners as they are before the plan is applied, by kind and key */
export const recordedMove = ({ action, kind, key, owner }: Move, before: RecordedOwner | undefined): RecordedMove => ({
  action,
  kind,
  key,
  before: before ?? null,
  after: owner ? { manager: owner.manager, fields: [...owner.fields], kept: owner.kept ?? false } : null,
});
