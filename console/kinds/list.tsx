// The list of a kind: search on the server, pages by cursor, columns of the reader's choice; all of it in the address.
import { useQuery } from '@tanstack/react-query';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { call } from '../api/client.ts';
import { keyOf } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import type { PageProps } from '../pages/page.ts';
import { inRealm, realmAddress } from '../shell/addresses.ts';
import { AsCommand } from '../ui/as-command.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { useFilters } from '../ui/filters.ts';
import { Find } from '../ui/find.tsx';
import { Icon } from '../ui/icons.tsx';
import { Page } from '../ui/page.tsx';
import { Pager } from '../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../ui/state.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import { leadOf, ofItsClient, placeOf, titleOf } from './all.ts';
import { CellValue } from './cells.tsx';
import { listCommands } from './commands.ts';
import { DeclaredOnlyNote, useLock } from './declared-only.tsx';
import type { KindEntry, Row } from './entry.ts';
import { useKind } from './loaded.ts';
import { ManagerCell, managedOf } from './managed.tsx';
import { askingManagers } from './managers.ts';
import { idOf, isFormed, listAddress, nameOf, objectAddress } from './pages.tsx';
import { withCapitals } from './words.ts';

const PAGE_ROWS = 50;

const keptColumns = (section: string): string[] | undefined =>
  localStorage.getItem(`realmkeeper.columns.${section}`)?.split(',').filter(Boolean);

export function KindList({ entry, params: { realm, clientId } }: PageProps & { entry: KindEntry }) {
  const may = useMay();
  const mayWrite = may(realm, entry.write) && isFormed(entry);
  const lock = useLock(realm, entry.section, { kind: entry.kind });
  const title = titleOf(entry);
  const at = listAddress(realm, entry, clientId);
  return (
    <Page
      title={title}
      lead={leadOf(entry)}
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        ...(entry.ofClient && clientId !== undefined
          ? [
              { label: 'Clients', to: inRealm(realm, 'clients') },
              { label: 'Client', to: inRealm(realm, 'clients', clientId) },
            ]
          : []),
      ]}
      actions={
        <>
          <AsCommand commands={() => listCommands(entry, realm)} />
          {mayWrite && (
            <ButtonLink to={`${at}/new`} variant="primary" icon="add">
              {lock.isLocked ? 'Write a declaration' : `Create ${entry.one}`}
            </ButtonLink>
          )}
        </>
      }
    >
      <KindTable entry={entry} realm={realm} of={clientId} />
    </Page>
  );
}

/** The list alone, for a tab of another page too. @param of the id of the client whose objects they are */
export function KindTable({ entry, realm, of }: { entry: KindEntry; realm: string; of?: string | undefined }) {
  const filters = useFilters();
  const may = useMay();
  const loaded = useKind(entry);
  const q = filters.get('q');
  const cursor = filters.get('cursor');
  const chosen = filters.get('columns') ? filters.get('columns').split(',') : keptColumns(entry.section);
  const list = loaded?.routes.list;
  const input = {
    params: { realm, ...(of !== undefined && { clientId: of }) },
    query: {
      limit: PAGE_ROWS,
      ...(list && askingManagers(list)),
      ...(cursor !== '' && { cursor }),
      ...(entry.searches && q !== '' && { q }),
    },
  };
  const rows = useQuery({
    queryKey: list ? keyOf(list, input) : ['kind', entry.section],
    queryFn: ({ signal }) => {
      if (!list) throw new Error('the kind is not loaded');
      return call(list, { ...input, signal });
    },
    enabled: list !== undefined,
    placeholderData: (before) => before,
  });
  const answer = rows.data;
  const found = (answer?.body ?? []) as Row[];
  const columns = columnsOf(entry, chosen);
  const shown = found.some((row) => managedOf(row)) ? [...columns, MANAGER_COLUMN] : columns;
  const isWhole = q === '' && cursor === '';
  if (rows.error && !answer) return <ProblemNote problem={rows.error} retry={() => void rows.refetch()} />;
  return (
    <div className="list">
      <DeclaredOnlyNote realm={realm} section={entry.section} kind={entry.kind} many={entry.many} write={entry.write} />
      <div className="list-tools">
        {entry.searches && (
          <Find
            label={`Find ${of === undefined ? entry.many : ofItsClient(entry).many}`}
            value={q}
            onChange={(text) => filters.set({ q: text, cursor: undefined })}
          />
        )}
        <div className="spread">
          <ColumnChoice
            entry={entry}
            chosen={columns.map(({ id }) => id)}
            onChange={(fields) => {
              localStorage.setItem(`realmkeeper.columns.${entry.section}`, fields.join(','));
              filters.set({ columns: fields.join(',') });
            }}
          />
        </div>
      </div>
      {rows.error && <ProblemNote problem={rows.error} retry={() => void rows.refetch()} />}
      {!answer ? (
        <div className="table-box">
          <Loading lines={6} />
        </div>
      ) : found.length === 0 && isWhole ? (
        <div className="panel">
          <NoneYet
            entry={entry}
            realm={realm}
            at={listAddress(realm, entry, of)}
            mayWrite={may(realm, entry.write) && isFormed(entry)}
          />
        </div>
      ) : (
        <Table
          label={titleOf(entry)}
          columns={shown}
          rows={found}
          idOf={(row) => idOf(entry, row)}
          to={(row) => objectAddress(realm, entry, row, of)}
          stale={rows.isPlaceholderData}
          empty={
            <Empty icon="search" title={`No ${entry.label} matches`}>
              <p>
                The search looks in {(entry.searches ?? []).join(', ')} for “{q}”.
              </p>
            </Empty>
          }
        />
      )}
      {answer && found.length > 0 && (
        <Pager shown={found.length} total={q === '' ? answer.total : undefined} nextCursor={answer.nextCursor} />
      )}
    </div>
  );
}

