// `realmctl diff -f`: what applying would change. Exit code 0 in sync, 1 differences, 2 refused, 3 unreachable.
import { type Cli, examples, type Register } from '../command.ts';
import { addPlan, type PlanOptions, planAll, readWanted } from '../declarations.ts';
import { Outcome } from '../faults.ts';
import { addOutput, type Format, print, say } from '../output.ts';
import { inSync, type Planned, planText, sumText } from '../plan.ts';

export const registerDiff: Register = (program, cli) => {
  const command = program.command('diff').description('show what applying files would change, and change nothing');
  examples(
    addOutput(addPlan(command)),
    'realmctl diff -f realms/ -R',
    'kustomize build overlays/staging | realmctl diff -f -',
    'realmctl export acme > acme.json && realmctl --context staging diff --realm acme -f acme.json',
    '',
    'Exit code: 0 in sync, 1 differences, 2 refused, in conflict or a fault in a file, 3 unreachable.',
  ).action((options: PlanOptions & { output: Format }) => diff(cli, options));
};

async function diff(cli: Cli, { output, ...options }: PlanOptions & { output: Format }): Promise<void> {
  const wanted = await readWanted(cli, options);
  const { plans, refused } = await planAll(cli, await cli.connect(), wanted, options);
  printPlans(cli, output, plans);
  const conflict = plans.some(({ plan }) => plan.conflicts.length > 0);
  if (conflict) sayConflicts(cli);
  if (conflict || refused) throw new Outcome(2);
  if (!plans.every(inSync)) throw new Outcome(1);
}

/** @param applied the realms that were */
export function printPlans(
  { io }: Pick<Cli, 'io'>,
  output: Format,
  plans: readonly Planned[],
  applied: readonly string[] = [],
): void {
  if (plans.length === 0) return;
  print(io, output, {
    value: {
      inSync: plans.every(inSync),
      realms: plans.map(({ realm, plan, notCompared }) => ({
        realm,
        applied: applied.includes(realm),
        ...plan,
        notCompared: notCompared.map(({ object, secret, key }) => ({ object, secret, key })),
      })),
    },
    table: () => [...plans.map((planned) => planText(io, planned)), sumText(plans)].join('\n'),
  });
}

export const sayConflicts = ({ io }: Pick<Cli, 'io'>): void =>
  say(
    io,
    'What others manage is left alone: take it out of your files, or take it over with --force; realmctl managers shows who has what.',
  );
