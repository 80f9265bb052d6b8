// `npm run bench:operator`: how the operator does at scale, beside a plain list of the same objects through kubectl.
// It builds both programs, starts them on a real API server and PostgreSQL, and measures case by case.
// docs/performance.md explains the figures.
import { parseArgs } from 'node:util';
import { errorWords } from '../../../server/contract/error-words.ts';
import { sumOf } from '../../support/series.ts';
import { processorSeconds, processorSecondsOfAll, residentMiB } from '../machine.ts';
import { heading } from '../report.ts';
import { applyToLive, converged, declare, plainList, quantile, type Rest, rest } from './cases.ts';
import { build, type Site, startSite } from './site.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = {
  realms: text,
  attached: text,
  changes: text,
  rest: text,
  concurrency: text,
  json: flag,
  'no-build': flag,
  'cpu-prof': text,
  help: flag,
};

const usage = `npm run bench:operator -- [--realms N] [--attached N] [--changes N] [--rest SECONDS] [--json]

Starts a Kubernetes API server, PostgreSQL, the server and the operator, declares realms and what attaches to them, and
measures: how long the operator takes from cold until everything is Ready; how long a change takes until the server
serves it; what rest costs. Progress on stderr. It needs the Kubernetes programs (npm run kubernetes).

  --realms       Realm resources (1000)
  --attached     Flows, Webhooks and WorkloadIdentities of each (5)
  --changes      changes whose way is timed, one after another (100)
  --rest         seconds of rest (120); resources of the last ten minutes are looked at again in it (600 shows a full turn)
  --concurrency  the operator's (4)
  --json         the figures as JSON on stdout
  --no-build     takes what the bench built the last time
  --cpu-prof     a folder for processor profiles of server and operator; they slow both down`;

const say = (line: string) => console.error(line);

function givenBy(args: string[]) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    say(`${errorWords(error)}\n\n${usage}`);
    process.exit(2);
  }
}

function numberOf(given: string | undefined, fallback: number, least: number): number {
  const number = given === undefined ? fallback : Number(given);
  if (!Number.isInteger(number) || number < least) throw new Error(usage);
  return number;
}

async function main(): Promise<void> {
  const given = givenBy(process.argv.slice(2));
  if (given.help) return void console.log(usage);
  const fleet = { realms: numberOf(given.realms, 1_000, 1), attached: numberOf(given.attached, 5, 0) };
  const changes = numberOf(given.changes, 100, 1);
  const restSeconds = numberOf(given.rest, 120, 1);
  const concurrency = numberOf(given.concurrency, 4, 1);
  const total = fleet.realms * (1 + fleet.attached);
  if (!given['no-build']) {
    say('building …');
    await build();
  }
  say('starting …');
  let site: Site | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await site?.stop();
      process.exit(130);
    });
  }
  try {
    site = await startSite({ say, concurrency, profile: given['cpu-prof'] });
    say(`declaring ${total} resources …`);
    const declared = await declare(site, fleet);
    say(`  written within ${declared.toFixed(1)} s; starting the operator …`);
    const cpu = (pid: number) => processorSeconds(pid) ?? Number.NaN;
    const before = {
      database: processorSecondsOfAll(site.postgresPid),
      server: cpu(site.serverPid),
      requests: await site.serverRequests(),
      kubernetes: await site.kubernetesRequests(),
    };
    const started = performance.now();
    const operator = await site.startOperator();
    await converged(site, total, say);
    const cold = {
      seconds: (performance.now() - started) / 1000,
      operatorCpuSeconds: cpu(operator),
      serverCpuSeconds: cpu(site.serverPid) - before.server,
      databaseCpuSeconds: processorSecondsOfAll(site.postgresPid) - before.database,
      passesEach: sumOf(await site.operatorMetrics(), /^svc_operator_reconciles_total/) / total,
      retriesEach: (await site.serverRetries()) / total,
      serverRequestsEach: ((await site.serverRequests()) - before.requests) / total,
      kubernetesRequestsEach: ((await site.kubernetesRequests()) - before.kubernetes) / total,
      operatorMiB: residentMiB(operator) ?? Number.NaN,
      serverMiB: residentMiB(site.serverPid) ?? Number.NaN,
    };
    say(`  all Ready after ${cold.seconds.toFixed(1)} s; timing ${changes} changes …`);
    const times = await applyToLive(site, fleet, changes);
    const live = { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
    say('timing kubectl …');
    const list = await plainList(site);
    say(`resting for ${restSeconds} s …`);
    const resting = await rest(site, operator, restSeconds);
    const figures = { machine: heading(true), ...fleet, concurrency, declared, list, cold, live, rest: resting };
    if (given.json) console.log(JSON.stringify(figures, null, 2));
    else console.log(report(figures));
  } finally {
    await site?.stop();
  }
}

interface Figures {
  machine: string;
  realms: number;
  attached: number;
  concurrency: number;
  declared: number;
  list: number;
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
  live: { p50: number; p99: number };
  rest: Rest;
}

function report({ machine, realms, attached, concurrency, declared, list, cold, live, rest: still }: Figures): string {
  const total = realms * (1 + attached);
  const times = (seconds: number) => `${(seconds / list).toFixed(seconds < list ? 2 : 1)} times the list`;
  return `${machine}
${realms} Realms with ${attached} attached resources each (${total}), --concurrency ${concurrency}

Yardstick: kubectl get realms -A (${realms} objects)  ${(list * 1000).toFixed(0)} ms

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

try {
  await main();
} catch (error) {
  say(errorWords(error));
  process.exitCode = 1;
}
