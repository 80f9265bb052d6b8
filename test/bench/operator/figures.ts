// What the operator's benchmark finds, and how it is printed in full. Whether it is enough: goals.ts.
import type { Rest } from './cases.ts';

export interface Figures {
  machine: string;
  realms: number;
  attached: number;
  concurrency: number;
  /** Seconds that writing the resources took. */
  declared: number;
  /** Seconds of kubectl's list of the Realms. */
  list: number;
  /** One signature, RSA with 2,048 bits, of a bare loop, just before the cold start. */
  signature: { seconds: number; cpuSeconds: number };
  /** The operator's memory limit in the chart. */
  limitMiB: number;
  cold: Record<
    | 'seconds'
    | 'operatorCpuSeconds'
    | 'serverCpuSeconds'
    | 'databaseCpuSeconds'
    | 'passesEach'
    | 'retriesEach'
    | 'serverRequestsEach'
    | 'kubernetesRequestsEach'
    | 'operatorMiB'
    | 'serverMiB',
    number
  >;
  /** Milliseconds. */
  live: { p50: number; p99: number };
  rest: Rest;
}

export function report({
  machine,
  realms,
  attached,
  concurrency,
  declared,
  list,
  signature,
  cold,
  live,
  rest: still,
}: Figures): string {
  const total = realms * (1 + attached);
  const times = (seconds: number) => `${(seconds / list).toFixed(seconds < list ? 2 : 1)} times the list`;
  return `${machine}
${realms} Realms with ${attached} attached resources each (${total}), --concurrency ${concurrency}

Yardsticks: kubectl get realms -A (${realms} objects)  ${(list * 1000).toFixed(0)} ms; a signature  ${(signature.seconds * 1e6).toFixed(0)} µs

Cold convergence  ${cold.seconds.toFixed(1)} s, ${times(cold.seconds)}; ${(cold.seconds / declared).toFixed(1)} times writing the ${total} objects (${declared.toFixed(1)} s)
  each resource   ${((cold.seconds / total) * 1000).toFixed(1)} ms; ${cold.passesEach.toFixed(2)} passes, ${cold.serverRequestsEach.toFixed(1)} requests to the server (${cold.retriesEach.toFixed(2)} of them again), ${cold.kubernetesRequestsEach.toFixed(1)} to the Kubernetes API
  processor       operator ${cold.operatorCpuSeconds.toFixed(1)} s, server ${cold.serverCpuSeconds.toFixed(1)} s, PostgreSQL ${cold.databaseCpuSeconds.toFixed(1)} s
  memory          operator ${cold.operatorMiB.toFixed(0)} MiB, server ${cold.serverMiB.toFixed(0)} MiB
Apply to live     p50 ${live.p50.toFixed(0)} ms (${times(live.p50 / 1000)}), p99 ${live.p99.toFixed(0)} ms (${times(live.p99 / 1000)})
Rest, a minute    ${still.serverPerMinute.toFixed(1)} requests to the server, ${still.kubernetesPerMinute.toFixed(1)} to the Kubernetes API, ${still.passesPerMinute.toFixed(1)} passes
  processor       operator ${still.operatorCpu.toFixed(2)} %, server ${still.serverCpu.toFixed(2)} % of a core
  memory          operator ${still.operatorMiB.toFixed(0)} MiB, server ${still.serverMiB.toFixed(0)} MiB
  written         ${still.written} of ${total} resources`;
}
