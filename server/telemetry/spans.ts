// Owns: spans of what this process does, and the trace that a log line, an answer or an outbound request belongs to. Without a tracer each
// function here only calls its work.
// Does not own: OpenTelemetry (sdk.ts, which sets the tracer and is loaded only if OTEL_* variables ask for it).
// Implements: docs/operations.md "OpenTelemetry".
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Adds what is known only later to the span. */
export type Say = (attributes: Attributes) => void;

export interface SpanOptions {
  kind?: 'internal' | 'client' | 'consumer';
  /** No personal data: names of operations, tables, routes, realms and resources. */
  attributes?: Attributes;
  /** The `traceparent` of the work that caused this one and may have ended long ago: a link, not a parent. */
  cause?: string | undefined;
  /** Only inside another span: without one, no trace begins. */
  within?: boolean;
}

export interface Tracer {
  span<T>(name: string, options: SpanOptions, work: (say: Say) => Promise<T>): Promise<T>;
  /** Runs `next` within the span of a request, which ends with its response. */
  request(request: IncomingMessage, response: ServerResponse, next: () => void): void;
  /** Names the present request's span. @param route the route's pattern */
  named(route: string, realm: string | undefined): void;
  /** The present span in W3C Trace Context, `00-<trace>-<span>-<flags>`. */
  traceparent(): string | undefined;
}

let tracer: Tracer | undefined;
/** Called once, before the server or the operator starts. */
export function setTracer(to: Tracer | undefined): void {
  tracer = to;
}
/** For places that would compose something before they call {@link traced}. */
export const isTraced = (): boolean => tracer !== undefined;

const silent: Say = () => {};

export const traced = <T>(name: string, options: SpanOptions, work: (say: Say) => Promise<T>): Promise<T> =>
  tracer === undefined ? work(silent) : tracer.span(name, options, work);

export function traceRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (tracer === undefined) next();
  else tracer.request(request, response, next);
}
export const nameRequest = (route: string, realm: string | undefined): void => tracer?.named(route, realm);

export const traceparent = (): string | undefined => tracer?.traceparent();

/** The present trace's and span's ids, as the fields of a log line. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const [, trace_id, span_id] = traceparent()?.split('-') ?? [];
  return trace_id !== undefined && span_id !== undefined ? { trace_id, span_id } : undefined;
}

/** The trace in which each request joined a group, whose work runs in the trace of one of them (db/group-commit.ts). */
const causes = new WeakMap<object, string>();
export function keepCause(of: unknown): void {
  const cause = traceparent();
  if (cause !== undefined && typeof of === 'object' && of !== null) causes.set(of, cause);
}
export const causeOf = (of: object): string | undefined => causes.get(of);
