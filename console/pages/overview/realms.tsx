// All realms that the reader may see; the search is in the address.
import { realmsMatching, useRealms } from '../../api/realms.ts';
import { useMay } from '../../api/session.ts';
import { listRealms } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { togglePinned, usePinnedRealms } from '../../shell/kept-realms.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink, IconButton } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';

const PAGE_ROWS = 100;

export default function Realms() {
  const may = useMay();
  const filters = useFilters();
  const pinned = usePinnedRealms();
  const q = filters.get('q');
  const realms = useRealms(q);
  const all = realms.data?.body ?? [];
  const found = q === '' ? all : realmsMatching(all, q);
  const ordered =
    q === ''
      ? [...found].sort((one, other) => Number(pinned.includes(other.realm)) - Number(pinned.includes(one.realm)))
      : found;
  const mayCreate = may.everywhere('realm:create');
  return (
    <Page
      title="Realms"
      lead="Each realm has its own users, applications and rules; no other realm sees them."
      actions={
        <>
          <AsCommand commands={() => ({ realmctl: 'realmctl get realms', curl: curlOf(listRealms, {}) })} />
          {mayCreate && (
            <ButtonLink to="/realms/new" variant="primary" icon="add">
              Create a realm
            </ButtonLink>
          )}
        </>
      }
    >
      <div className="list">
        <div className="list-tools">
          <Find label="Find a realm" value={q} onChange={(text) => filters.set({ q: text })} />
        </div>
        {realms.error && <ProblemNote problem={realms.error} retry={() => void realms.refetch()} />}
        {realms.data ? (
          <Table
            label="Realms"
            rows={ordered.slice(0, PAGE_ROWS)}
            idOf={({ realm }) => realm}
            to={({ realm }) => realmAddress(realm)}
            columns={[
              { id: 'realm', head: 'realm', cell: ({ realm }) => <bdi>{realm}</bdi> },
              { id: 'name', head: 'display name', cell: ({ displayName }) => <span dir="auto">{displayName}</span> },
              {
                id: 'revision',
                head: 'revision',
                numeric: true,
                cell: ({ revision }) => revision.toLocaleString('en'),
              },
              {
                id: 'pin',
                head: 'pinned',
                cell: ({ realm }) => (
                  <IconButton
                    small
                    icon={pinned.includes(realm) ? 'check' : 'pin'}
                    label={pinned.includes(realm) ? `Unpin ${realm}` : `Pin ${realm}`}
                    onPress={() => togglePinned(realm)}
                  />
                ),
              },
            ]}
            empty={
              <Empty icon="search" title="No realm matches">
                <p>No realm that you may see has “{q}” in its name.</p>
              </Empty>
            }
          />
        ) : (
          <div className="table-box">
            <Loading lines={6} />
          </div>
        )}
        {ordered.length > PAGE_ROWS && (
          <p className="hint">
            The first {PAGE_ROWS} of <Badge>{ordered.length.toLocaleString('en')}</Badge> are shown. Type a part of a
            name to find others.
          </p>
        )}
      </div>
    </Page>
  );
}
