// The list of users: search and filters on the server, pages by cursor, and actions on a selection.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listUsers } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ColumnChoice } from '../../kinds/list.tsx';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { PageProps } from '../page.ts';
import { userAddress, usersAddress } from './addresses.ts';
import { BulkBar } from './bulk.tsx';
import { FilterDialog } from './filter-dialog.tsx';
import { activeFilters, filtersOf, isFiltered, queryOf, type UserFilters } from './filters.ts';
import { fullName } from './words.ts';

type Listed = OutputOf<typeof listUsers>[number];

const PAGE_ROWS = 50;

const states = [
  { id: 'enabled', label: 'Enabled' },
  { id: 'disabled', label: 'Disabled' },
  { id: 'locked', label: 'Locked by failed sign-ins' },
] as const;

function commandsOf(realm: string, filters: UserFilters): Commands {
  const { q, ...others } = queryOf(filters);
  return {
    // `realmctl` searches by text; the other filters are the API's
    ...(Object.keys(others).length === 0 && {
      realmctl: realmctl(
        q === undefined ? 'get users' : 'users search',
        q === undefined ? [] : [q],
        `-r ${word(realm)}`,
      ),
    }),
    curl: curlOf(listUsers, { realm }, undefined, queryOf(filters)),
  };
}

export default function Users({ params: { realm } }: PageProps) {
  const may = useMay();
  const filters = useFilters();
  return (
    <Page
      title="Users"
      lead={
        may(realm, 'users:read')
          ? 'Everyone who can sign in to the realm.'
          : 'Your admin roles show the users in some groups of the realm.'
      }
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand commands={() => commandsOf(realm, filtersOf(filters))} />
          {may(realm, 'users:write') && <ButtonLink to={`${usersAddress(realm)}/import`}>Import</ButtonLink>}
          {may.partly(realm, 'users:write') && (
            <ButtonLink to={`${usersAddress(realm)}/new`} variant="primary" icon="add">
              Create a user
            </ButtonLink>
          )}
        </>
      }
    >
      <UserTable realm={realm} />
    </Page>
  );
}

const columnEntries = [
  { field: 'name', head: 'name', cell: 'text', shown: true },
  { field: 'email', head: 'e-mail address', cell: 'text', shown: true },
  { field: 'state', head: 'state', cell: 'text', shown: true },
  { field: 'groups', head: 'groups', cell: 'list', shown: true },
  { field: 'roles', head: 'realm roles', cell: 'list' },
  { field: 'requiredActions', head: 'must do', cell: 'number' },
  { field: 'createdAt', head: 'created', cell: 'time', shown: true },
  { field: 'id', head: 'ID', cell: 'text' },
] as const;
const COLUMNS_KEY = 'realmkeeper.columns.users';

const None = () => <span className="none">–</span>;

function cellOf(field: string, user: Listed) {
  switch (field) {
    case 'name':
      return fullName(user) ? <bdi>{fullName(user)}</bdi> : <None />;
    case 'email':
      if (user.email === null) return <None />;
      return (
        <span className="row nowrap">
          <bdi>{user.email}</bdi>
          {!user.emailVerified && <Badge>unverified</Badge>}
        </span>
      );
    case 'state':
      return (
        <span className="row">
          {user.enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>}
          {user.locked && <Badge tone="bad">locked</Badge>}
        </span>
      );
    case 'groups':
    case 'roles':
      return user[field].length > 0 ? <Chips items={user[field]} most={2} /> : <None />;
    case 'requiredActions':
      return user.requiredActions.length > 0 ? user.requiredActions.length : <None />;
    case 'createdAt':
      return <Time ms={user.createdAt} />;
    default:
      return <code>{user.id}</code>;
  }
}