/** Shown where a manager declares an object of the page. */
const MANAGER_COLUMN: TableColumn<Row> = {
  id: ' managed',
  head: 'declared by',
  cell: (row) => <ManagerCell row={row} />,
};

function columnsOf(entry: KindEntry, chosen: readonly string[] | undefined): TableColumn<Row>[] {
  const shown = entry.columns.filter(({ field, shown }) => (chosen ? chosen.includes(field) : shown === true));
  return [
    // no field has this name
    {
      id: ' ',
      head: [entry.key].flat().length > 1 ? 'which' : entry.label,
      cell: (row) => <bdi>{nameOf(entry, row)}</bdi>,
    },
    ...shown.map(({ field, head, cell }) => ({
      id: field,
      head: withCapitals(head),
      ...(cell === 'number' && { numeric: true }),
      cell: (row: Row) => <CellValue cell={cell} value={row[field]} />,
    })),
  ];
}

/** @param entry its columns */
export function ColumnChoice({
  entry,
  chosen,
  onChange,
}: {
  entry: Pick<KindEntry, 'columns'>;
  chosen: readonly string[];
  onChange: (fields: string[]) => void;
}) {
  return (
    <MenuTrigger>
      <Button icon="columns">Columns</Button>
      <Popover className="popover" placement="bottom end" offset={4}>
        <Menu
          className="menu"
          aria-label="Columns"
          selectionMode="multiple"
          selectedKeys={chosen}
          onSelectionChange={(keys) =>
            onChange(entry.columns.map(({ field }) => field).filter((field) => keys === 'all' || keys.has(field)))
          }
        >
          {entry.columns.map(({ field, head }) => (
            <MenuItem key={field} id={field} className="menu-item" textValue={withCapitals(head)}>
              {({ isSelected }) => (
                <>
                  {withCapitals(head)}
                  {isSelected && (
                    <span className="end">
                      <Icon name="check" size={14} />
                    </span>
                  )}
                </>
              )}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

/** The purpose of the kind, and the ways to make an object of it: here, or declared in Git. */
function NoneYet({ entry, realm, at, mayWrite }: { entry: KindEntry; realm: string; at: string; mayWrite: boolean }) {
  const lock = useLock(realm, entry.section, { kind: entry.kind });
  return (
    <Empty
      icon={placeOf(entry).icon}
      title={`There are no ${entry.many} yet`}
      actions={
        <>
          {mayWrite && (
            <ButtonLink to={`${at}/new`} variant="primary" icon="add">
              {lock.isLocked ? 'Write a declaration' : `Create ${entry.one}`}
            </ButtonLink>
          )}
          <AsCommand commands={() => listCommands(entry, realm)} label="How to declare it" start="manifest" />
        </>
      }
    >
      <p>{leadOf(entry)}</p>
      {entry.resource !== null && (
        <p>
          {entry.resource === 'Realm'
            ? `In Git, it is declared in the field ${entry.section} of a Realm resource.`
            : `In Git, it is declared as a ${entry.resource} resource.`}
        </p>
      )}
    </Empty>
  );
}
