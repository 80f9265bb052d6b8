// The inverse of a recorded plan, as pure functions: from the record and the present state to changes, ownership,
// obstacles. history.ts applies it. Decisions "Import, export, plan".
import type { FieldError } from '../../../contract/problem.ts';
import type { KeptSecret } from '../../../contract/transfer.ts';
import { changeOf } from '../../../resource/change.ts';
import { isSameJson } from '../../../resource/compare.ts';
import type { Existing, Fields, PlannedChange, RealmPart } from '../../../resource/part.ts';
import { type RecordedChange, type RecordedMove, type RecordedOwner, unrecordedFields } from './applied-plan.ts';
import { deletion, type Move } from './plan.ts';
import { saysNothing } from './ties.ts';

export interface Inverse {
  changes: PlannedChange[];
  moves: Move[];
  /** Fields and objects that have changed since. */
  obstacles: FieldError[];
  keptSecrets: KeptSecret[];
}

type Part = Pick<RealmPart, 'kind' | 'fresh' | 'secrets' | 'people' | 'print' | 'settled'>;

/** @param there the present object, without its secrets */
export function invertChange(
  part: Part,
  realm: string,
  recorded: RecordedChange,
  there: Existing | undefined,
): Pick<Inverse, 'changes' | 'obstacles' | 'keptSecrets'> {
  const { kind, key } = recorded;
  const left = unrecordedFields(part);
  const known = recorded.fields.filter(({ path }) => !left.has(path));
  const keptSecrets = recorded.fields.flatMap(({ path }): KeptSecret[] =>
    left.has(path) && recorded.action !== 'create' ? [{ kind, key, path, because: 'notRecorded' }] : [],
  );
  const obstacle = (message: string, path = key) => ({
    changes: [],
    keptSecrets: [],
    obstacles: [{ path: path === key ? `${kind} ${key}` : `${kind} ${key}.${path}`, message }],
  });
  const changed = (change: PlannedChange | undefined) => ({
    changes: change ? [change] : [],
    obstacles: [],
    keptSecrets,
  });

  if (recorded.action === 'create') {
    if (!there) return changed(undefined);
    const made = { ...recorded.rest, ...Object.fromEntries(known.map(({ path, to }) => [path, to])) };
    const other = firstOther(there.fields, part.settled?.(made, there.fields) ?? made);
    if (other !== undefined) return obstacle('was changed since it was made', other);
    return changed(deletion(kind, key, there));
  }
  if (recorded.action === 'delete') {
    const had = Object.fromEntries(known.flatMap(({ path, from }) => (from === null ? [] : [[path, from]])));
    if (!there || saysNothing(part, key, there)) return changed(changeOf(part, realm, { key, there, wanted: had }));
    return firstOther(there.fields, had) === undefined
      ? changed(undefined)
      : obstacle('was made again since, and differs');
  }
  // an object that only lost a reference through the plan, and was deleted since, needs no restoring
  if (!there) return recorded.tied ? changed(undefined) : obstacle('is no longer there');
  const wanted: Record<string, unknown> = {};
  for (const { path, from, to } of known) {
    const now = there.fields[path] ?? null;
    if (isSameJson(now, from)) continue;
    if (!isSameJson(now, to)) return obstacle('was changed since', path);
    wanted[path] = from;
  }
  const settled = part.settled?.(wanted, there.fields) ?? wanted;
  const stays = firstOther(settled, wanted);
  if (stays !== undefined) return obstacle(`stays ${String(there.fields[stays])}: no document sets it back`, stays);
  return changed(changeOf(part, realm, { key, there, wanted }));
}

/** The first field that differs from `wanted`. */
const firstOther = (fields: Fields, wanted: Fields): string | undefined =>
  Object.keys(wanted).find((path) => !isSameJson(fields[path] ?? null, wanted[path] ?? null));

/** @param now the present owner; a later plan that took the object over, or declares it otherwise, is an obstacle */
export function invertMove(
  { kind, key, before, after }: RecordedMove,
  now: RecordedOwner | undefined,
): Pick<Inverse, 'moves' | 'obstacles'> {
  if (isSameJson(now ?? null, before)) return { moves: [], obstacles: [] };
  if (!isSameJson(now ?? null, after)) {
    const message =
      now === undefined
        ? 'was released since'
        : now.manager === after?.manager
          ? `is declared otherwise since by ${now.manager}`
          : `is managed by ${now.manager} since`;
    return { moves: [], obstacles: [{ path: `${kind} ${key}`, message }] };
  }
  const move: Move = before
    ? { action: after === null ? 'take' : 'fields', kind, key, owner: before }
    : { action: 'release', kind, key };
  return { moves: [move], obstacles: [] };
}
