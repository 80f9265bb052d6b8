// Why a user can or can't sign in: what stands in the way, the steps, the last attempts; and another situation tried out.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getSignInReport } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { option, realmctl, word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { InLocalTime, Time } from '../../ui/time.tsx';
import { PathPanel, RiskBadge, RiskFindings } from '../sign-in/path.tsx';
import { Simulation } from './simulation.tsx';
import type { UserTab } from './user.tsx';
import { Unlock } from './user-actions.tsx';
import { actionWords } from './words.ts';

type SignInReport = OutputOf<typeof getSignInReport>;

export default function Report({ realm, user }: UserTab) {
  const may = useMay();
  const { get, set } = useFilters();
  const clientId = get('client');
  const [typed, setTyped] = useState(clientId);
  const input = { params: { realm, userId: user.id }, query: clientId === '' ? {} : { clientId } };
  const report = useRead(getSignInReport, input, { keep: true });
  const found = report.data?.body;
  return (
    <div className="stack">
      <div className="list-tools">
        {may.partly(realm, 'clients:read') && (
          <>
            <ReferenceField
              realm={realm}
              kind="client"
              label="Application"
              hideLabel
              value={typed || null}
              onChange={(value) => setTyped(value ?? '')}
            />
            {typed !== clientId && (
              <Button onPress={() => set({ client: typed })}>
                {typed === '' ? 'Show for any application' : 'Show for this application'}
              </Button>
            )}
          </>
        )}
        <div className="spread">
          <AsCommand
            commands={() => ({
              realmctl: realmctl(
                'why user',
                [user.username],
                `-r ${word(realm)}`,
                ...(clientId === '' ? [] : [option('--client', clientId)]),
              ),
              curl: curlOf(getSignInReport, input.params, undefined, input.query),
            })}
          />
        </div>
      </div>
      {report.error && <ProblemNote problem={report.error} retry={() => void report.refetch()} />}
      {!found && !report.error && <Loading lines={8} />}
      {found && (
        <>
          <Verdict realm={realm} user={user} report={found} />
          <PathPanel
            title={found.canSignIn ? 'The steps of a sign-in now' : 'The steps that the flow asks for'}
            path={found.path}
            isBarred={!found.canSignIn}
          />
          <Attempts attempts={found.attempts} />
          <Simulation realm={realm} user={user} clientId={clientId} />
        </>
      )}
    </div>
  );
}

function Verdict({ realm, user, report }: Pick<UserTab, 'realm' | 'user'> & { report: SignInReport }) {
  const may = useMay();
  const [unlocks, setUnlocks] = useState(false);
  const { canSignIn, obstacles, lock, requiredActions } = report;
  return (
    <>
      <Note tone={canSignIn ? 'good' : 'bad'}>
        <strong>
          <bdi>{user.username}</bdi> {canSignIn ? 'can sign in now.' : 'can’t sign in now.'}
        </strong>
        {obstacles.length > 0 && (
          <ul>
            {obstacles.map(({ code, message }) => (
              <li key={code}>
                <InLocalTime text={message} />
              </li>
            ))}
          </ul>
        )}
        {lock.failures > 0 && !lock.locked && <span>{lock.message}</span>}
        {lock.locked && may.partly(realm, 'users:write') && (
          <span>
            <Button small onPress={() => setUnlocks(true)}>
              Unlock
            </Button>
          </span>
        )}
      </Note>
      {requiredActions.length > 0 && (
        <Note>
          <strong>At the next sign-in the user must:</strong>
          <ul>
            {requiredActions.map((action) => (
              <li key={action}>{actionWords[action]}</li>
            ))}
          </ul>
        </Note>
      )}
      {unlocks && <Unlock realm={realm} user={user} onClose={() => setUnlocks(false)} />}
    </>
  );
}

const outcomes = { success: 'good', failure: 'bad', denied: 'bad' } as const;

function Attempts({ attempts }: { attempts: SignInReport['attempts'] }) {
  return (
    <Panel title="Last attempts" plain>
      {attempts === null ? (
        <div className="content">
          <Note>The attempts need the permission events:read, or sessions:read for the user.</Note>
        </div>
      ) : (
        <Table
          label="Last attempts"
          rows={attempts}
          idOf={({ id }) => id}
          columns={[
            { id: 'at', head: 'when', cell: ({ at }) => <Time ms={at} /> },
            {
              id: 'outcome',
              head: 'outcome',
              cell: ({ outcome, type }) =>
                type === 'USER_LOCKED' ? (
                  <Badge tone="bad">locked</Badge>
                ) : (
                  <Badge tone={outcomes[outcome]}>{outcome}</Badge>
                ),
            },
            {
              id: 'message',
              head: 'what happened',
              cell: ({ message, risk }) => (
                <div className="stack tight">
                  <span>{message}</span>
                  {risk && risk.findings.length > 0 && <RiskFindings risk={risk} />}
                </div>
              ),
            },
            { id: 'risk', head: 'risk', cell: ({ risk }) => (risk ? <RiskBadge risk={risk} /> : <Nothing />) },
            {
              id: 'client',
              head: 'application',
              cell: ({ clientId }) => (clientId ? <bdi>{clientId}</bdi> : <Nothing />),
            },
            {
              id: 'address',
              head: 'address',
              cell: ({ ipAddress }) => (ipAddress ? <code>{ipAddress}</code> : <Nothing />),
            },
          ]}
          empty={<p className="hint pad">The audit log has no attempt of the user.</p>}
        />
      )}
    </Panel>
  );
}

const Nothing = () => <span className="none">–</span>;
