// Owns: an OTLP collector of a test's own: it takes traces, metrics and logs as JSON over HTTP, and keeps them.
// Does not own: the programs that send (server/telemetry).
// Implements: OTLP/HTTP 1.x, JSON encoding.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const Value = z.record(z.string(), z.unknown());
const Attributes = z.array(z.object({ key: z.string(), value: Value })).default([]);
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: Attributes,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
const Record = z.looseObject({
  body: Value.optional(),
  traceId: z.string().optional(),
  severityText: z.string().optional(),
  attributes: Attributes,
});
const Metric = z.looseObject({ name: z.string() });
const resource = z.object({ attributes: Attributes });
const Sent = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(Span) })) })).default([]),
  resourceMetrics: z
    .array(z.object({ resource, scopeMetrics: z.array(z.object({ metrics: z.array(Metric).default([]) })) }))
    .default([]),
  resourceLogs: z
    .array(z.object({ resource, scopeLogs: z.array(z.object({ logRecords: z.array(Record) })) }))
    .default([]),
});

export type CollectedSpan = Omit<z.infer<typeof Span>, 'attributes'> & { attributes: { [name: string]: unknown } };

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  /** What a program needs to send everything here, soon. */
  env: { [name: string]: string };
  spans: CollectedSpan[];
  /** Name → data, the newest. */
  metrics: Map<string, z.infer<typeof Metric>>;
  logs: { text: string; traceId: string | undefined; severity: string | undefined }[];
  /** Attributes of the resources that sent. */
  resources: { [name: string]: unknown }[];
  /** All bodies, as they came. */
  raw: string[];
  stop(): Promise<void>;
}

const plain = (attributes: z.infer<typeof Attributes>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startCollector(): Promise<Collector> {
  const kept: Pick<Collector, 'spans' | 'metrics' | 'logs' | 'raw' | 'resources'> = {
    spans: [],
    metrics: new Map(),
    logs: [],
    raw: [],
    resources: [],
  };
  const take = (text: string): void => {
    kept.raw.push(text);
    const { resourceSpans, resourceMetrics, resourceLogs } = Sent.parse(JSON.parse(text));
    for (const one of [...resourceSpans, ...resourceMetrics, ...resourceLogs])
      kept.resources.push(plain(one.resource.attributes));
    for (const { spans } of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      kept.spans.push(...spans.map((span) => ({ ...span, attributes: plain(span.attributes) })));
    for (const { metrics } of resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics))
      for (const metric of metrics) kept.metrics.set(metric.name, metric);
    for (const { logRecords } of resourceLogs.flatMap(({ scopeLogs }) => scopeLogs))
      for (const { body = {}, traceId, severityText } of logRecords)
        kept.logs.push({ text: String(Object.values(body)[0]), traceId, severity: severityText });
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      take(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BLRP_SCHEDULE_DELAY: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
  };
  return Object.assign(kept, {
    url,
    env,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
