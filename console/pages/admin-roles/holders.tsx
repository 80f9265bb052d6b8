// The users and service accounts that hold an admin role, and over which realm.
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { listRoleHolders } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';

type Held = OutputOf<typeof listRoleHolders>[number];

const columnsIn = (realm: string): TableColumn<Held>[] => [
  {
    id: 'holder',
    head: 'holder',
    cell: ({ holder: { type, id, name } }) => (
      <Link href={inRealm(realm, type === 'user' ? 'users' : 'clients', id)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { id: 'type', head: 'kind', cell: ({ holder: { type } }) => <Badge>{type === 'user' ? 'user' : 'client'}</Badge> },
  {
    id: 'realm',
    head: 'over',
    cell: ({ realm: target }) => (target === '*' ? 'every realm' : <bdi>{target}</bdi>),
  },
];

export function Holders({ realm, id }: { realm: string; id: string }) {
  const { get } = useFilters();
  const cursor = get('holders') || undefined;
  const holders = useRead(
    listRoleHolders,
    { params: { realm, id }, query: { limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { keep: true },
  );
  return (
    <Panel title="Holders" plain>
      <Paged
        label="Holders"
        read={holders}
        filter="holders"
        columns={columnsIn(realm)}
        idOf={({ holder, realm: target }) => `${holder.id} ${target}`}
        empty={
          <Empty icon="key" title="The role is held by no user and no client">
            <p>Grants give it, on the page of a user or under Admin roles.</p>
          </Empty>
        }
      />
    </Panel>
  );
}
