// Spans by OpenTelemetry's API. Attributes are those of its semantic conventions; none is personal: no address, no path, no message of
// an error. Semantic conventions "HTTP", "Database client calls", "Exceptions".
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { VERSION } from '../contract/version.ts';
import type { Say, SpanOptions, Tracer } from './spans.ts';

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };
const SERVER_ERROR = 500;
/** Longer names of realms are refused anyway. */
const LONGEST = 255;

/** The kind of a failure, never its message, which may name a user. */
function failed(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.constructor.name : typeof error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const contextOf = (traceparent: string) => trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));

/** @param believes whether the request comes from a proxy whose `traceparent` continues a trace; another one begins a new trace */
export function createTracer({ believes }: { believes(request: IncomingMessage): boolean }): Tracer {
  const tracer = trace.getTracer('realmkeeper', VERSION);

  function cause(traceparent: string | undefined) {
    const found = traceparent === undefined ? undefined : contextOf(traceparent);
    return found === undefined ? {} : { links: [{ context: found }] };
  }

  return {
    async span<T>(name: string, options: SpanOptions, work: (say: Say) => Promise<T>): Promise<T> {
      if (options.within && trace.getActiveSpan() === undefined) return work(() => {});
      const { kind = 'internal', attributes = {} } = options;
      return tracer.startActiveSpan(name, { kind: kinds[kind], attributes, ...cause(options.cause) }, async (span) => {
        try {
          return await work((found) => void span.setAttributes(found));
        } catch (error) {
          failed(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },

    request(request: IncomingMessage, response: ServerResponse, next: () => void): void {
      const { method = 'GET' } = request;
      const parent = believes(request) ? propagation.extract(ROOT_CONTEXT, request.headers) : ROOT_CONTEXT;
      const attributes = { 'http.request.method': method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      response.once('close', () => {
        const { statusCode } = response;
        span.setAttribute('http.response.status_code', statusCode);
        if (!response.writableFinished) span.setAttribute('error.type', 'aborted');
        else if (statusCode >= SERVER_ERROR) span.setAttribute('error.type', String(statusCode));
        if (statusCode >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      const within = trace.setSpan(parent, span);
      // a body's events and the response's end belong to the request, whichever socket event brings them
      context.bind(within, request);
      context.bind(within, response);
      context.with(within, next);
    },

    named(route, realm) {
      const span = trace.getActiveSpan();
      if (!span) return;
      const method = 'attributes' in span ? Object(span.attributes)['http.request.method'] : undefined;
      if (typeof method !== 'string') return;
      span.updateName(`${method} ${route}`);
      span.setAttribute('http.route', route);
      if (realm !== undefined && realm.length <= LONGEST) span.setAttribute('realmkeeper.realm', realm);
    },

    traceparent() {
      const found = trace.getActiveSpan()?.spanContext();
      if (!found) return undefined;
      const flags = (found.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
      return `00-${found.traceId}-${found.spanId}-${flags}`;
    },
  };
}
