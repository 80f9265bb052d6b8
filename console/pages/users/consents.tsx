// The consents of a user, by application.
import { useRead } from '../../api/queries.ts';
import { listUserConsents } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Chips } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserTab } from './user.tsx';

export default function Consents({ realm, user }: UserTab) {
  const params = { realm, userId: user.id };
  const consents = useRead(listUserConsents, { params });
  return (
    <Panel
      title="Consents"
      lead="The user takes a consent back on the account page."
      plain
      actions={<AsCommand quiet commands={() => requestCommands(listUserConsents, params)} />}
    >
      {consents.error && <ProblemNote problem={consents.error} retry={() => void consents.refetch()} />}
      {!consents.data && !consents.error && <Loading lines={4} />}
      {consents.data && (
        <Table
          label="Consents"
          rows={consents.data.body ?? []}
          idOf={({ clientId }) => clientId}
          columns={[
            {
              id: 'client',
              head: 'application',
              cell: ({ clientName, clientId }) => <bdi>{clientName ?? clientId}</bdi>,
            },
            { id: 'scopes', head: 'scopes', cell: ({ scopes }) => <Chips items={scopes} most={5} /> },
            { id: 'resources', head: 'for', cell: ({ resources }) => <Chips items={resources} most={3} /> },
            { id: 'claims', head: 'further claims', cell: ({ claims }) => <Chips items={claims} most={5} /> },
            { id: 'granted', head: 'first given', cell: ({ grantedAt }) => <Time ms={grantedAt} /> },
            { id: 'updated', head: 'last given', cell: ({ updatedAt }) => <Time ms={updatedAt} /> },
          ]}
          empty={
            <Empty icon="check" title="The user has agreed to nothing">
              <p>Only clients that ask for consent are listed here.</p>
            </Empty>
          }
        />
      )}
    </Panel>
  );
}
