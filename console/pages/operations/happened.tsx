// Events of one type, as an operation that failed.
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listEvents, retryLogout } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { WriteInRow } from '../../kinds/write-in-row.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { useOpened } from '../../ui/opened.ts';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EventOfAddress } from '../audit/event-details.tsx';
import { type AuditEvent, PartyName } from '../audit/party.tsx';

const text = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

export function Happened({
  realm,
  type,
  lead,
  empty,
}: {
  realm: string;
  type: 'BACKCHANNEL_LOGOUT_FAILED' | 'WORKLOAD_TOKEN_REFUSED';
  lead: string;
  empty: string;
}) {
  const { get } = useFilters();
  const { open } = useOpened('event');
  const may = useMay();
  const again = useWrite(retryLogout);
  const cursor = get('cursor') || undefined;
  const events = useRead(
    listEvents,
    { params: { realm }, query: { type, limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { keep: true, fill: true },
  );
  const isLogout = type === 'BACKCHANNEL_LOGOUT_FAILED';
  const columns: TableColumn<AuditEvent>[] = [
    isLogout
      ? { id: 'client', head: 'application', cell: ({ clientId }) => <bdi>{clientId ?? 'unknown'}</bdi> }
      : {
          id: 'actor',
          head: 'workload',
          cell: ({ actor, data }) =>
            actor ? <PartyName party={actor} /> : <bdi>{text(data.subject) || 'unknown'}</bdi>,
        },
    { id: 'reason', head: 'why', cell: ({ data }) => <bdi>{text(data.reason) || 'no reason was noted'}</bdi> },
    isLogout
      ? { id: 'user', head: 'user', cell: ({ subject }) => <PartyName party={subject} /> }
      : { id: 'issuer', head: 'issuer', cell: ({ data }) => <bdi>{text(data.issuer) || 'unknown'}</bdi> },
    ...(isLogout
      ? []
      : [{ id: 'from', head: 'from', cell: ({ ipAddress }: AuditEvent) => <code>{ipAddress ?? 'unknown'}</code> }]),
    { id: 'at', head: 'when', cell: ({ occurredAt }) => <Time ms={occurredAt} /> },
    ...(isLogout && may(realm, 'sessions:write')
      ? [
          {
            id: 'again',
            head: 'tell again',
            cell: ({ id, clientId }: AuditEvent) => (
              <WriteInRow
                write={again}
                input={{ params: { realm, id } }}
                words="Try again"
                name={`Try again: the logout at ${clientId ?? 'the application'}`}
                done="The application is told again."
                command={`tell ${clientId ?? 'the application'} of the logout again`}
                commands={() => ({
                  realmctl: realmctl('retry logout', [id], `-r ${word(realm)}`),
                  curl: curlOf(retryLogout, { realm, id }),
                })}
              />
            ),
          },
        ]
      : []),
  ];
  return (
    <div className="list">
      <div className="list-tools">
        <p className="soft">{lead}</p>
        <div className="spread">
          <ButtonLink to={`${inRealm(realm, 'events')}?${new URLSearchParams({ type, follow: '1' })}`}>
            Follow
          </ButtonLink>
          {!isLogout && <ButtonLink to={inRealm(realm, 'workload-identity')}>Workload identities</ButtonLink>}
        </div>
      </div>
      {again.error && <ProblemNote problem={again.error} />}
      <Paged
        label={isLogout ? 'Logouts that failed' : 'Refused workloads'}
        read={events}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        empty={
          <Empty icon="check" title={empty}>
            <p>Failures are listed here as long as the realm keeps its events.</p>
          </Empty>
        }
      />
      <EventOfAddress realm={realm} rows={events.data?.body} />
    </div>
  );
}
