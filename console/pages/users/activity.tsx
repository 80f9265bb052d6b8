// The audit log of a user: actions of the user, and actions on the user.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { listEvents } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Facts, Panel } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserTab } from './user.tsx';

type Event = OutputOf<typeof listEvents>[number];
const PAGE_ROWS = 50;
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

const nameOf = (party: Event['actor']): string => party?.name ?? party?.id ?? '–';

export default function Activity({ realm, user }: UserTab) {
  const { get, set } = useFilters();
  const type = kinds.find(({ id }) => id === get('type'))?.id;
  const outcome = outcomes.find(({ id }) => id === get('outcome'))?.id;
  const cursor = get('events');
  const [shown, setShown] = useState<Event>();
  const query = { userId: user.id, ...(type && { type }), ...(outcome && { outcome }) };
  const events = useRead(
    listEvents,
    { params: { realm }, query: { ...query, limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) } },
    { keep: true },
  );
  const rows = events.data?.body ?? [];
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
            onChange={(id) => set({ type: id ?? undefined, events: undefined })}
          />
        </div>
        <div className="state-filter">
          <Select
            label="Outcome"
            hideLabel
            none="Any outcome"
            options={outcomes}
            value={outcome ?? null}
            onChange={(id) => set({ outcome: id ?? undefined, events: undefined })}
          />
        </div>
        <div className="spread">
          <AsCommand commands={() => requestCommands(listEvents, { realm }, undefined, query)} />
        </div>
      </div>
      {events.error && <ProblemNote problem={events.error} retry={() => void events.refetch()} />}
      {!events.data && !events.error && (
        <Panel plain>
          <Loading lines={8} />
        </Panel>
      )}
      {events.data && (
        <Table
          label="Events about the user"
          rows={rows}
          idOf={({ id }) => id}
          onOpen={setShown}
          stale={events.isPlaceholderData}
          columns={[
            { id: 'type', head: 'event', cell: (event) => <code>{event.type}</code> },
            { id: 'at', head: 'when', cell: ({ occurredAt }) => <Time ms={occurredAt} /> },
            { id: 'actor', head: 'by', cell: ({ actor }) => <bdi>{nameOf(actor)}</bdi> },
            { id: 'client', head: 'application', cell: ({ clientId }) => <bdi>{clientId ?? '–'}</bdi> },
            { id: 'address', head: 'address', cell: ({ ipAddress }) => <code>{ipAddress ?? '–'}</code> },
            {
              id: 'outcome',
              head: 'outcome',
              cell: (event) => <Badge tone={event.outcome === 'success' ? 'good' : 'bad'}>{event.outcome}</Badge>,
            },
          ]}
          empty={<p className="hint pad">The audit log has no such event of the user.</p>}
        />
      )}
      {rows.length > 0 && (
        <Pager shown={rows.length} total={events.data?.total} nextCursor={events.data?.nextCursor} filter="events" />
      )}
      {shown && <OneEvent event={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}

function OneEvent({ event, onClose }: { event: Event; onClose: () => void }) {
  return (
    <Dialog
      title={event.type}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <Button variant="primary" onPress={onClose}>
          Close
        </Button>
      }
    >
      <Facts
        facts={[
          { name: 'When', value: <Time ms={event.occurredAt} full /> },
          { name: 'By', value: <bdi>{nameOf(event.actor)}</bdi> },
          { name: 'About', value: <bdi>{nameOf(event.subject)}</bdi> },
          { name: 'Application', value: <bdi>{event.clientId ?? '–'}</bdi> },
          { name: 'Address', value: <code>{event.ipAddress ?? '–'}</code> },
          { name: 'Outcome', value: event.outcome },
        ]}
      />
      <Code text={JSON.stringify(event.data, null, 2)} label="the data of the event" />
    </Dialog>
  );
}
