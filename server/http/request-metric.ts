// Counts and times the HTTP requests of this process: a summary by route, or a histogram with latency buckets; and a histogram
// of few buckets by surface, from which the chart's objectives are measured. Specification 6.3.
import { Histogram, type Registry, Summary } from 'prom-client';

export type CountRequest = (request: { method: string; uri: string; status: number; seconds: number }) => void;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Few, as each is a series of every surface: the objectives of the chart can be set to one of these. */
export const FEW_BUCKETS = [0.05, 0.25, 1, 2.5];
const NAME = 'http_server_requests_seconds';
const SURFACE_NAME = 'svc_requests_seconds';
const labelNames = ['method', 'uri', 'status'];

/** Requests of one route, method and status. `within`: by {@link FEW_BUCKETS}, each without the smaller ones; the last: beyond all. */
interface Total {
  labels: { method: string; uri: string; status: number };
  count: number;
  seconds: number;
  within: number[];
}

/** @param histogram adds latency buckets by route, which add cardinality */
export function createRequestMetric(registry: Registry, { histogram }: { histogram: boolean }): CountRequest {
  // nested maps: a key of all three values would have to be composed and hashed for each request
  const totals = new Map<string, Map<string, Map<number, Total>>>();
  const all = () => [...totals.values()].flatMap((ofUri) => [...ofUri.values()].flatMap((of) => [...of.values()]));
  const first = ({ method, uri, status }: Total['labels']): Total => {
    const ofUri = totals.get(uri) ?? new Map<string, Map<number, Total>>();
    const ofMethod = ofUri.get(method) ?? new Map<number, Total>();
    const within = [...FEW_BUCKETS, Number.POSITIVE_INFINITY].map(() => 0);
    const total = { labels: { method, uri, status }, count: 0, seconds: 0, within };
    totals.set(uri, ofUri.set(method, ofMethod.set(status, total)));
    return total;
  };
  const latency = histogram
    ? new Histogram({
        name: NAME,
        help: 'Latency of HTTP requests',
        labelNames,
        buckets: BUCKETS,
        registers: [registry],
      })
    : undefined;
  if (!latency) summaryByRoute(registry, all);
  histogramBySurface(registry, all);
  return (request) => {
    const { seconds } = request;
    const total = totals.get(request.uri)?.get(request.method)?.get(request.status) ?? first(request);
    total.count += 1;
    total.seconds += seconds;
    let bucket = 0;
    while (bucket < FEW_BUCKETS.length && seconds > (FEW_BUCKETS[bucket] ?? 0)) bucket += 1;
    total.within[bucket] = (total.within[bucket] ?? 0) + 1;
    latency?.observe(total.labels, seconds);
  };
}

/** The counts are stored in maps during requests, and become series when metrics are scraped. */
function summaryByRoute(registry: Registry, all: () => Total[]): void {
  const summary = new Summary({
    name: NAME,
    help: 'HTTP requests answered, and the seconds spent on them',
    labelNames,
    percentiles: [],
    registers: [registry],
  });
  const described = summary.get.bind(summary);
  summary.get = async () => ({
    ...(await described()),
    values: all().flatMap(({ labels, count, seconds }) => [
      { metricName: `${NAME}_sum`, labels, value: seconds },
      { metricName: `${NAME}_count`, labels, value: count },
    ]),
  });
}

const SURFACES: readonly [RegExp, string][] = [
  [/^\/admin(\/|$)/, 'admin'],
  [/^\/realms\/:realm\/(oauth2|workload-identity|agent\/delegation)\/token$/, 'token'],
  [/^\/realms\/:realm\/(oauth2\/(authorize|par)|login|register|broker|saml\/idp\/(sso|initiate))(\/|$)/, 'sign-in'],
  [/^\/realms\/:realm\/(oauth2\/(jwks|userinfo|introspect)|\.well-known)(\/|$)/, 'verification'],
  [/^\/realms\/:realm\/scim\//, 'scim'],
  [/^\/realms\/:realm\/account(\/|$)/, 'account'],
];
/** The part of the server that a route's pattern belongs to; undefined: one without an objective, such as health. */
export const surfaceOf = (uri: string): string | undefined => SURFACES.find(([pattern]) => pattern.test(uri))?.[1];

const outcomeOf = (status: number) => (status >= 500 ? 'error' : status >= 400 ? 'refused' : 'success');

function histogramBySurface(registry: Registry, all: () => Total[]): void {
  const metric = new Histogram({
    name: SURFACE_NAME,
    help: 'Latency of HTTP requests by the part of the server, in few buckets; outcome: success, refused (4xx), error (5xx)',
    labelNames: ['surface', 'outcome'],
    buckets: FEW_BUCKETS,
    registers: [registry],
  });
  const described = metric.get();
  async function bySurface(): Promise<Awaited<typeof described>> {
    const sums = new Map<string, Omit<Total, 'labels'> & { labels: { surface: string; outcome: string } }>();
    for (const { labels, count, seconds, within } of all()) {
      const surface = surfaceOf(labels.uri);
      if (surface === undefined) continue;
      const outcome = outcomeOf(labels.status);
      const sum = sums.get(`${surface} ${outcome}`);
      sums.set(`${surface} ${outcome}`, {
        labels: { surface, outcome },
        count: (sum?.count ?? 0) + count,
        seconds: (sum?.seconds ?? 0) + seconds,
        within: within.map((n, at) => n + (sum?.within[at] ?? 0)),
      });
    }
    return { ...(await described), values: [...sums.values()].flatMap(seriesOf) };
  }
  // prom-client's text of a histogram comes by a method of its own
  Object.assign(metric, { get: bySurface, getForPromString: bySurface });
}

function seriesOf({
  labels,
  count,
  seconds,
  within,
}: Omit<Total, 'labels'> & { labels: { surface: string; outcome: string } }) {
  let sum = 0;
  const buckets = within.map((n, at) => {
    sum += n;
    return { metricName: `${SURFACE_NAME}_bucket`, labels: { ...labels, le: FEW_BUCKETS[at] ?? '+Inf' }, value: sum };
  });
  return [
    ...buckets,
    { metricName: `${SURFACE_NAME}_sum`, labels, value: seconds },
    { metricName: `${SURFACE_NAME}_count`, labels, value: count },
  ];
}
