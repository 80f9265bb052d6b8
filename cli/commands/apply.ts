// `realmctl apply -f`: shows the plan, asks for consent, and applies exactly that plan, realm after realm.
import { ServerProblem } from '../../server/contract/client.ts';
import { type Cli, examples, type Register } from '../command.ts';
import {
  addPlan,
  applyFiles,
  type PlanOptions,
  planAll,
  readWanted,
  sayMissing,
  type Wanted,
} from '../declarations.ts';
import { faultOf, Interrupted, Outcome, Refused } from '../faults.ts';
import { addOutput, type Format, plain, writeLine } from '../output.ts';
import { doneText, inSync, keptText, type Planned, planText, sumText } from '../plan.ts';
import { confirm } from '../prompt.ts';
import { printPlans, sayConflicts } from './diff.ts';

interface Options extends PlanOptions {
  yes?: true;
  dryRun?: true;
  output: Format;
}

export const registerApply: Register = (program, cli) => {
  const command = program.command('apply').description('make realms what files declare');
  examples(
    addOutput(
      addPlan(command)
        .option('-y, --yes', 'apply without asking; needed where there is no terminal')
        .option('--dry-run', 'show the plan, change nothing'),
    ),
    'realmctl apply -f acme.yaml',
    'realmctl apply -f realms/ -R --prune --yes --manager ci:realms',
    'kustomize build overlays/staging | realmctl apply -f - --yes',
    'realmctl apply -f acme.yaml --force        # take over what other managers own',
    '',
    'Each realm is applied whole or not at all, and only if it still is as it was planned.',
    'Exit code: 0 applied or in sync, 2 refused or in conflict, 3 unreachable.',
  ).action((options: Options) => apply(cli, options));
};

async function apply(cli: Cli, options: Options): Promise<void> {
  const { io } = cli;
  const wanted = await readWanted(cli, options);
  refuseMissing(cli, wanted);
  const connection = await cli.connect();
  const { plans, refused } = await planAll(cli, connection, wanted, options);
  const conflict = plans.some(({ plan }) => plan.conflicts.length > 0);
  const open = plans.filter((planned) => !inSync(planned));
  if (options.dryRun || conflict || refused || open.length === 0) {
    printPlans(cli, options.output, plans);
    if (!conflict && !refused) return;
    if (conflict) sayConflicts(cli);
    if (!options.dryRun) writeLine(io, 'Nothing was applied.');
    throw new Outcome(2);
  }
  // JSON and YAML contain the result; the plan to consent to is text for the user
  const shown = options.output === 'table' ? io.stdout : io.stderr;
  shown.write(`${[...open.map((planned) => planText(io, planned)), sumText(open)].join('\n')}\n`);
  await agree(cli, options);

  const applied: Planned[] = [];
  const done = () => applied.map(({ realm }) => realm);
  try {
    for (const { realm, plan } of open) {
      const merged = wanted.realms.find((one) => one.realm === realm);
      if (!merged) continue;
      try {
        cli.signal.throwIfAborted();
        const result = await applyFiles(cli, connection, merged, options, plan.revision);
        applied.push({ realm, plan: result, notCompared: [] });
      } catch (error) {
        sayPartial(cli, { done: done(), failed: realm, open });
        throw known(error, realm);
      }
      if (options.output === 'table') writeLine(io, `Applied realm ${plain(realm)}: ${doneText(plan)}.`);
      for (const one of applied.at(-1)?.plan.kept ?? [])
        writeLine(io, plain(`Kept ${keptText(one)}; apply again once nothing uses it.`));
    }
  } finally {
    // programs get every applied plan, even if the rest failed
    const all = plans.map((planned) => applied.find(({ realm }) => realm === planned.realm) ?? planned);
    if (options.output !== 'table') printPlans(cli, options.output, all, done());
  }
}

function refuseMissing(cli: Cli, { declared }: Wanted): void {
  if (declared.missing.length === 0) return;
  sayMissing(cli, declared);
  throw new Refused('a secret is missing', 'Give the Secret too, for example with a second -f.');
}

async function agree(cli: Cli, { yes }: Options): Promise<void> {
  if (yes) return;
  if (!cli.io.terminal)
    throw new Refused('nothing was applied: this is not a terminal, so you can’t be asked', 'Add --yes to apply.');
  if (!(await confirm(cli, 'Apply this?'))) throw new Refused('nothing was applied');
}

/** Reports which realms were applied and which failed. */
function sayPartial(
  { io }: Cli,
  { done, failed, open }: { done: readonly string[]; failed: string; open: readonly Planned[] },
): void {
  if (open.length < 2) return;
  const names = (all: readonly string[]) => plain(all.join(', ')) || 'none';
  const rest = open.map(({ realm }) => realm).filter((realm) => realm !== failed && !done.includes(realm));
  writeLine(io, `Applied: ${names(done)}. Failed: ${plain(failed)}. Not tried: ${names(rest)}.`);
}

function known(error: unknown, realm: string): unknown {
  if (error instanceof ServerProblem && error.status === 412)
    return new Refused(
      `realm ${realm} has changed since it was planned, and was left alone`,
      'Look at the plan again: run it once more.',
    );
  if (faultOf(error).code === 130)
    return new Interrupted(
      `interrupted at realm ${realm}: it is applied whole or not at all; realmctl diff tells which`,
    );
  return error;
}
