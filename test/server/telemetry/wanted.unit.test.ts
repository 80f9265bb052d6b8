import { expect, test } from 'vitest';
import { signalsWanted } from '../../../server/telemetry/wanted.ts';

test.each([
  [{}, []],
  [{ OTEL_SERVICE_NAME: 'iam', OTEL_RESOURCE_ATTRIBUTES: 'a=b' }, []],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, ['traces', 'metrics', 'logs']],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, []],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_LOGS_EXPORTER: 'none' }, ['traces', 'metrics']],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'TRUE' }, []],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, ['traces']],
  [{ OTEL_METRICS_EXPORTER: 'otlp' }, ['metrics']],
  [{ OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'false' }, ['traces']],
])('%o asks for %j', (env, signals) => {
  expect([...signalsWanted(env)]).toEqual(signals);
});
