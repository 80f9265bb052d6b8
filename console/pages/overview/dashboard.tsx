// The statistics of a realm: totals beside those of the period before, charts, and the clients with the most tokens. The period is in
// the address.
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getClientStatistics, getEndpoints, getStatistics } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Chart, type ChartSeries, countWords } from '../../ui/chart.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import type { Tone } from '../../ui/plot.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { deliverySeries, ofKey } from './deliveries.ts';
import { reasonWords } from './failure-reasons.ts';
import { type Period, periodOf, periods, useSpan } from './periods.ts';

type Statistics = OutputOf<typeof getStatistics>;
type Keyed = Statistics['failures'];
type Measure = Pick<Statistics['signIns'], 'total' | 'previous'>;

const LOOK_SECONDS = 30;
const NAMED_REASONS = 4;
export default function Dashboard({ realm }: { realm: string }) {
  const { get, address } = useFilters();
  const period = periodOf(get('period'));
  return (
    <Panel
      title="Activity"
      actions={
        <nav className="row periods" aria-label="Period">
          {periods.map(({ id, label }, i) => (
            <Link
              key={id}
              className="chip"
              href={address({ period: i === 0 ? undefined : id })}
              aria-current={id === period.id ? 'true' : undefined}
            >
              {label}
            </Link>
          ))}
        </nav>
      }
    >
      <Shown realm={realm} period={period} />
    </Panel>
  );
}

function Shown({ realm, period }: { realm: string; period: Period }) {
  const query = useSpan(period);
  const answer = useRead(getStatistics, { params: { realm }, query }, { keep: true, everySeconds: LOOK_SECONDS });
  const found = answer.data?.body;
  if (answer.error) return <ProblemNote problem={answer.error} retry={() => void answer.refetch()} />;
  if (!found) return <Loading lines={8} />;
  const { signIns, failures, tokens, risks, deliveries, step, times } = found;
  const high = ofKey(risks, 'high');
  const dead = ofKey(deliveries, 'dead');
  const chart = { step, times };
  const series = (label: string, tone: Tone, { total, values }: Omit<ChartSeries, 'label' | 'tone'>) => ({
    label,
    tone,
    total,
    values,
  });
  if (found.countedSince === null) return <Nothing realm={realm} />;
  const isQuiet = [signIns, failures, tokens, risks, deliveries].every(({ total }) => total === 0);
  return (
    <div className="dashboard">
      <dl className="measures">
        <Total name="Sign-ins" of={signIns} period={period} />
        <Total name="Failed sign-ins" of={failures} period={period} />
        <Total name="Tokens" of={tokens} period={period} />
        <Total name="Sign-ins of high risk" of={high} period={period} />
        <Total name="Deliveries given up" of={dead} period={period} />
      </dl>
      {isQuiet ? (
        <Quiet period={period} />
      ) : (
        <div className="charts">
          <Chart
            {...chart}
            title="Sign-ins"
            series={[series('succeeded', 'main', signIns), series('failed', 'bad', failures)]}
            empty="No user signed in at this realm’s pages."
          />
          <Chart {...chart} title="Failed sign-ins by reason" series={reasonsOf(failures)} empty="No sign-in failed." />
          <Chart {...chart} title="Tokens" series={[series('tokens', 'main', tokens)]} empty="No client got a token." />
          <Chart
            {...chart}
            title="Risk of sign-ins"
            series={[
              series('low', 'good', ofKey(risks, 'low')),
              series('medium', 'warn', ofKey(risks, 'medium')),
              series('high', 'bad', high),
            ]}
            empty="The risk of no sign-in was scored."
          />
          <Chart
            {...chart}
            title="Webhook deliveries"
            series={deliverySeries(deliveries)}
            empty="Nothing was sent to a webhook."
          />
          <Clients realm={realm} query={query} />
        </div>
      )}
      <p className="hint">
        {`Counted since ${new Date(found.countedSince).toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' })}.`}
        {step === 'day' && ' Days are days in UTC.'}
      </p>
    </div>
  );
}

