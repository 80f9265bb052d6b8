// Which signals the standard OTEL_* variables ask for, and the start of their sending. No variable, no telemetry: OpenTelemetry, which takes a
// second to load, is loaded only if a signal is asked for.
// OpenTelemetry specification, "Environment Variable Specification".
import type { Telemetry, TelemetryOptions } from './sdk.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type Signal = 'traces' | 'metrics' | 'logs';
const signals: readonly Signal[] = ['traces', 'metrics', 'logs'];

/**
 * The signals to send. An endpoint for all signals asks for traces, metrics and logs, one signal's endpoint or exporter for that signal;
 * `OTEL_<SIGNAL>_EXPORTER=none` takes a signal away, `OTEL_SDK_DISABLED=true` all of them.
 */
export function signalsWanted(env: Environment): ReadonlySet<Signal> {
  const given = (name: string) => (env[name] ?? '').trim() !== '';
  if (/^true$/i.test(env.OTEL_SDK_DISABLED?.trim() ?? '')) return new Set();
  const all = given('OTEL_EXPORTER_OTLP_ENDPOINT');
  return new Set(
    signals.filter((signal) => {
      const exporter = env[`OTEL_${signal.toUpperCase()}_EXPORTER`]?.trim() ?? '';
      if (exporter === 'none') return false;
      return all || exporter !== '' || given(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`);
    }),
  );
}

/** @returns undefined if no signal is asked for */
export async function startWantedTelemetry(options: Omit<TelemetryOptions, 'signals'>): Promise<Telemetry | undefined> {
  const signals = signalsWanted(options.env);
  if (signals.size === 0) return undefined;
  const { startTelemetry } = await import('./sdk.ts');
  return startTelemetry({ ...options, signals });
}
