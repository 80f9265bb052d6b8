// One event with all that it says, and the events that are near it.
import { Link } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { getEvent } from '../../generated/routes.ts';
import { BASE, inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Code, CopyButton } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useFilters } from '../../ui/filters.ts';
import { useOpened } from '../../ui/opened.ts';
import { Facts } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { OutcomeBadge } from './event-columns.tsx';
import { type AuditEvent, nameOfParty, PartyName, SubjectName } from './party.tsx';

const AROUND_MS = 60_000;

const eventsWith = (realm: string, filters: Record<string, string>): string =>
  `${inRealm(realm, 'events')}?${new URLSearchParams(filters)}`;

/** An address at which the event is found whatever came after it. */
export const eventAddress = (realm: string, { id, occurredAt }: AuditEvent): string =>
  eventsWith(realm, { from: String(occurredAt), to: String(occurredAt + 1), event: id });

/** The event that the address names, as a dialog: one of the rows that are shown, or one of another page. */
export function EventOfAddress({ realm, rows }: { realm: string; rows: readonly AuditEvent[] | undefined }) {
  const { get } = useFilters();
  const { close: onClose } = useOpened('event');
  const id = get('event');
  const listed = rows?.find((row) => row.id === id);
  const other = useRead(
    getEvent,
    { params: { realm, id } },
    { enabled: id !== '' && rows !== undefined && listed === undefined },
  );
  if (id === '') return null;
  const event = listed ?? other.data?.body;
  if (event) return <EventDetails event={event} realm={realm} onClose={onClose} />;
  return (
    other.error && (
      <Dialog title="This event can’t be shown" isOpen onClose={onClose}>
        <ProblemNote problem={other.error} />
      </Dialog>
    )
  );
}

function EventDetails({ event, realm, onClose }: { event: AuditEvent; realm: string; onClose: () => void }) {
  const { id, type, occurredAt, actor, clientId, ipAddress, outcome, data } = event;
  return (
    <Dialog
      title={type}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <>
          <ButtonLink
            to={eventsWith(realm, { from: String(occurredAt - AROUND_MS), to: String(occurredAt + AROUND_MS) })}
          >
            The minute before and after
          </ButtonLink>
          {actor !== null && (
            <ButtonLink to={eventsWith(realm, { actor: actor.id ?? nameOfParty(actor) })}>
              All by {nameOfParty(actor)}
            </ButtonLink>
          )}
        </>
      }
    >
      <Facts
        facts={[
          { name: 'When', value: <Time ms={occurredAt} full /> },
          { name: 'Outcome', value: <OutcomeBadge outcome={outcome} /> },
          { name: 'Done by', value: <PartyName party={actor} realm={realm} /> },
          { name: 'Done to', value: <SubjectName event={event} realm={realm} /> },
          ...(clientId === null
            ? []
            : [
                {
                  name: 'Client',
                  value: (
                    <Link href={`${inRealm(realm, 'clients')}?${new URLSearchParams({ q: clientId })}`}>
                      {clientId}
                    </Link>
                  ),
                },
              ]),
          ...(ipAddress === null
            ? []
            : [{ name: 'From', value: <Link href={eventsWith(realm, { ipAddress })}>{ipAddress}</Link> }]),
          {
            name: 'Id',
            value: (
              <span className="row">
                <code>{id}</code>
                <CopyButton text={id} label="Copy the id" />
                <CopyButton
                  text={location.origin + BASE + eventAddress(realm, event)}
                  label="Copy the address of this event"
                />
              </span>
            ),
          },
        ]}
      />
      {Object.keys(data).length > 0 && <Code text={JSON.stringify(data, null, 2)} label="Data of the event" />}
    </Dialog>
  );
}
