// `realmctl import`: one realm document, as it is, through the server's import; manifests are `apply`'s.
import { Readable } from 'node:stream';
import { Option } from 'commander';
import { getAdminSession } from '../../server/contract/admin-access.ts';
import { address } from '../../server/contract/client.ts';
import { importRealm, Plan } from '../../server/contract/transfer.ts';
import { type Cli, examples, managerName, type Register, realmName } from '../command.ts';
import { documentBytes } from '../document-file.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print, say } from '../output.ts';
import { doneText, inSync, planText, sumText } from '../plan.ts';
import { counted } from '../progress.ts';

interface Options {
  file: string;
  dryRun?: true;
  force?: true;
  prune?: true;
  manager: string;
  keycloak?: true;
  output: Format;
}

const MOST_SHOWN = 200;

export const registerImport: Register = (program, cli) => {
  const command = program
    .command('import')
    .argument('<realm>', 'the realm; it is made where it does not exist', realmName)
    .description('apply a realm document, users included, in one transaction')
    .requiredOption('-f, --file <file>', 'the document, JSON or YAML; - is standard input')
    .option('--dry-run', 'show the plan, change nothing')
    .option('--prune', 'delete what this manager applied before and the document no longer holds')
    .option('--force', 'take over what another manager owns')
    .addOption(new Option('--manager <name>', 'who applies').argParser(managerName).default('realmctl'))
    .option('--keycloak', 'the file is a Keycloak realm export (where the server has that)');
  examples(
    addOutput(command),
    'realmctl import acme -f acme.json --dry-run',
    'realmctl import acme -f acme.yaml --prune',
    'realmctl --context old export acme | realmctl --context new import acme -f -',
  ).action((realm: string, options: Options) => importFile(cli, realm, options));
};

async function importFile(cli: Cli, realm: string, options: Options): Promise<void> {
  const { file, dryRun = false, prune = false, force = false, manager: name, output } = options;
  if (options.keycloak)
    throw new Refused(
      'this server does not read Keycloak exports yet',
      'Translate the file into a realm document first (docs/import-export.md), then import it without --keycloak.',
    );
  const connection = await cli.connect();
  // A stream can't be sent twice: a token that has run out is renewed before.
  await connection.client.call(getAdminSession, { signal: cli.signal });
  const query = { dryRun, prune, force, manager: name };
  const response = await sending(counted(cli.io, file, documentBytes(file, cli.io.stdin)), (body) =>
    connection.fetch(address(importRealm.path, { realm }, query), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
      signal: cli.signal,
    }),
  );
  const plan = Plan.parse(await response.json());
  const planned = { realm, plan, notCompared: [] };
  // a list of a million users helps nobody
  const short = plan.changes.length > MOST_SHOWN;
  print(cli.io, output, {
    value: plan,
    table: () => (short ? sumText([planned]) : planText(cli.io, planned)),
  });
  if (!dryRun && !inSync(planned) && output === 'table') say(cli.io, `Applied realm ${realm}: ${doneText(plan)}.`);
  if (dryRun && plan.conflicts.length > 0)
    say(cli.io, 'It would be refused: others manage some of it (--force takes over).');
}

/** What is wrong with the file is told as such, not as a request that failed. */
async function sending(
  chunks: AsyncIterable<Uint8Array>,
  send: (body: ReadableStream) => Promise<Response>,
): Promise<Response> {
  let fault: unknown;
  async function* watched() {
    try {
      yield* chunks;
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  try {
    return await send(Readable.toWeb(Readable.from(watched(), { objectMode: false })));
  } catch (error) {
    throw fault ?? error;
  }
}
