// The users of POST /users/import, as the import reads them row by row, and the result of each row. apply.ts writes
// them, user-rows.ts reads the body. Decisions "Import, export, plan".
import type { FieldError } from '../../../contract/problem.ts';
import { MOST_TOLD, type UsersImported } from '../../../contract/user-import.ts';
import type { Sql } from '../../../db/sql.ts';
import { asides, counts as countsOf } from '../../people/users/import-store.ts';
import type { Stage } from '../../people/users/transfer.ts';
import type { Request } from './apply.ts';

/** A parsed row, or its fault. */
export type Row = { n: number } & (
  | { value: unknown; errors?: undefined }
  | { value?: undefined; errors: FieldError[] }
);

export interface RowsRequest extends Pick<Request, 'principal' | 'by' | 'realm' | 'signal'> {
  body: AsyncIterable<Buffer>;
  read(body: AsyncIterable<Buffer>): AsyncIterable<Row[]>;
}

const MOST_FAILURES = 1000;
const WORDS = { create: 'created', update: 'updated', take: 'unchanged', same: 'unchanged' } as const;

/** Reads the result of each row from the staged rows, after the import has written them. */
export async function rowsImported(
  sql: Sql,
  realm: string,
  { importId, count }: Pick<Stage, 'importId' | 'count'>,
): Promise<UsersImported> {
  const counts = await countsOf(sql, realm, importId);
  const of = (action: string) => counts.get(action) ?? 0;
  const refused = await asides.refusedRows(sql, realm, importId, MOST_FAILURES);
  const taken = await asides.acceptedRows(sql, realm, importId, MOST_TOLD);
  const gone = count() - [...counts.values()].reduce((sum, some) => sum + some, 0);
  const erased =
    gone > 0 ? await asides.erasedDuringImport(sql, realm, importId, { count: count(), limit: MOST_FAILURES }) : [];
  const failures = [
    ...refused.first.map(({ n, errors }) => ({ row: n, errors })),
    ...erased.map(({ n }) => ({ row: n, errors: [{ path: '', message: 'was erased while the import ran' }] })),
  ];
  return {
    created: of('create'),
    updated: of('update'),
    unchanged: of('take') + of('same'),
    failed: refused.count + gone,
    rows: taken.map(({ n, username, action }) => ({ row: n, username, action: WORDS[action] })),
    failures: failures.sort((a, b) => a.row - b.row).slice(0, MOST_FAILURES),
  };
}
