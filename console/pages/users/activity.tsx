// The audit log of a user: actions of the user, and actions on the user.
import { useRead } from '../../api/queries.ts';
import { listEvents } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { eventColumns } from '../audit/event-columns.tsx';
import { EventOfAddress } from '../audit/event-details.tsx';
import type { UserTab } from './user.tsx';

const outcomes = [
  { id: 'success', label: 'Success' },
  { id: 'failure', label: 'Failure' },
  { id: 'denied', label: 'Denied' },
] as const;
const kinds = [
  { id: 'LOGIN_SUCCESS,LOGIN_FAILURE', label: 'Sign-ins' },
  { id: 'ADMIN_WRITE', label: 'Changes by administrators' },
  { id: 'CREDENTIAL_CREATED,CREDENTIAL_DELETED', label: 'Credentials' },
] as const;

export default function Activity({ realm, user }: UserTab) {
  const { get, set } = useFilters();
  const type = kinds.find(({ id }) => id === get('type'))?.id;
  const outcome = outcomes.find(({ id }) => id === get('outcome'))?.id;
  const cursor = get('cursor');
  const query = { userId: user.id, ...(type && { type }), ...(outcome && { outcome }) };
  const events = useRead(
    listEvents,
    { params: { realm }, query: { ...query, limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) } },
    { keep: true, fill: true },
  );
  return (
    <div className="stack">
      <div className="list-tools">
        <div className="state-filter">
          <Select
            label="Events"
            hideLabel
            none="All events"
            options={kinds}
            value={type ?? null}
            onChange={(id) => set({ type: id ?? undefined, cursor: undefined })}
          />
        </div>
        <div className="state-filter">
          <Select
            label="Outcome"
            hideLabel
            none="Any outcome"
            options={outcomes}
            value={outcome ?? null}
            onChange={(id) => set({ outcome: id ?? undefined, cursor: undefined })}
          />
        </div>
        <div className="spread">
          <AsCommand commands={() => requestCommands(listEvents, { realm }, undefined, query)} />
        </div>
      </div>
      <Paged
        label="Events about the user"
        read={events}
        columns={eventColumns}
        idOf={({ id }) => id}
        onOpen={({ id }) => set({ event: id })}
        empty={<p className="hint pad">The audit log has no such event of the user.</p>}
      />
      <EventOfAddress realm={realm} rows={events.data?.body} />
    </div>
  );
}