/** The state of a realm without any count: the things that will be here, and the first steps to them. */
function Nothing({ realm }: { realm: string }) {
  const may = useMay();
  const endpoints = useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const account = endpoints.data?.body?.account;
  const addsApplications = may(realm, 'clients:write') || may(realm, 'saml-clients:write');
  return (
    <Empty
      icon="events"
      title="Nothing has happened here yet"
      actions={
        <>
          {addsApplications && (
            <ButtonLink to={inRealm(realm, 'set-up', 'application')} variant="primary" icon="add">
              Add an application
            </ButtonLink>
          )}
          {may(realm, 'users:write') && (
            <ButtonLink to={inRealm(realm, 'users', 'new')} icon="user">
              Create a user
            </ButtonLink>
          )}
        </>
      }
    >
      <p>
        Sign-ins, failures by reason, tokens by client, risks and webhook deliveries appear here, some seconds after
        they happen.
      </p>
      <p>
        Begin with an application and a user
        {account === undefined ? (
          '.'
        ) : (
          <>
            , then sign in as the user, for example at the{' '}
            <a href={account} target="_blank" rel="noreferrer">
              account page<span className="visually-hidden"> (a new window)</span>
            </a>
            .
          </>
        )}
      </p>
    </Empty>
  );
}

/** A realm that has counts, but none in this period. */
function Quiet({ period }: { period: Period }) {
  return (
    <Empty icon="events" title={`Nothing happened in the last ${period.label}`}>
      <p>A longer period shows what was before.</p>
    </Empty>
  );
}

const REASON_TONES: readonly Tone[] = ['bad', 'warn', 'main', 'other'];

/** The most frequent reasons in words, all others together. */
function reasonsOf({ by }: Keyed): ChartSeries[] {
  const named = by.filter(({ key }) => key !== null).slice(0, NAMED_REASONS);
  const first: ChartSeries[] = named.map(({ key, total, values }, i) => ({
    label: reasonWords(key ?? ''),
    tone: REASON_TONES[i] ?? 'soft',
    total,
    values,
  }));
  const rest = by.filter((one) => !named.includes(one));
  if (rest.length === 0) return first;
  const [one] = rest;
  const values = (one?.values ?? []).map((_, i) => rest.reduce((sum, row) => sum + (row.values[i] ?? 0), 0));
  return [...first, { label: 'others', tone: 'soft', total: rest.reduce((sum, { total }) => sum + total, 0), values }];
}

/** `+12 %`; undefined: there is nothing to compare with. */
function changeOf({ total, previous }: Measure): string | undefined {
  if (previous === null || previous === 0) return undefined;
  const percent = Math.round(((total - previous) / previous) * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent).toLocaleString('en')} %`;
}

function Total({ name, of, period }: { name: string; of: Measure; period: Period }) {
  const change = changeOf(of);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className="count">{countWords(of.total)}</span>
        <span className="hint">
          {of.previous === null
            ? 'no count of the period before'
            : `${change === undefined ? '' : `${change}, `}${countWords(of.previous)} in the ${period.label} before`}
        </span>
      </dd>
    </div>
  );
}

function Clients({ realm, query }: { realm: string; query: ReturnType<typeof useSpan> }) {
  const answer = useRead(getClientStatistics, { params: { realm }, query: { ...query, limit: 8 } }, { keep: true });
  const found = answer.data?.body;
  return (
    <figure className="chart" aria-label="Clients with the most tokens">
      <figcaption>
        <h3>Clients with the most tokens</h3>
      </figcaption>
      {answer.error && <ProblemNote problem={answer.error} />}
      {!found && !answer.error && <Loading lines={4} />}
      {found && found.clients.length === 0 && <p className="nothing">No client got a token.</p>}
      {found && found.clients.length > 0 && (
        <table className="ranking">
          <thead>
            <tr>
              <th scope="col">client</th>
              <th scope="col">tokens</th>
            </tr>
          </thead>
          <tbody>
            {found.clients.map(({ clientId, total }) => (
              <tr key={clientId}>
                <th scope="row">
                  <Link href={`${inRealm(realm, 'clients')}?${new URLSearchParams({ q: clientId })}`}>
                    <bdi>{clientId}</bdi>
                  </Link>
                </th>
                <td>{countWords(total)}</td>
              </tr>
            ))}
            {found.others > 0 && (
              <tr>
                <th scope="row">all others</th>
                <td>{countWords(found.others)}</td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </figure>
  );
}
