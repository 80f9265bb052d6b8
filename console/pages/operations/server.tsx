// The server as a whole, for administrators of every realm: its counts since it started, how the audit log is kept, the SIEM.
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getAuditConfig, getMetricsSummary } from '../../generated/routes.ts';
import { allCommands, requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { Facts, Page, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

const LOOK_SECONDS = 10;
const BYTES_IN_MIB = 1024 * 1024;
/** A count of waiting events that stands for more. */
const COUNTED_WAITING = 100_000;

const number = (count: number): string => count.toLocaleString('en');
const mib = (bytes: number): string => `${number(Math.round(bytes / BYTES_IN_MIB))} MiB`;

export default function Server() {
  const may = useMay();
  const mayCount = may.everywhere('realm:read');
  const mayAudit = may.everywhere('events:read');
  const metrics = useRead(getMetricsSummary, {}, { enabled: mayCount, everySeconds: LOOK_SECONDS });
  const audit = useRead(getAuditConfig, {}, { enabled: mayAudit, everySeconds: LOOK_SECONDS });
  return (
    <Page
      title="Server"
      lead="How the server works, over all realms."
      crumbs={[{ label: 'Realms', to: '/realms' }]}
      actions={
        <AsCommand
          commands={() =>
            allCommands([
              ...(mayCount ? [requestCommands(getMetricsSummary, {})] : []),
              ...(mayAudit ? [requestCommands(getAuditConfig, {})] : []),
            ])
          }
        />
      }
    >
      <div className="stack">
        {metrics.error && <ProblemNote problem={metrics.error} retry={() => void metrics.refetch()} />}
        {metrics.data?.body && <Counts metrics={metrics.data.body} />}
        {audit.error && <ProblemNote problem={audit.error} retry={() => void audit.refetch()} />}
        {audit.data?.body && <Audit config={audit.data.body} />}
        {((mayCount && metrics.isPending) || (mayAudit && audit.isPending)) && <Loading lines={6} />}
      </div>
    </Page>
  );
}

function Counts({ metrics }: { metrics: OutputOf<typeof getMetricsSummary> }) {
  const { startedAt, realms, logins, tokensIssued, mfaChallenges, adminWrites, memory } = metrics;
  return (
    <Panel title="Since its start" lead="Of the replica that answered; others count for themselves." plain>
      <Facts
        facts={[
          { name: 'Started', value: <Time ms={startedAt} full /> },
          { name: 'Realms', value: number(realms) },
          { name: 'Sign-ins', value: `${number(logins.success)} succeeded, ${number(logins.failure)} failed` },
          { name: 'Tokens issued', value: number(tokensIssued) },
          { name: 'Second factors asked for', value: number(mfaChallenges) },
          {
            name: 'Changes of administrators',
            value: `${number(adminWrites.success)} done, ${number(adminWrites.denied)} denied, ${number(adminWrites.failure)} failed`,
          },
          {
            name: 'Memory',
            value: `${mib(memory.residentBytes)}, of which the heap uses ${mib(memory.heapUsedBytes)}`,
          },
        ]}
      />
    </Panel>
  );
}

function Audit({ config }: { config: OutputOf<typeof getAuditConfig> }) {
  const { enabled, store, retentionDays, forwarding } = config;
  return (
    <>
      <Panel
        title="Audit log"
        plain
        actions={<Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'kept' : 'not kept'}</Badge>}
      >
        <Facts
          facts={[
            { name: 'Kept in', value: store },
            {
              name: 'Kept for',
              value: retentionDays === null ? 'As long as the realm exists' : `${number(retentionDays)} days`,
            },
          ]}
        />
      </Panel>
      <Panel
        title="Forwarding to a SIEM"
        lead="Set where the server is configured; this shows how it goes."
        plain
        actions={<Badge tone={forwarding.enabled ? 'good' : 'warn'}>{forwarding.enabled ? 'on' : 'off'}</Badge>}
      >
        {!forwarding.enabled ? (
          <div className="content">
            <Note>
              Events stay in the database alone. The documentation says how the server sends them to a SIEM: the
              variables begin with <code>SVC_SIEM</code>.
            </Note>
          </div>
        ) : (
          <Forwarding forwarding={forwarding} />
        )}
      </Panel>
    </>
  );
}

function Forwarding({ forwarding }: Pick<OutputOf<typeof getAuditConfig>, 'forwarding'>) {
  const { target, format, waiting, oldestWaitingAt, sent, lastSentAt, lastError, cut, lastCutId } = forwarding;
  return (
    <>
      {lastError !== null && (
        <div className="content">
          <Note tone="bad">
            <strong>The receiver did not take the last events. They are sent again.</strong>
            <bdi>{lastError}</bdi>
          </Note>
        </div>
      )}
      <Facts
        facts={[
          { name: 'Receiver', value: <bdi>{target ?? 'not shown'}</bdi> },
          { name: 'Format', value: format ?? 'not set' },
          { name: 'Sent', value: number(sent) },
          { name: 'Last sent', value: <Time ms={lastSentAt} full /> },
          {
            name: 'Waiting',
            value:
              waiting === 0 ? (
                'none'
              ) : (
                <span>
                  {number(waiting)}
                  {waiting >= COUNTED_WAITING && ' or more'}, the oldest since <Time ms={oldestWaitingAt} />
                </span>
              ),
          },
          ...(cut === 0
            ? []
            : [
                {
                  name: 'Sent without their data',
                  value: (
                    <span className="row">
                      {number(cut)}, because the receiver refused them again and again.
                      {lastCutId !== null && (
                        <>
                          The last: <code>{lastCutId}</code>
                          <CopyButton text={lastCutId} label="Copy the id of the last" />
                        </>
                      )}
                    </span>
                  ),
                },
              ]),
        ]}
      />
    </>
  );
}
