// A user's live sessions, and what applications may do while the user is signed out.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import {
  endOfflineSession,
  endSession,
  endUserSessions,
  listOfflineSessions,
  listUserSessions,
} from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { option, realmctl, word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserTab } from './user.tsx';

type Of = Pick<UserTab, 'realm' | 'user'>;
type Session = OutputOf<typeof listUserSessions>[number];
type Offline = OutputOf<typeof listOfflineSessions>[number];

export default function Sessions({ realm, user }: UserTab) {
  const may = useMay();
  return (
    <div className="stack">
      <Live realm={realm} user={user} />
      {may(realm, 'sessions:read') && <WhileSignedOut realm={realm} user={user} />}
    </div>
  );
}

const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/curl\//, 'curl'],
];
const systems: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];
/** `Firefox on Linux`; the header itself where it names neither. */
export function browserWords(userAgent: string | null): string {
  if (userAgent === null) return 'unknown browser';
  const find = (list: readonly [RegExp, string][]) => list.find(([test]) => test.test(userAgent))?.[1];
  const words = [find(browsers), find(systems)].filter((one) => one !== undefined).join(' on ');
  return words === '' ? userAgent : words;
}

function Live({ realm, user }: Of) {
  const may = useMay();
  const cursor = useFilters().get('sessions');
  const params = { realm, userId: user.id };
  const sessions = useRead(
    listUserSessions,
    { params, query: { limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) } },
    { keep: true },
  );
  const [ended, setEnded] = useState<Session | 'all'>();
  return (
    <Panel
      title="Live sessions"
      plain
      actions={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: `realmctl sessions list ${option('--user', user.username)} -r ${word(realm)}`,
              curl: curlOf(listUserSessions, params),
            })}
          />
          {may.partly(realm, 'sessions:write') && (
            <Button small onPress={() => setEnded('all')}>
              End all
            </Button>
          )}
        </>
      }
    >
      <Paged
        label="Live sessions"
        read={sessions}
        filter="sessions"
        idOf={({ id }) => id}
        columns={[
          {
            id: 'browser',
            head: 'browser',
            cell: ({ userAgent, impersonator }) => (
              <span className="row">
                <span title={userAgent ?? undefined}>{browserWords(userAgent)}</span>
                {impersonator !== null && (
                  <Badge tone="warn">
                    acted in by <bdi>{impersonator}</bdi>
                  </Badge>
                )}
              </span>
            ),
          },
          { id: 'address', head: 'address', cell: ({ ipAddress }) => <code>{ipAddress ?? '–'}</code> },
          { id: 'clients', head: 'applications', cell: ({ clients }) => <Chips items={clients} most={3} /> },
          { id: 'started', head: 'began', cell: ({ startedAt }) => <Time ms={startedAt} /> },
          { id: 'seen', head: 'last seen', cell: ({ lastSeenAt }) => <Time ms={lastSeenAt} /> },
          { id: 'expires', head: 'ends', cell: ({ expiresAt }) => <Time ms={expiresAt} /> },
          { id: 'level', head: 'level', numeric: true, cell: ({ levelOfAssurance }) => levelOfAssurance },
          ...actionsColumn(may(realm, 'sessions:write'), (row: Session) => (
            <IconButton
              label={`End the session in ${browserWords(row.userAgent)}`}
              icon="close"
              small
              onPress={() => setEnded(row)}
            />
          )),
        ]}
        empty={<p className="hint pad">The user is signed in nowhere.</p>}
      />
      {ended === 'all' && <EndAll realm={realm} user={user} onClose={() => setEnded(undefined)} />}
      {ended !== undefined && ended !== 'all' && (
        <EndOne realm={realm} session={ended} onClose={() => setEnded(undefined)} />
      )}
    </Panel>
  );
}

function EndAll({ realm, user, onClose }: Of & { onClose: () => void }) {
  return (
    <ConfirmWrite
      title={`End all sessions of ${user.username}?`}
      action="End all"
      route={endUserSessions}
      input={{ params: { realm, userId: user.id } }}
      realmctl={`realmctl sessions end ${option('--user', user.username)} -r ${word(realm)}`}
      done="Ended all sessions of the user."
      onClose={onClose}
    >
      <p>All tokens end too, those for offline access included. The user can sign in again.</p>
    </ConfirmWrite>
  );
}

function EndOne({ realm, session, onClose }: { realm: string; session: Session; onClose: () => void }) {
  return (
    <ConfirmWrite
      title="End this session?"
      action="End the session"
      route={endSession}
      input={{ params: { realm, id: session.id } }}
      realmctl={realmctl('sessions end', [session.id], `-r ${word(realm)}`)}
      done="Ended the session."
      onClose={onClose}
    >
      <p>
        The session in {browserWords(session.userAgent)} ends, with its tokens. Applications that can be told are told.
      </p>
    </ConfirmWrite>
  );
}

function WhileSignedOut({ realm, user }: Of) {
  const may = useMay();
  const mayWrite = may(realm, 'sessions:write');
  const params = { realm, userId: user.id };
  const offline = useRead(listOfflineSessions, { params, query: { limit: PAGE_ROWS } });
  const [ended, setEnded] = useState<Offline>();
  const rows = offline.data?.body ?? [];
  return (
    <Panel title="Offline access" lead="Applications that may act for the user while the user is signed out." plain>
      {offline.error && <ProblemNote problem={offline.error} retry={() => void offline.refetch()} />}
      {!offline.data && !offline.error && <Loading lines={2} />}
      {offline.data && (
        <Table
          label="Offline access"
          rows={rows}
          idOf={({ id }) => id}
          columns={[
            {
              id: 'client',
              head: 'application',
              cell: ({ clientName, clientId }) => <bdi>{clientName ?? clientId}</bdi>,
            },
            { id: 'scopes', head: 'scopes', cell: ({ scopes }) => <Chips items={scopes} most={4} /> },
            { id: 'started', head: 'began', cell: ({ startedAt }) => <Time ms={startedAt} /> },
            { id: 'used', head: 'last used', cell: ({ lastRefreshedAt }) => <Time ms={lastRefreshedAt} /> },
            { id: 'expires', head: 'ends', cell: ({ expiresAt }) => <Time ms={expiresAt} /> },
            ...actionsColumn(mayWrite, (row: Offline) => (
              <IconButton
                label={`End the offline access of ${row.clientName ?? row.clientId}`}
                icon="close"
                small
                onPress={() => setEnded(row)}
              />
            )),
          ]}
          empty={<p className="hint pad">No application has offline access for the user.</p>}
        />
      )}
      {offline.data?.nextCursor !== undefined && (
        <p className="hint pad">Only the newest {PAGE_ROWS} are shown. End some to see older ones.</p>
      )}
      {ended && (
        <ConfirmWrite
          title={`End the offline access of ${ended.clientName ?? ended.clientId}?`}
          action="End it"
          route={endOfflineSession}
          input={{ params: { ...params, id: ended.id } }}
          done="Ended the offline access."
          onClose={() => setEnded(undefined)}
        >
          <p>Its refresh and access tokens end. The application has to send the user through a sign-in again.</p>
        </ConfirmWrite>
      )}
    </Panel>
  );
}
