// `realmctl describe KIND NAME`: one object with its fields, its manager and its recent events.
import { type Command, Option } from 'commander';
import { Flow } from '../../server/contract/flows.ts';
import { withTimes } from '../cells.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { type Details, detailsOf, flowTree } from '../details.ts';
import { kinds } from '../kind-table.ts';
import type { Found, Kind } from '../kinds.ts';
import { yamlText } from '../manifest-text.ts';
import { paint, plain, print } from '../output.ts';

interface Options {
  realm?: string;
  output: 'text' | 'json' | 'yaml';
}

export const registerDescribe: Register = (program, cli) => {
  const describe = program.command('describe').description('show all that is known of one object');
  for (const kind of kinds) register(describe, kind, cli);
  examples(
    describe,
    'realmctl describe realm acme',
    'realmctl describe client billing -r acme',
    'realmctl describe user ana@example.com -r acme -o json',
    'realmctl describe flow browser -r acme',
    'realmctl describe mapper web department -r acme',
  );
};

function register(describe: Command, kind: Kind, cli: Cli): void {
  const command = describe.command(kind.singular).alias(kind.plural).description(kind.help);
  if (kind.of !== undefined) command.argument(`<${kind.of}>`, `the ${kind.of} that it belongs to`);
  command.argument('<name>', `the ${kind.singular}`);
  if (kind.inRealm) addRealm(command);
  command
    .addOption(
      new Option('-o, --output <format>', 'how it is written').choices(['text', 'json', 'yaml']).default('text'),
    )
    .action(async () => {
      const { realm: option, output } = command.opts<Options>();
      const [word = '', of] = command.args.toReversed();
      const realm = kind.inRealm ? await realmOf(cli, { option }) : '';
      const scope = { connection: await cli.connect(), realm, signal: cli.signal, ...(of !== undefined && { of }) };
      const found = await kind.find(scope, word);
      const details = await detailsOf(kind, scope, found);
      const value = { managedBy: found.managedBy, [kind.singular]: found.value, ...details };
      if (output === 'text') cli.io.stdout.write(`${text(cli, kind, realm, found, details)}\n`);
      else print(cli.io, output, { value, table: () => '' });
    });
}

function text({ io }: Cli, kind: Kind, realm: string, found: Found, details: Details): string {
  const title = `${kind.singular} ${found.name}${kind.inRealm ? ` in the realm ${realm}` : ''}`;
  const parts: [string, string[]][] = [
    // the parts of a realm have different managers, which its details list
    ...(kind.inRealm ? [['Managed by', managedBy(found)] satisfies [string, string[]]] : []),
    ['Fields', fields(found.value)],
    ...Object.entries(details).map(([name, value]): [string, string[]] => [heading(name), linesOf(value)]),
  ];
  const shown = parts.map(([head, lines]) =>
    [paint(io, 'bold', head), ...lines.map((line) => `  ${plain(line)}`)].join('\n'),
  );
  return [paint(io, 'bold', plain(title)), ...shown].join('\n\n');
}

const managedBy = ({ managedBy: all }: Found): string[] =>
  all.length > 0 ? all : ['nobody: people change it at run time'];

/** Prints a flow's steps as a tree, which a list of ids doesn't show. */
function fields(value: object): string[] {
  const flow = Flow.safeParse(value);
  if (!flow.success || !flow.data.executions) return linesOf(value);
  const { executions, ...rest } = flow.data;
  return [...linesOf(rest), 'executions:', ...flowTree(executions).map((line) => `  ${line}`)];
}

const heading = (name: string): string => {
  const words = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function linesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.length === 0) return ['none'];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  return yamlText(withTimes(value)).trimEnd().split('\n');
}
