// `realmctl diff -f`: prints what applying would change. Exit code 0 in sync, 1 differences, 2 refused, 3 unreachable.
import { Option } from 'commander';
import { ManagerName } from '../../server/contract/transfer.ts';
import { type Cli, examples, type Register } from '../command.ts';
import { addPlan, type PlanOptions, planAll, readWanted } from '../declarations.ts';
import { Outcome, Refused } from '../faults.ts';
import { planAsOperator } from '../operator-plans.ts';
import { addOutput, type Format, plain, print, writeLine } from '../output.ts';
import { inSync, type Planned, planText, sumText } from '../plan.ts';

export const registerDiff: Register = (program, cli) => {
  const command = program
    .command('diff')
    .alias('plan')
    .description('show what applying files would change, and change nothing');
  addPlan(command).addOption(
    new Option('--cluster <name>', 'what the operator of this cluster would change, each resource as its own manager')
      .conflicts('prune')
      .argParser(clusterName),
  );
  examples(
    addOutput(command),
    'realmctl diff -f realms/ -R',
    'realmctl diff -f teams/shop/ --cluster prod   # prod, or the uid that stands behind k8s: in realmctl managers REALM',
    'kustomize build overlays/staging | realmctl diff -f -',
    'realmctl export acme > acme.json && realmctl --context staging diff --realm acme -f acme.json',
    '',
    'Exit code: 0 in sync, 1 differences, 2 refused, in conflict or a fault in a file, 3 unreachable.',
  ).action((options: Options) => diff(cli, options));
};
type Options = PlanOptions & { output: Format; cluster?: string };

const clusterName = (value: string): string => {
  if (ManagerName.safeParse(`k8s:${value}`).success && !value.includes('/')) return value;
  throw new Refused(`${value} is not the name of a cluster`, 'See what stands behind k8s: in realmctl managers REALM.');
};

async function diff(cli: Cli, { output, cluster, ...options }: Options): Promise<void> {
  const wanted = await readWanted(cli, options);
  const connection = await cli.connect();
  const { plans, refused, waits } =
    cluster === undefined
      ? { ...(await planAll(cli, connection, wanted, options)), waits: false }
      : { ...(await planAsOperator(cli, connection, wanted, { ...options, cluster })), refused: false };
  printPlans(cli, output, plans);
  const conflict = plans.some(({ plan }) => plan.conflicts.length > 0);
  if (conflict) sayConflicts(cli, plans);
  if (conflict || refused) throw new Outcome(2);
  if (waits || !plans.every(inSync)) throw new Outcome(1);
}

/** @param applied the realms whose plans were applied */
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
      realms: plans.map(({ realm, object, plan, notCompared }) => ({
        realm,
        object,
        applied: applied.includes(realm),
        ...plan,
        notCompared: notCompared.map(({ object, secret, key }) => ({ object, secret, key })),
      })),
    },
    table: () => [...plans.map((planned) => planText(io, planned)), sumText(plans)].join('\n'),
  });
}

export function sayConflicts({ io }: Pick<Cli, 'io'>, plans: readonly Planned[] = []): void {
  writeLine(
    io,
    'What others manage is left alone: take it out of your files, or take it over with --force; realmctl managers shows who has what.',
  );
  const clusters = plans.flatMap(({ plan }) =>
    plan.conflicts.map(({ manager }) => /^k8s:([^/]+)\//.exec(manager)?.[1]),
  );
  const kept = clusters.find((name) => name !== undefined);
  if (kept !== undefined && plans.every(({ object }) => object === undefined))
    writeLine(
      io,
      plain(`What these files change for the operator that applies them: realmctl diff --cluster ${kept} …`),
    );
}
