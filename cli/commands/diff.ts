// `realmctl diff -f`: what applying would change. Exit code 0 in sync, 1 differences, 2 refused, 3 unreachable.
import { type Cli, examples, type Register } from '../command.ts';
import { addPlan, ask, type PlanOptions, readWanted } from '../declarations.ts';
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
  const { realms, declared } = await readWanted(cli, options);
  const connection = await cli.connect();
  const plans: Planned[] = [];
  for (const wanted of realms) {
    const plan = await ask(cli, connection, wanted, options);
    plans.push({
      realm: wanted.realm,
      plan,
      notCompared: declared.missing.filter(({ realm }) => realm === wanted.realm),
    });
  }
  printPlans(cli, output, plans);
  if (plans.some(({ plan }) => plan.conflicts.length > 0)) {
    sayConflicts(cli);
    throw new Outcome(2);
  }
  if (!plans.every(inSync)) throw new Outcome(1);
}

export function printPlans({ io }: Pick<Cli, 'io'>, output: Format, plans: readonly Planned[]): void {
  print(io, output, {
    value: {
      inSync: plans.every(inSync),
      realms: plans.map(({ realm, plan, notCompared }) => ({
        realm,
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
