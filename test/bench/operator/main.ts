// `npm run bench:operator`: how the operator does at scale, beside a plain list of the same objects through kubectl.
// It builds both programs, starts them on a real API server and PostgreSQL, and measures case by case.
// docs/performance.md explains the figures.
import { sumOf } from '../../support/series.ts';
import { processorSeconds, processorSecondsOfAll, residentMiB } from '../machine.ts';
import { givenBy, run, say, stopOnSignal } from '../program.ts';
import { goalText, heading } from '../report.ts';
import {
  applyToLive,
  chartLimitMiB,
  converged,
  declare,
  plainList,
  quantile,
  rest,
  settle,
  signature,
} from './cases.ts';
import { type Figures, report } from './figures.ts';
import { aims, judge, judgedLine } from './goals.ts';
import { buildBoth, type Site, startSite } from './site.ts';

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
serves it; what rest costs. Each figure that has a goal stands with it; it ends with 1 where one is not met. Progress on
stderr. It needs the Kubernetes programs (npm run kubernetes).

Goals:
${aims.map(({ name, title, goal }) => `  ${name.padEnd(16)} ${title} (${goalText(goal)})`).join('\n')}

  --realms       Realm resources (1000)
  --attached     Flows, Webhooks and WorkloadIdentities of each (5)
  --changes      changes whose way is timed, one after another (100)
  --rest         seconds of rest (120); resources of the last ten minutes are looked at again in it (600 shows a full turn)
  --concurrency  the operator's (4)
  --json         the figures as JSON on stdout
  --no-build     takes what the bench built the last time
  --cpu-prof     a folder for processor profiles of server and operator; they slow both down`;

function numberOf(given: string | undefined, fallback: number, least: number): number {
  const number = given === undefined ? fallback : Number(given);
  if (!Number.isInteger(number) || number < least) throw new Error(usage);
  return number;
}

async function main(): Promise<void> {
  const given = givenBy(options, usage);
  if (given.help) return void console.log(usage);
  const fleet = { realms: numberOf(given.realms, 1_000, 1), attached: numberOf(given.attached, 5, 0) };
  const changes = numberOf(given.changes, 100, 1);
  const restSeconds = numberOf(given.rest, 120, 1);
  const concurrency = numberOf(given.concurrency, 4, 1);
  const total = fleet.realms * (1 + fleet.attached);
  if (!given['no-build']) {
    say('building …');
    await buildBoth();
  }
  say('starting …');
  let site: Site | undefined;
  stopOnSignal(async () => site?.stop());
  try {
    site = await startSite({ say, concurrency, profile: given['cpu-prof'] });
    say(`declaring ${total} resources …`);
    const declared = await declare(site, fleet);
    say(`  written within ${declared.toFixed(1)} s; starting the operator …`);
    const signed = await signature();
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
    say(`settling, then resting for ${restSeconds} s …`);
    await settle();
    const resting = await rest(site, operator, restSeconds);
    const figures: Figures = {
      machine: heading(true),
      ...fleet,
      concurrency,
      declared,
      list,
      signature: signed,
      limitMiB: await chartLimitMiB(),
      cold,
      live,
      rest: resting,
    };
    const goals = judge(figures);
    if (given.json) console.log(JSON.stringify({ ...figures, goals }, null, 2));
    else console.log(`${report(figures)}\n\n${goals.map(judgedLine).join('\n')}`);
    if (goals.some((one) => !one.met)) process.exitCode = 1;
  } finally {
    await site?.stop();
  }
}

await run(main);
