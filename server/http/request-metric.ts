// Counts and times the HTTP requests of this process: a summary, or a histogram with latency buckets. Specification 6.3.
import { Histogram, type Registry, Summary } from 'prom-client';

export type CountRequest = (request: { method: string; uri: string; status: number; seconds: number }) => void;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const NAME = 'http_server_requests_seconds';
const labelNames = ['method', 'uri', 'status'];

/** @param histogram adds latency buckets, which add cardinality */
export const createRequestMetric = (registry: Registry, { histogram }: { histogram: boolean }): CountRequest =>
  histogram ? latencyHistogram(registry) : totalsSummary(registry);

function latencyHistogram(registry: Registry): CountRequest {
  const latency = new Histogram({
    name: NAME,
    help: 'Latency of HTTP requests',
    labelNames,
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ seconds, ...labels }) => latency.observe(labels, seconds);
}

/** Counts and times of requests: stored in maps during requests, and converted to one summary when metrics are scraped. */
function totalsSummary(registry: Registry): CountRequest {
  interface Total {
    labels: { method: string; uri: string; status: number };
    count: number;
    seconds: number;
  }
  // nested maps: a key of all three values would have to be composed and hashed for each request
  const totals = new Map<string, Map<string, Map<number, Total>>>();
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
    values: [...totals.values()].flatMap((ofUri) =>
      [...ofUri.values()].flatMap((ofMethod) =>
        [...ofMethod.values()].flatMap(({ labels, count, seconds }) => [
          { metricName: `${NAME}_sum`, labels, value: seconds },
          { metricName: `${NAME}_count`, labels, value: count },
        ]),
      ),
    ),
  });
  const first = ({ method, uri, status }: Total['labels']): Total => {
    const ofUri = totals.get(uri) ?? new Map<string, Map<number, Total>>();
    const ofMethod = ofUri.get(method) ?? new Map<number, Total>();
    const total = { labels: { method, uri, status }, count: 0, seconds: 0 };
    totals.set(uri, ofUri.set(method, ofMethod.set(status, total)));
    return total;
  };
  return (request) => {
    const total = totals.get(request.uri)?.get(request.method)?.get(request.status) ?? first(request);
    total.count += 1;
    total.seconds += request.seconds;
  };
}
