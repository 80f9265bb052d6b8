// Starts OpenTelemetry's SDK, which reads the standard OTEL_* variables: exporters, endpoints, headers, samplers, batches, resource.
// This file and all of OpenTelemetry are loaded only if the variables ask for a signal (wanted.ts).
import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { logs, SeverityNumber } from '@opentelemetry/api';
import {
  defaultResource,
  envDetector,
  hostDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  ConsoleMetricExporter,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { VERSION } from '../contract/version.ts';
import { metricsOf } from './metrics.ts';
import { setTracer } from './spans.ts';
import { createTracer } from './tracer.ts';
import type { Signal } from './wanted.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Telemetry {
  /** Metrics of this registry are sent from now on. */
  measure(registry: Registry): void;
  /** Takes log lines in pino's JSON, if logs are sent. */
  lines: Writable | undefined;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TelemetryOptions {
  env: Environment;
  signals: ReadonlySet<Signal>;
  /** `service.name`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES has another. */
  service: string;
  /** Whether a request comes from a proxy that is trusted, so that its trace goes on here. */
  believes?(request: IncomingMessage): boolean;
}

const INTERVAL_MS = 60_000;
const TIMEOUT_MS = 30_000;

async function metricExporter(env: Environment): Promise<PushMetricExporter> {
  if (env.OTEL_METRICS_EXPORTER?.trim() === 'console') return new ConsoleMetricExporter();
  switch ((env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL)?.trim()) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    default:
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
  }
}

/** The SDK makes readers of the same kind, but none that asks another source of metrics. */
async function metricReader(env: Environment, source: MetricProducer): Promise<PeriodicExportingMetricReader> {
  const milliseconds = (name: string, otherwise: number) => Number(env[name]?.trim() || otherwise) || otherwise;
  const exportIntervalMillis = milliseconds('OTEL_METRIC_EXPORT_INTERVAL', INTERVAL_MS);
  return new PeriodicExportingMetricReader({
    exporter: await metricExporter(env),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(milliseconds('OTEL_METRIC_EXPORT_TIMEOUT', TIMEOUT_MS), exportIntervalMillis),
    metricProducers: [source],
  });
}

const Line = z.looseObject({
  level: z.string(),
  time: z.iso.datetime(),
  msg: z.string().optional(),
});
const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};
/** Fields that every line has: the resource names process and host. */
const LEFT_OUT = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'trace_id', 'span_id']);

/** The process log's lines as log records; each belongs to the span in which it was written. */
function logLines(): Writable {
  const logger = logs.getLogger('realmkeeper');
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      for (const line of text.split('\n')) {
        if (line === '') continue;
        const { level, time, msg, ...rest } = Line.parse(JSON.parse(line));
        const attributes = Object.entries(rest).filter(([name]) => !LEFT_OUT.has(name));
        logger.emit({
          severityText: level,
          severityNumber: severities[level] ?? SeverityNumber.UNSPECIFIED,
          timestamp: new Date(time),
          body: msg ?? '',
          attributes: Object.fromEntries(
            attributes.map(([name, value]) => [
              name,
              typeof value === 'object' ? JSON.stringify(value) : String(value),
            ]),
          ),
        });
      }
      done();
    },
  });
}

export async function startTelemetry({
  env,
  signals,
  service,
  believes = () => false,
}: TelemetryOptions): Promise<Telemetry> {
  const registries: Registry[] = [];
  const sdk = new NodeSDK({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': service, 'service.version': VERSION })),
    metricReaders: signals.has('metrics') ? [await metricReader(env, metricsOf(registries))] : [],
    ...(!signals.has('traces') && { spanProcessors: [] }),
    ...(!signals.has('logs') && { logRecordProcessors: [] }),
    // without the process's arguments and user, which the SDK would send too
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS?.trim() && {
      resourceDetectors: [serviceInstanceIdDetector, hostDetector, envDetector],
    }),
  });
  sdk.start();
  if (signals.has('traces')) setTracer(createTracer({ believes }));
  return {
    measure: (registry) => void registries.push(registry),
    lines: signals.has('logs') ? logLines() : undefined,
    async stop() {
      setTracer(undefined);
      // a collector that is away must not hold up the end
      await sdk.shutdown().catch(() => {});
    },
  };
}
