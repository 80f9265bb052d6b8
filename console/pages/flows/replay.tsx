// "Replay": the last days' sign-ins against the flow as it is edited: who would be asked for more, and who would be locked out. The
// period is in the address.
import { useMemo } from 'react';
import { Link } from 'wouter';
import { DAY_MS } from '../../../server/contract/durations.ts';
import type { OutputOf } from '../../api/client.ts';
import { useAsked } from '../../api/queries.ts';
import { replayFlow } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { bodyOf, type Tree } from './tree-model.ts';

type Found = OutputOf<typeof replayFlow>;
type Outcome = Found['outcomes'][number]['outcome'];
type Affected = NonNullable<Found['affected']>[number];

const periods = [
  { days: 1, label: '24 hours' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
] as const;
const USUAL_DAYS = 7;
const outcomes: Readonly<Record<Outcome, { words: string; tone?: 'good' | 'warn' | 'bad' | 'info' }>> = {
  'locked-out': { words: 'Locked out', tone: 'bad' },
  'let-in': { words: 'Let in again', tone: 'good' },
  'asks-more': { words: 'Asked for more', tone: 'warn' },
  'asks-less': { words: 'Asked for less', tone: 'info' },
  'blocked-already': { words: 'Don’t get in, as now' },
  unchanged: { words: 'As now' },
};
const ALWAYS: ReadonlySet<Outcome> = new Set(['locked-out', 'asks-more', 'unchanged']);
const choices = [
  { id: 'of-flow', label: 'That this flow decides now' },
  { id: 'all', label: 'All of the realm' },
] as const;
const countOf = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
const usersIn = (count: number): string => countOf(count, 'user', 'users');
const signInsIn = (count: number): string => countOf(count, 'sign-in', 'sign-ins');

/** @param edited the steps, if they differ from the saved ones */
export default function Replay({ realm, alias, edited }: { realm: string; alias: string; edited: Tree | undefined }) {
  const filters = useFilters();
  const { days } = periods.find((one) => String(one.days) === filters.get('days')) ?? { days: USUAL_DAYS };
  const signIns = choices.find(({ id }) => id === filters.get('signIns'))?.id;
  const from = useMemo(() => Date.now() - days * DAY_MS, [days]);
  const params = { realm, alias };
  const body = { ...(edited && { executions: bodyOf(edited) }), from, ...(signIns && { signIns }) };
  const replay = useAsked(replayFlow, { params, body });
  const found = replay.data?.body;
  return (
    <div className="stack">
      {edited ? (
        <Note>This tries the steps as you edited them. They are not saved, and nothing is written.</Note>
      ) : (
        <Note>
          <span>This tries the saved flow. Edit its steps first to see what the edit would change.</span>
        </Note>
      )}
      <Panel
        title="What is tried"
        lead="Users with the credentials, groups and roles that they have now, in the situations of the audit log"
        actions={
          <>
            <AsCommand quiet commands={() => requestCommands(replayFlow, params, body)} />
            <Button isDisabled={replay.isFetching} onPress={() => void replay.refetch()}>
              Replay again
            </Button>
          </>
        }
      >
        <div className="stack">
          <nav className="row periods" aria-label="Period">
            {periods.map((one) => (
              <Link
                key={one.days}
                className="chip"
                href={filters.address({ days: one.days === USUAL_DAYS ? undefined : String(one.days) })}
                aria-current={one.days === days ? 'true' : undefined}
              >
                {one.label}
              </Link>
            ))}
          </nav>
          <div className="columns wide">
            <Select
              label="Sign-ins"
              none={
                found && !signIns
                  ? `As bound: ${found.signIns === 'all' ? 'all of the realm' : 'those of this flow'}`
                  : 'As bound'
              }
              options={choices}
              value={signIns ?? null}
              onChange={(chosen) => filters.set({ signIns: chosen })}
            />
          </div>
        </div>
      </Panel>
      <div className="stack" aria-live="polite">
        {replay.error ? (
          <ProblemNote problem={replay.error} retry={() => void replay.refetch()} />
        ) : !found ? (
          <Loading lines={6} label="Replaying" />
        ) : (
          <Result realm={realm} found={found} />
        )}
      </div>
    </div>
  );
}

function Result({ realm, found }: { realm: string; found: Found }) {
  const { replayed, affected, reasons, assumptions } = found;
  if (replayed.signIns === 0)
    return (
      <>
        <Panel plain>
          <Empty icon="flow" title="No sign-in to try">
            <p>The audit log has no sign-in of this period that this flow would decide.</p>
            <p>{leftOut(found)}</p>
          </Empty>
        </Panel>
        <Assumptions words={assumptions} />
      </>
    );
  return (
    <>
      <Panel title="What would happen" lead={`Tried: ${signInsIn(replayed.signIns)} of ${usersIn(replayed.users)}`}>
        <div className="stack">
          <dl className="measures">
            {shownOf(found).map(({ outcome, users, signIns }) => (
              <div key={outcome}>
                <dt>{outcomes[outcome].words}</dt>
                <dd>
                  <span className="count">{users.toLocaleString('en')}</span>
                  <span className="hint">
                    {users === 1 ? 'user' : 'users'}, {signInsIn(signIns)}
                  </span>
                </dd>
              </div>
            ))}
          </dl>
          <Sample found={found} />
        </div>
      </Panel>
      {affected === null ? (
        <Panel title="Reasons" lead="The users are shown with the permission users:read." plain>
          <Table
            label="Reasons"
            rows={reasons}
            idOf={({ outcome, message }) => `${outcome} ${message}`}
            columns={[
              { id: 'reason', head: 'reason', cell: ({ message }) => message },
              { id: 'outcome', head: 'outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
              { id: 'users', head: 'users', numeric: true, cell: ({ users }) => users.toLocaleString('en') },
            ]}
            empty={<p className="content">Nothing changes for these users.</p>}
          />
        </Panel>
      ) : affected.length === 0 ? (
        <Note tone="good">Nothing changes for these users.</Note>
      ) : (
        <Panel title="Affected users" lead={`${usersIn(affected.length)}, the gravest first`} plain>
          <Table<Affected>
            label="Affected users"
            rows={affected}
            idOf={({ userId }) => userId}
            to={({ userId }) => inRealm(realm, 'users', userId)}
            columns={[
              { id: 'user', head: 'user', cell: ({ username }) => <bdi>{username}</bdi> },
              { id: 'outcome', head: 'outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
              { id: 'why', head: 'why', cell: ({ message }) => message },
              {
                id: 'application',
                head: 'application',
                cell: ({ clientId }) =>
                  clientId === null ? <span className="none">none</span> : <bdi>{clientId}</bdi>,
              },
              { id: 'signIns', head: 'sign-ins', numeric: true, cell: ({ signIns }) => signIns.toLocaleString('en') },
              { id: 'at', head: 'last', cell: ({ at }) => <Time ms={at} /> },
            ]}
          />
        </Panel>
      )}
      <Assumptions words={assumptions} />
    </>
  );
}

/** The rare outcomes only where there is one. */
const shownOf = ({ outcomes: all }: Found) => all.filter(({ outcome, users }) => users > 0 || ALWAYS.has(outcome));

function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  const { words, tone } = outcomes[outcome];
  return <Badge {...(tone && { tone })}>{words}</Badge>;
}

function leftOut({ notReplayed: { otherFlow, otherFailures, unknownUser, noTime } }: Found): string {
  const parts = [
    [otherFlow, 'decided by another flow'],
    [otherFailures, 'failed for another reason than the flow, such as a wrong password'],
    [unknownUser, 'of users who are not known, or not there any more'],
    [noTime, 'for lack of time'],
  ].flatMap(([count, words]) => (Number(count) > 0 ? [`${Number(count).toLocaleString('en')} ${words}`] : []));
  return parts.length === 0 ? '' : `Not tried: ${parts.join('; ')}.`;
}

function Sample({ found }: { found: Found }) {
  const { successes, failures } = found;
  const left = leftOut(found);
  return (
    <>
      {(successes.sampled || failures.sampled) && (
        <Note tone="warn">
          <span>The period has more sign-ins than one replay takes: these are the newest.</span>
          {successes.sampled && successes.oldestAt !== null && (
            <span>
              Successful ones back to <Time ms={successes.oldestAt} full />.
            </span>
          )}
          {failures.sampled && failures.oldestAt !== null && (
            <span>
              Failed ones back to <Time ms={failures.oldestAt} full />.
            </span>
          )}
        </Note>
      )}
      {left !== '' && <p className="hint">{left}</p>}
    </>
  );
}

function Assumptions({ words }: { words: readonly string[] }) {
  return (
    <Panel title="What the events do not hold, and what is taken instead">
      <ul className="bullets">
        {words.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Panel>
  );
}
