// `realmctl doctor`: checks an installation, by the server, from here, and on request in a cluster; and says what to do.
import type { CheckStatus } from '../../server/contract/diagnostics.ts';
import type { ClusterOptions } from '../cluster.ts';
import { type Cli, examples, type Register } from '../command.ts';
import { Outcome } from '../faults.ts';
import { clusterFindings, type Finding, serverFindings } from '../installation.ts';
import { addOutput, type Format, paint, plain, print, writeLine } from '../output.ts';

interface Options extends Omit<ClusterOptions, 'namespace'> {
  output: Format;
  cluster?: true;
  strict?: true;
}

export const registerDoctor: Register = (program, cli) => {
  const command = addOutput(program.command('doctor'))
    .description('check the installation, and say what to do')
    .option('--cluster', 'also the cluster that kubectl uses: the kinds, the operator, the resources')
    .option('--kube-context <name>', 'that context of the kubeconfig')
    .option('--kubeconfig <file>', 'that kubeconfig')
    .option('--strict', 'a warning counts as a failure');
  examples(
    command,
    'realmctl doctor',
    'realmctl doctor --cluster --kube-context prod',
    `realmctl doctor -o jsonpath='{.checks[?(@.status=="failure")].message}'`,
    '',
    'Needs realm:read over every realm. Exit code: 0 no failure, 1 a failure, 2 refused.',
  ).action((options: Options) => examine(cli, options));
};

async function examine(cli: Cli, { output, cluster, strict, ...options }: Options): Promise<void> {
  const wanted = cluster ?? (options.kubeContext !== undefined || options.kubeconfig !== undefined);
  const { report, findings } = await serverFindings(await cli.connect(), cli.signal);
  const checks = wanted ? [...findings, ...(await clusterFindings(cli, options)).findings] : findings;
  print(cli.io, output, {
    value: { ...report, checks },
    table: () => checks.flatMap((one) => lines(cli, one)).join('\n'),
  });
  const of = (status: CheckStatus) => checks.filter((one) => one.status === status).length;
  const [failures, warnings] = [of('failure'), of('warning')];
  if (output === 'table') writeLine(cli.io, summary(failures, warnings));
  if (failures > 0 || (strict && warnings > 0)) throw new Outcome(1);
}

const some = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;
const summary = (failures: number, warnings: number): string =>
  failures + warnings === 0 ? 'All is well.' : `${some(failures, 'failure')}, ${some(warnings, 'warning')}.`;

const marks = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failure: ['✗', 'red'],
  skipped: ['–', 'dim'],
} as const satisfies Record<CheckStatus, readonly [string, string]>;

function lines({ io }: Pick<Cli, 'io'>, { subject, status, message, advice, details }: Finding): string[] {
  const [mark, style] = marks[status];
  return [
    `${paint(io, style, mark)} ${plain(`${subject}: ${message}`)}`,
    ...details.map((one) => `    ${plain(one)}`),
    ...(advice === null ? [] : [`  → ${plain(advice)}`]),
  ];
}
