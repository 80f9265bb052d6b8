// `npm run bench`: how fast this machine's Realmkeeper is, as ratios against the machine's own limits.
// It builds the bundle, starts it on a PostgreSQL of its own and measures case by case. docs/performance.md explains.
import { errorWords } from '../../server/contract/error-words.ts';
import type { Bench, Result } from './bench.ts';
import { cases } from './cases.ts';
import { canPin, pin, usableCores } from './machine.ts';
import { build, givenBy, run, say, stopOnSignal } from './program.ts';
import { asJson, goalText, heading, line } from './report.ts';
import { built, startTarget, type Target } from './target.ts';
import { commitOf, writeFigures } from './written.ts';

const usage = `npm run bench -- [--only NAME,…] [--rounds N] [--quick] [--json] [--write] [--no-build]

Measures ratios: each figure stands beside the machine's own limit, taken on the same cores before and after it.
A window whose two yardsticks differ by more than a tenth isn't quiet; medians are of the quiet ones.

  --only      some cases, by name or by the beginning of it
  --rounds    windows of a case (5)
  --quick     shorter windows, fewer rounds and less warm-up: shows that it works, not how fast it is
  --json      the results as JSON on stdout, progress on stderr
  --write     writes the figures into docs/performance.md; a case that didn't run keeps its own
  --no-build  takes what the bench built the last time
  --cpu-prof  a folder for a processor profile of the server (--cpu-prof FOLDER); it slows the server down

Cases:
${cases.map(({ name, title, goal }) => `  ${name.padEnd(16)} ${title} (${goalText(goal)})`).join('\n')}`;

const options = {
  only: { type: 'string' },
  rounds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  'cpu-prof': { type: 'string' },
  'no-build': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const given = givenBy(options, usage);

async function main(): Promise<void> {
  if (given.help) return void console.log(usage);
  const wanted = given.only?.split(',').map((name) => name.trim());
  const chosen = cases.filter(({ name }) => !wanted || wanted.some((part) => name.startsWith(part)));
  const rounds = Number(given.rounds ?? (given.quick ? 2 : 5));
  if (chosen.length === 0 || !Number.isInteger(rounds) || rounds < 1) throw new Error(usage);

  if (given.write && (given.quick || given['cpu-prof'] !== undefined))
    throw new Error('--write takes no figures of --quick or --cpu-prof');
  const commit = given.write ? await commitOf() : '';
  if (!given['no-build']) {
    say('building …');
    await build('server', built);
  }
  const pinned = await canPin();
  const numbers = usableCores();
  const profile = given['cpu-prof'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${given['cpu-prof']}`];
  let target: Promise<Target> | undefined;
  const bench: Bench = {
    rounds,
    seconds: given.quick ? 1.5 : 4,
    quick: given.quick,
    pinned,
    say,
    target: () => (target ??= startTarget(say, profile)),
    async pin(pid, core) {
      if (!pinned) return;
      const one = core === undefined ? undefined : numbers[core % numbers.length];
      await pin(pid, one === undefined ? numbers : [one]);
    },
  };
  const stop = async () => (await target?.catch(() => undefined))?.stop();
  stopOnSignal(stop);
  const print = given.json ? say : (text: string) => console.log(text);
  print(heading(pinned));
  const results: object[] = [];
  const figures = new Map<string, Result>();
  await bench.target();
  try {
    for (const each of chosen) {
      try {
        const result = await each.run(bench);
        print(line(each, result));
        results.push(asJson(each, result));
        figures.set(each.name, result);
      } catch (error) {
        process.exitCode = 1;
        print(`        failed   ${each.title}\n        ${errorWords(error)}`);
      }
    }
  } finally {
    await stop();
  }
  if (given.write) say(await writeFigures(cases, figures, { commit, machine: heading(pinned) }));
  if (given.json) console.log(JSON.stringify({ machine: heading(pinned), pinned, cases: results }, null, 2));
}

await run(main);
