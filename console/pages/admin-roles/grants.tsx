// Which admin roles a user, or a client's service account, holds and over which realm. The holder is in the address.
import { useState } from 'react';
import type { ConsoleAnswer, OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getClientAdminRoles, getUserAdminRoles } from '../../generated/routes.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { UserField } from '../../kinds/user-field.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { GrantForm } from './grant-form.tsx';

export type GrantsAnswer = ConsoleAnswer<OutputOf<typeof getUserAdminRoles>>;
export interface Holder {
  is: 'user' | 'client';
  id: string;
}

export function Grants({ realm }: { realm: string }) {
  const may = useMay();
  const filters = useFilters();
  const kind = filters.get('of') === 'client' ? 'client' : 'user';
  const id = filters.get('holder') || null;
  const ofUser = useRead(
    getUserAdminRoles,
    { params: { realm, userId: id ?? '' } },
    { enabled: kind === 'user' && id !== null },
  );
  const ofClient = useRead(
    getClientAdminRoles,
    { params: { realm, id: id ?? '' } },
    { enabled: kind === 'client' && id !== null },
  );
  const grants = kind === 'user' ? ofUser : ofClient;
  // the form begins anew with what was read when another administrator was faster
  const [round, setRound] = useState(0);
  return (
    <div className="flow-split">
      <Panel title="Holder">
        <div className="stack">
          {may.partly(realm, 'clients:read') && (
            <Select
              label="Grants of"
              value={kind}
              onChange={(value) => filters.set({ of: value === 'client' ? 'client' : null, holder: null })}
              options={[
                { id: 'user', label: 'A user' },
                { id: 'client', label: 'A client', help: 'Its service account' },
              ]}
            />
          )}
          {kind === 'user' ? (
            <UserField
              key="user"
              realm={realm}
              label="User"
              value={id}
              onChange={(holder) => filters.set({ holder })}
            />
          ) : (
            <ReferenceField
              key="client"
              realm={realm}
              kind="client"
              label="Client"
              byId
              value={id}
              onChange={(holder) => filters.set({ holder })}
            />
          )}
        </div>
      </Panel>
      {id === null ? (
        <Panel plain>
          <Empty icon="key" title="Choose a user or a client">
            <p>Its grants are shown here: each is an admin role, and the realm over which it counts.</p>
          </Empty>
        </Panel>
      ) : grants.error ? (
        <ProblemNote problem={grants.error} retry={() => void grants.refetch()} />
      ) : !grants.data ? (
        <Loading lines={4} />
      ) : (
        <GrantForm
          key={`${kind} ${id} ${round}`}
          realm={realm}
          holder={{ is: kind, id }}
          read={grants.data}
          onStale={() => {
            void grants.refetch().then(() => setRound(round + 1));
          }}
        />
      )}
    </div>
  );
}