function UserTable({ realm }: { realm: string }) {
  const may = useMay();
  const { get, set } = useFilters();
  const filters = filtersOf({ get });
  const cursor = get('cursor');
  const [isFiltering, setFiltering] = useState(false);
  /** By id the username; it holds users of other pages too. */
  const [selected, setSelected] = useState<ReadonlyMap<string, string>>(new Map());
  const users = useRead(
    listUsers,
    {
      params: { realm },
      query: { limit: PAGE_ROWS, with: 'locked', ...queryOf(filters), ...(cursor !== '' && { cursor }) },
    },
    { keep: true },
  );
  const rows = users.data?.body ?? [];
  const kept = get('columns') || localStorage.getItem(COLUMNS_KEY);
  const chosen = columnEntries
    .filter((entry) => (kept === null ? 'shown' in entry : kept.split(',').includes(entry.field)))
    .map(({ field }) => field as string);
  const columns: TableColumn<Listed>[] = [
    { id: 'username', head: 'username', cell: ({ username }) => <bdi>{username}</bdi> },
    ...columnEntries
      .filter(({ field }) => chosen.includes(field))
      .map(({ field, head }) => ({ id: field, head, cell: (user: Listed) => cellOf(field, user) })),
  ];
  const select = (ids: ReadonlySet<string>) => {
    const here = new Map(rows.map(({ id, username }) => [id, username]));
    setSelected(
      (before) => new Map([...[...before].filter(([id]) => !here.has(id)), ...[...here].filter(([id]) => ids.has(id))]),
    );
  };
  const active = activeFilters(filters);
  const mayChange = may.partly(realm, 'users:write') || may.partly(realm, 'sessions:write');
  if (users.error && !users.data) return <ProblemNote problem={users.error} retry={() => void users.refetch()} />;
  return (
    <div className="list">
      <div className="list-tools">
        <Find
          label="Find users"
          placeholder="Username, e-mail address or name"
          value={filters.q}
          onChange={(q) => set({ q, cursor: undefined })}
        />
        <div className="state-filter">
          <Select
            label="State"
            hideLabel
            none="Any state"
            options={states}
            value={filters.state}
            onChange={(state) => set({ state: state ?? undefined, cursor: undefined })}
          />
        </div>
        <Button icon="settings" onPress={() => setFiltering(true)}>
          Filters
        </Button>
        <div className="spread">
          <ColumnChoice
            entry={{ columns: columnEntries }}
            chosen={chosen}
            onChange={(fields) => {
              localStorage.setItem(COLUMNS_KEY, fields.join(','));
              set({ columns: fields.join(',') });
            }}
          />
        </div>
      </div>
      {active.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset has no place for chips in a row
        <div className="chips" role="group" aria-label="Filters that are set">
          {active.map(({ label, value, without }) => (
            <span key={label} className="chip">
              {label}: <bdi>{value}</bdi>
              <IconButton
                label={`Remove the filter ${label}`}
                icon="close"
                small
                onPress={() => set({ ...without, cursor: undefined })}
              />
            </span>
          ))}
        </div>
      )}
      {selected.size > 0 && <BulkBar realm={realm} users={selected} onClear={() => setSelected(new Map())} />}
      {users.error && <ProblemNote problem={users.error} retry={() => void users.refetch()} />}
      {!users.data ? (
        <div className="table-box">
          <Loading lines={8} />
        </div>
      ) : rows.length === 0 && !isFiltered(filters) && cursor === '' ? (
        <div className="panel">
          <NoneYet realm={realm} />
        </div>
      ) : (
        <Table
          label="Users"
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          to={({ id }) => userAddress(realm, id)}
          stale={users.isPlaceholderData}
          {...(mayChange && { selected: new Set(selected.keys()), onSelect: select })}
          empty={
            <Empty
              icon="search"
              title="No user matches"
              actions={
                <Button
                  onPress={() =>
                    set({
                      q: undefined,
                      state: undefined,
                      cursor: undefined,
                      ...Object.assign({}, ...active.map(({ without }) => without)),
                    })
                  }
                >
                  Clear the search and all filters
                </Button>
              }
            >
              <p>The search looks in the username, the e-mail address, the first and the last name.</p>
            </Empty>
          }
        />
      )}
      {users.data && rows.length > 0 && (
        <Pager shown={rows.length} total={users.data.total} nextCursor={users.data.nextCursor} />
      )}
      {isFiltering && (
        <FilterDialog
          realm={realm}
          filters={filters}
          onApply={(changes) => set({ ...changes, cursor: undefined })}
          onClose={() => setFiltering(false)}
        />
      )}
    </div>
  );
}

function NoneYet({ realm }: { realm: string }) {
  const may = useMay();
  return (
    <Empty
      icon="user"
      title="There are no users yet"
      actions={
        <>
          {may.partly(realm, 'users:write') && (
            <ButtonLink to={`${usersAddress(realm)}/new`} variant="primary" icon="add">
              Create a user
            </ButtonLink>
          )}
          {may(realm, 'users:write') && <ButtonLink to={`${usersAddress(realm)}/import`}>Import a file</ButtonLink>}
        </>
      }
    >
      <p>Users also come by registration, by an identity provider, from a directory, or by SCIM.</p>
    </Empty>
  );
}
