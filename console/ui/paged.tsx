// A list with its pages: it is loading, it is empty, it failed, the server ended its search before it had a page.
import type { ServerProblem } from '../api/client.ts';
import { Pager } from './pager.tsx';
import { Empty, Loading, ProblemNote } from './state.tsx';
import { Table, type TableProps } from './table.tsx';

export const PAGE_ROWS = 50;
/** While something waits or runs. */
export const LOOK_SECONDS = 4;

const CUT = 'The server’s search took long and was stopped. Older rows may match: the next page goes on.';

export function Paged<T>({
  read: { data, error, isPlaceholderData, refetch },
  filter,
  empty,
  ...table
}: Omit<TableProps<T>, 'rows' | 'stale'> & {
  read: {
    data: { body: readonly T[] | undefined; nextCursor?: string | undefined; total?: number | undefined } | undefined;
    error: ServerProblem | null | undefined;
    isPlaceholderData?: boolean;
    /** Absent: it is read again by itself. */
    refetch?: () => unknown;
  };
  /** The name of the cursor in the address, where the page has several lists. */
  filter?: string;
}) {
  const rows = data?.body;
  const isCut = rows !== undefined && data?.nextCursor !== undefined && rows.length < PAGE_ROWS;
  return (
    <>
      {error && <ProblemNote problem={error} {...(refetch && { retry: () => void refetch() })} />}
      {rows ? (
        <Table
          {...table}
          rows={rows}
          stale={isPlaceholderData ?? false}
          empty={
            isCut ? (
              <Empty icon="search" title="Nothing matches so far">
                <p>{CUT} A filter less, or a shorter period, is searched sooner.</p>
              </Empty>
            ) : (
              empty
            )
          }
        />
      ) : (
        !error && <Loading lines={6} />
      )}
      {isCut && rows.length > 0 && <p className="hint pad">{CUT}</p>}
      {rows && (
        <Pager
          shown={rows.length}
          total={data?.total}
          nextCursor={data?.nextCursor}
          {...(filter !== undefined && { filter })}
        />
      )}
    </>
  );
}
