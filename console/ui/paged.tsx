// A list of runs with its pages, read again every few seconds while something is under way.
import type { ReactNode } from 'react';
import type { ServerProblem } from '../../api/client.ts';
import { Pager } from '../../ui/pager.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';

export const PAGE_ROWS = 50;
/** While something waits or runs. */
export const LOOK_SECONDS = 4;

export function Paged<T>({
  label,
  read,
  columns,
  idOf,
  empty,
  onOpen,
}: {
  label: string;
  read: {
    data: { body: T[] | undefined; nextCursor: string | undefined } | undefined;
    error: ServerProblem | null;
    isPlaceholderData: boolean;
    refetch: () => unknown;
  };
  columns: readonly TableColumn<T>[];
  idOf: (row: T) => string;
  empty: ReactNode;
  onOpen?: (row: T) => void;
}) {
  const rows = read.data?.body;
  return (
    <>
      {read.error && <ProblemNote problem={read.error} retry={() => void read.refetch()} />}
      {rows ? (
        <Table
          label={label}
          rows={rows}
          columns={columns}
          idOf={idOf}
          stale={read.isPlaceholderData}
          empty={empty}
          {...(onOpen && { onOpen })}
        />
      ) : (
        !read.error && <Loading lines={6} />
      )}
      {rows && rows.length > 0 && <Pager shown={rows.length} nextCursor={read.data?.nextCursor} />}
    </>
  );
}
