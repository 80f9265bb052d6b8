// Tables by React Aria: arrow keys move in it, Enter opens a row, and rows can be selected for actions on many.
import type { MouseEvent, ReactNode } from 'react';
import {
  Table as AriaTable,
  Cell,
  Collection,
  Column,
  type Key,
  Row,
  type Selection,
  TableBody,
  TableHeader,
} from 'react-aria-components/Table';
import { Checkbox } from './choices.tsx';
import { RowLink } from './row-link.tsx';

export interface TableColumn<T> {
  id: string;
  head: string;
  cell: (row: T) => ReactNode;
  /** Its values are numbers: at the end of the column. */
  numeric?: boolean;
}

/** The last column, if the reader may do something with a row. */
export const actionsColumn = <T,>(isThere: boolean, cell: (row: T) => ReactNode): TableColumn<T>[] =>
  isThere ? [{ id: 'actions', head: 'actions', cell }] : [];

export interface TableProps<T> {
  label: string;
  /** The first one names the row. */
  columns: readonly TableColumn<T>[];
  rows: readonly T[];
  idOf: (row: T) => string;
  /** The page of the row's object, if it has one. The first cell is a link to it, and so has no other one in it. */
  to?: (row: T) => string | undefined;
  /** Instead of a page: what opening a row does. */
  onOpen?: (row: T) => void;
  /** Rows can be selected. */
  selected?: ReadonlySet<string>;
  onSelect?: (selected: ReadonlySet<string>) => void;
  empty?: ReactNode;
  /** The rows are those of before; the new ones are on their way. */
  stale?: boolean;
}

/** The ids of the selected rows; "all" is all that are shown. */
const idsOf = (selection: Selection, all: readonly string[]): ReadonlySet<string> =>
  selection === 'all' ? new Set(all) : new Set([...selection].map(String));

const linkOf = (to: string | undefined) => (to === undefined ? {} : { href: to });

/** The middle button opens a row in a tab of its own, as it does a link; React Aria does so for Ctrl and ⌘ alone. */
function openAside({ button, target }: MouseEvent): void {
  const row = button === 1 && target instanceof Element && !target.closest('a') && target.closest('[data-href]');
  const to = row ? row.getAttribute('data-href') : null;
  if (to) window.open(to, '_blank', 'noopener');
}

const Named = ({ to, children }: { to: string | undefined; children: ReactNode }) =>
  to === undefined ? children : <RowLink to={to}>{children}</RowLink>;

export function Table<T>({ label, columns, rows, idOf, to, onOpen, selected, onSelect, empty, stale }: TableProps<T>) {
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  const [first] = columns;
  return (
    <div className="table-box" onAuxClick={openAside}>
      <AriaTable
        aria-label={label}
        className={stale ? 'table stale' : 'table'}
        {...(onSelect && {
          selectionMode: 'multiple' as const,
          selectedKeys: [...(selected ?? [])] as Iterable<Key>,
          onSelectionChange: (selection: Selection) => onSelect(idsOf(selection, [...byId.keys()])),
        })}
        {...(onOpen && {
          onRowAction: (key: Key) => {
            const row = byId.get(String(key));
            if (row !== undefined) onOpen(row);
          },
        })}
      >
        <TableHeader>
          {onSelect && (
            <Column className="choice">
              <Checkbox slot="selection" label="Select all rows" hideLabel />
            </Column>
          )}
          <Collection items={columns}>
            {({ id, head, numeric }) => (
              <Column id={id} isRowHeader={id === first?.id} className={numeric ? 'number' : ''}>
                {head}
              </Column>
            )}
          </Collection>
        </TableHeader>
        <TableBody renderEmptyState={() => empty ?? <p className="empty">There is nothing here.</p>}>
          {rows.map((row) => (
            <Row key={idOf(row)} id={idOf(row)} {...linkOf(to?.(row))} data-action={onOpen ? true : undefined}>
              {onSelect && (
                <Cell className="choice">
                  <Checkbox slot="selection" label="Select the row" hideLabel />
                </Cell>
              )}
              {columns.map((column, at) => (
                <Cell key={column.id} className={column.numeric ? 'number' : ''}>
                  <Named to={at === 0 ? to?.(row) : undefined}>{column.cell(row)}</Named>
                </Cell>
              ))}
            </Row>
          ))}
        </TableBody>
      </AriaTable>
    </div>
  );
}
