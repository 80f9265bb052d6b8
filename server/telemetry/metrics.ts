// The metrics of the Prometheus page as OpenTelemetry's data, so that both ways show the same figures. OpenTelemetry specification
// "Prometheus and OpenMetrics Compatibility".
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { VERSION } from '../contract/version.ts';

type Found = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
const BUCKET = '_bucket';

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

const descriptorOf = (name: string, description: string) => ({
  name,
  description,
  unit: name.endsWith('_seconds') || name.endsWith('_seconds_sum') ? 's' : name.endsWith('_bytes') ? 'By' : '',
  valueType: ValueType.DOUBLE,
});
const cumulative = { aggregationTemporality: AggregationTemporality.CUMULATIVE };

function points(values: Found['values'], times: Times): DataPoint<number>[] {
  return values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
}

/** A sum for each of a summary's series, `_sum` and `_count`: OTLP's own summaries can't be made by the SDK. */
function ofSummary({ name, help, values }: Found, times: Times): MetricData[] {
  return ['_sum', '_count'].map((end) => ({
    ...cumulative,
    descriptor: descriptorOf(`${name}${end}`, help),
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: points(
      values.filter(({ metricName }) => metricName === `${name}${end}`),
      times,
    ),
  }));
}

/** Prometheus counts in each bucket all that is smaller; OpenTelemetry what is in the bucket alone. */
function ofHistogram({ name, help, values }: Found, times: Times): MetricData {
  const labelsOf = ({ labels: { le: _, ...labels } }: Found['values'][number]): Attributes => labels;
  const series = Map.groupBy(values, (row) => JSON.stringify(Object.entries(labelsOf(row)).sort()));
  const dataPoints = [...series.values()].map((rows): DataPoint<Histogram> => {
    const total = (end: string) => rows.find(({ metricName }) => metricName === `${name}${end}`)?.value ?? 0;
    const buckets = rows.filter(({ metricName }) => metricName === `${name}${BUCKET}`);
    const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const [first] = rows;
    return {
      ...times,
      attributes: first ? labelsOf(first) : {},
      value: { buckets: { boundaries, counts }, sum: total('_sum'), count: total('_count') },
    };
  });
  return { ...cumulative, descriptor: descriptorOf(name, help), dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

function dataOf(metric: Found, times: Times): MetricData[] {
  const { name, help, type, values } = metric;
  const common = { ...cumulative, descriptor: descriptorOf(name, help), dataPoints: points(values, times) };
  switch (String(type)) {
    case 'counter':
      return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true }];
    case 'histogram':
      return [ofHistogram(metric, times)];
    case 'summary':
      return ofSummary(metric, times);
    default:
      return [{ ...common, dataPointType: DataPointType.GAUGE }];
  }
}

/** @param registries what is collected at each export; it may grow */
export function metricsOf(registries: readonly Registry[]): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect() {
      const times = { startTime, endTime: hrTime(Date.now()) };
      const found = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
      const metrics = found.flat().flatMap((metric) => dataOf(metric as Found, times));
      const scopeMetrics = [{ scope: { name: 'realmkeeper', version: VERSION }, metrics }];
      // the reader takes the SDK's resource in place of this one
      return { resourceMetrics: { resource: undefined as never, scopeMetrics }, errors: [] };
    },
  };
}
