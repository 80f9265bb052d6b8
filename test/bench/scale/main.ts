// `npm run bench:scale`: what gets dearer when there is a thousand times as much, as ratios of a large installation to a small one.
// It builds the server, makes both installations by SQL on one PostgreSQL, and asks both in turn. docs/performance.md explains.
import { errorWords } from '../../../server/contract/error-words.ts';
import { met, number } from '../bench.ts';
import { type Figure, SCALE } from '../figures.ts';
import { build, givenBy, run, say, stopOnSignal } from '../program.ts';
import { goalText, heading } from '../report.ts';
import { built } from '../target.ts';
import { commitOf, writeFigures } from '../written.ts';
import { scaleCases } from './cases.ts';
import type { Size } from './fill.ts';
import type { Growth, ScaleCase } from './growth.ts';
import { type Site, startSite } from './site.ts';

const SMALL: Size = { realms: 10, users: 1_000, clients: 10, events: 100_000 };
const LARGE: Size = { realms: 10_000, users: 1_000_000, clients: 10_000, events: 10_000_000 };
/** Shows within minutes that it works. */
const QUICK: Size = { realms: 100, users: 10_000, clients: 100, events: 200_000 };

const usage = `npm run bench:scale -- [--only NAME,…] [--rounds N] [--quick] [--keep FOLDER] [--json] [--write] [--no-build]

Makes two installations on one PostgreSQL, of ${words(SMALL)}, and of
${words(LARGE)}. Prints for each case the large one's figure over the small one's.
Ends with 1 where a goal is missed. The large one takes some twenty minutes and 20 GB, which are given back at the end.

  --only      some cases, by name or by the beginning of it
  --rounds    requests that are timed at each installation (21)
  --quick     a large installation of ${words(QUICK)}, and few requests: shows that it works
  --keep      a folder that keeps the installations for the next run; delete it yourself
  --json      the results as JSON on stdout, progress on stderr
  --write     writes the figures into docs/performance.md; a case that didn't run keeps its own
  --no-build  takes what the bench built the last time

Cases:
${scaleCases.map(({ name, title, goal }) => `  ${name.padEnd(22)} ${title} (${goalText(goal)})`).join('\n')}`;

function words({ realms, users, clients, events }: Size): string {
  const of = (count: number) => count.toLocaleString('en');
  return `${of(realms)} realms, ${of(users)} users, ${of(clients)} clients and ${of(events)} events`;
}

const options = {
  only: { type: 'string' },
  rounds: { type: 'string' },
  keep: { type: 'string' },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  'no-build': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const line = ({ name, title, goal }: ScaleCase, { ratio, figures }: Growth): string =>
  `${number(ratio).padStart(6)}  ${met(ratio, goal) ? 'met    ' : 'NOT met'}  ${name.padEnd(22)} ${title}: ${figures}`;

async function main(): Promise<void> {
  const given = givenBy(options, usage);
  if (given.help) return void console.log(usage);
  const wanted = given.only?.split(',').map((name) => name.trim());
  const chosen = scaleCases.filter(({ name }) => !wanted || wanted.some((part) => name.startsWith(part)));
  const rounds = Number(given.rounds ?? 21);
  if (chosen.length === 0 || !Number.isInteger(rounds) || rounds < 1) throw new Error(usage);
  if (given.write && given.quick) throw new Error('--write takes no figures of --quick');
  const commit = given.write ? await commitOf() : '';
  if (!given['no-build']) {
    say('building …');
    await build('server', built);
  }
  let site: Site | undefined;
  stopOnSignal(async () => site?.stop());
  const print = given.json ? say : (text: string) => console.log(text);
  const found = new Map<string, Figure>();
  const results: object[] = [];
  site = await startSite({ small: SMALL, large: given.quick ? QUICK : LARGE }, { say, keep: given.keep });
  try {
    print(heading(true));
    for (const each of chosen) {
      try {
        const growth = await each.run({ site, rounds, quick: given.quick, say });
        if (!met(growth.ratio, each.goal)) process.exitCode = 1;
        print(line(each, growth));
        found.set(each.name, growth);
        results.push({
          name: each.name,
          title: each.title,
          goal: each.goal,
          met: met(growth.ratio, each.goal),
          ...growth,
        });
      } catch (error) {
        process.exitCode = 1;
        print(`        failed   ${each.name}: ${errorWords(error)}`);
      }
    }
  } finally {
    await site.stop();
  }
  if (given.write) say(await writeFigures(scaleCases, found, { commit, machine: heading(true) }, SCALE));
  if (given.json) console.log(JSON.stringify({ machine: heading(true), cases: results }, null, 2));
}

await run(main);
