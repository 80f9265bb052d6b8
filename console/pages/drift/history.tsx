// The plans that were applied to a realm, newest first.
import { Link } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listHistory } from '../../generated/routes.ts';
import { shortManager } from '../../kinds/managers.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Panel } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { PartyName } from '../audit/party.tsx';

/** `+2 ~1 −0`, in words for screen readers. */
export function Counts({ create, update, delete: deleted }: { create: number; update: number; delete: number }) {
  return (
    <span className="row">
      {create > 0 && <Badge tone="good">{create} made</Badge>}
      {update > 0 && <Badge tone="info">{update} changed</Badge>}
      {deleted > 0 && <Badge tone="bad">{deleted} deleted</Badge>}
      {create + update + deleted === 0 && <span className="none">ownership alone</span>}
    </span>
  );
}

export const historyAddress = (realm: string, revision: number): string =>
  inRealm(realm, 'declared', 'history', String(revision));

export const usersImported = (realm: string): string =>
  `${inRealm(realm, 'events')}?${new URLSearchParams({ type: 'USERS_IMPORTED' })}`;

/** Why a manager that has applied users alone has no plan here. */
function ImportsOfUsers({ realm }: { realm: string }) {
  const may = useMay();
  return (
    <p>
      An import of users alone is kept as an event, without what it said of them.
      {may(realm, 'events:read') && (
        <>
          {' '}
          <Link href={usersImported(realm)}>Imports of users</Link>
        </>
      )}
    </p>
  );
}

export function History({ realm }: { realm: string }) {
  const filters = useFilters();
  const cursor = filters.get('cursor') || undefined;
  const manager = filters.get('manager');
  const plans = useRead(
    listHistory,
    {
      params: { realm },
      query: {
        limit: PAGE_ROWS,
        ...(cursor !== undefined && { cursor }),
        ...(manager !== '' && { manager }),
      },
    },
    { keep: true },
  );
  const rows = plans.data?.body;
  if (rows?.length === 0 && manager === '' && cursor === undefined)
    return (
      <Panel>
        <Empty icon="history" title="No document was applied yet">
          <p>
            Each plan that the operator, <code>realmctl</code> or a pipeline applies is kept here with its differences,
            and can be taken back. Changes by single requests are in the events.
          </p>
          <ImportsOfUsers realm={realm} />
        </Empty>
      </Panel>
    );
  return (
    <div className="list">
      <div className="list-tools">
        <Find
          label="Manager, as a whole name"
          value={manager}
          onChange={(text) => filters.set({ manager: text.trim(), cursor: undefined })}
        />
      </div>
      <Paged
        label="Applied plans"
        read={plans}
        idOf={({ revision }) => String(revision)}
        to={({ revision }) => historyAddress(realm, revision)}
        columns={[
          { id: 'revision', head: 'revision', cell: ({ revision }) => revision.toLocaleString('en') },
          { id: 'at', head: 'applied', cell: ({ appliedAt }) => <Time ms={appliedAt} /> },
          { id: 'what', head: 'what', cell: (plan) => <Counts {...plan} /> },
          { id: 'manager', head: 'as manager', cell: (plan) => <bdi>{shortManager(plan.manager)}</bdi> },
          { id: 'by', head: 'by', cell: ({ by }) => <PartyName party={by} /> },
          {
            id: 'undoes',
            head: 'takes back',
            cell: ({ undoes }) => (undoes === null ? <span className="none">none</span> : undoes.toLocaleString('en')),
          },
        ]}
        empty={
          <Empty icon="search" title="No plan of this manager is kept">
            <p>The name must be the whole one, as the list of managers has it.</p>
            <ImportsOfUsers realm={realm} />
          </Empty>
        }
      />
    </div>
  );
}
