// `realmctl status`, `kubectl realmkeeper status`: shows the state of a cluster's resources, each realm with all
// resources that belong to it.
import { Argument } from 'commander';
import { type KindName, kindNames } from '../../operator/resource.ts';
import { type ClusterOptions, type ClusterResource, clusterResources } from '../cluster.ts';
import { type Cli, examples, type Io, type Register } from '../command.ts';
import { Outcome, Refused } from '../faults.ts';
import { addOutput, type Format, paint, plain, print, writeLine } from '../output.ts';
import { type Standing, standingOf } from '../standing.ts';

interface Options extends ClusterOptions {
  output: Format;
}

const kinds = new Map(kindNames.map((kind) => [kind.toLowerCase(), kind]));

export const registerStatus: Register = (program, cli) => {
  const command = program
    .command('status')
    .addArgument(new Argument('[kind]', 'a realm’s with all that hangs on it').choices([...kinds.keys()]))
    .argument('[name]', 'of the resource; of a realm also its name on the server')
    .description('say how the resources of a cluster stand, and why what waits waits')
    .option('-n, --namespace <namespace>', 'look there alone (default: everywhere)')
    .option('--kube-context <name>', 'the context of the kubeconfig')
    .option('--kubeconfig <file>', 'the kubeconfig');
  examples(
    addOutput(command, { names: true }),
    'realmctl status                      # everything in the cluster',
    'realmctl status realm acme           # the realm, and all that attaches to it',
    'kubectl realmkeeper status webhook audit -n shop',
    '',
    'Asks by kubectl, with your rights. Exit code: 0 all is well, 1 something is not, 2 refused.',
  ).action((kind: string | undefined, name: string | undefined, options: Options) =>
    status(cli, { kind: kind === undefined ? undefined : kinds.get(kind), name }, options),
  );
};

interface Choice {
  kind: KindName | undefined;
  name: string | undefined;
}

async function status(cli: Cli, choice: Choice, { output, ...options }: Options): Promise<void> {
  const all = await clusterResources(cli, options);
  const found = chosen(all, choice);
  if (choice.name !== undefined && found.length === 0)
    throw new Refused(
      `there is no ${choice.kind} ${choice.name}${options.namespace ? ` in ${options.namespace}` : ''}`,
    );
  if (found.length === 0) return writeLine(cli.io, 'There are no resources of Realmkeeper’s.');
  const standings = found.map((one) => standingOf(one, all));
  print(cli.io, output, {
    value: standings,
    names: () => standings.map(({ kind, namespace, name }) => `${kind.toLowerCase()}/${namespace}/${name}`),
    table: () => byRealm(cli.io, standings),
  });
  if (standings.some(({ ready }) => !ready)) throw new Outcome(1);
}

function chosen(all: readonly ClusterResource[], { kind, name }: Choice): readonly ClusterResource[] {
  const ofKind = all.filter((one) => kind === undefined || one.kind === kind);
  if (name === undefined) return ofKind;
  if (kind !== 'Realm') return ofKind.filter(({ metadata }) => metadata.name === name);
  const realms = new Set([
    ...ofKind.filter(({ metadata }) => metadata.name === name).map(({ spec }) => spec.realm),
    ...all.filter(({ spec }) => spec.realm === name).map(({ spec }) => spec.realm),
  ]);
  return all.filter(({ spec }) => realms.has(spec.realm));
}

const byRealm = (io: Pick<Io, 'colour'>, standings: readonly Standing[]): string =>
  [...Map.groupBy(standings, ({ realm }) => realm)]
    .map(([realm, of]) =>
      [paint(io, 'bold', plain(`Realm ${realm}`)), ...of.flatMap((one) => lines(io, one))].join('\n'),
    )
    .join('\n');

function lines(io: Pick<Io, 'colour'>, { kind, namespace, name, ready, reason, message, because }: Standing): string[] {
  const head = plain(`${kind} ${namespace}/${name}: ${reason}: ${message}`);
  return [
    `  ${paint(io, ready ? 'green' : 'red', ready ? '✓' : '✗')} ${head}`,
    ...because.map((why) => `      because ${plain(why)}`),
  ];
}
