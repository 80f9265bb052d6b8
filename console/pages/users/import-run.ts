// Sends rows to the API in batches, so that progress is known and a stop loses nothing that was written.
import { call, type OutputOf, ServerProblem } from '../../api/client.ts';
import { importUsers } from '../../generated/routes.ts';
import type { FileRow } from './import-rows.ts';

type Imported = OutputOf<typeof importUsers>;
type FieldError = Imported['failures'][number]['errors'][number];

export interface RowFailure {
  at: string;
  username: string;
  errors: readonly Pick<FieldError, 'path' | 'message'>[];
  row: FileRow['row'];
}
export interface ImportState {
  sent: number;
  created: number;
  updated: number;
  unchanged: number;
  failures: RowFailure[];
}
export const nothingYet: ImportState = { sent: 0, created: 0, updated: 0, unchanged: 0, failures: [] };

/** The server lists the first 1,000 failures of a request. */
const BATCH = 500;
/** `users[3].email` of a request that is refused as a whole. */
const ROW = /^(?:body\.)?(?:users)?\[?(\d+)\]?\.?(.*)$/;

const failureOf = (one: FileRow | undefined, errors: RowFailure['errors']): RowFailure[] =>
  one ? [{ at: one.at, username: String(one.row.username ?? ''), errors, row: one.row }] : [];

/** @throws ServerProblem for a refusal that names no rows */
async function send(realm: string, batch: readonly FileRow[], atomic: boolean): Promise<ImportState> {
  const body = batch.map(({ row }) => row);
  try {
    const answer = await call(importUsers, { params: { realm }, query: { atomic: String(atomic) }, body });
    const { created = 0, updated = 0, unchanged = 0, failures = [] } = answer.body ?? {};
    return {
      sent: batch.length,
      created,
      updated,
      unchanged,
      failures: failures.flatMap(({ row, errors }) => failureOf(batch[row], errors)),
    };
  } catch (cause) {
    const named = cause instanceof ServerProblem ? (cause.problem?.errors ?? []) : [];
    const byRow = new Map<number, { path: string; message: string }[]>();
    for (const { path, message } of named) {
      const [, row, rest = ''] = ROW.exec(path) ?? [];
      if (row === undefined) throw cause;
      byRow.set(Number(row), [...(byRow.get(Number(row)) ?? []), { path: rest, message }]);
    }
    if (byRow.size === 0) throw cause;
    const failures = [...byRow].flatMap(([row, errors]) => failureOf(batch[row], errors));
    return { ...nothingYet, sent: batch.length, failures };
  }
}

/**
 * @param atomic one request for all rows, which writes all or none
 * @param onProgress is told the state after each batch
 */
export async function importRows(
  realm: string,
  rows: readonly FileRow[],
  { atomic, signal, onProgress }: { atomic: boolean; signal: AbortSignal; onProgress: (state: ImportState) => void },
): Promise<ImportState> {
  const placeOf = new Map(rows.map(({ at }, place) => [at, place]));
  const inOrder = (failures: readonly RowFailure[]) =>
    failures.toSorted((one, other) => (placeOf.get(one.at) ?? 0) - (placeOf.get(other.at) ?? 0));
  const faulty = rows.flatMap((one) => (one.fault ? failureOf(one, [one.fault]) : []));
  const sound = rows.filter(({ fault }) => fault === undefined);
  let state: ImportState = { ...nothingYet, sent: faulty.length, failures: faulty };
  if (faulty.length > 0) onProgress(state);
  if (atomic && faulty.length > 0) return { ...state, sent: rows.length };
  const size = atomic ? Math.max(sound.length, 1) : BATCH;
  for (let start = 0; start < sound.length && !signal.aborted; start += size) {
    const more = await send(realm, sound.slice(start, start + size), atomic);
    state = {
      sent: state.sent + more.sent,
      created: state.created + more.created,
      updated: state.updated + more.updated,
      unchanged: state.unchanged + more.unchanged,
      failures: inOrder([...state.failures, ...more.failures]),
    };
    onProgress(state);
  }
  return state;
}
