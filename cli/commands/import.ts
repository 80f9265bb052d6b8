// `realmctl import`: sends one realm document unchanged to the server's import; `apply` takes manifests.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Option } from 'commander';
import { getAdminSession } from '../../server/contract/admin-access.ts';
import { address, ServerProblem } from '../../server/contract/client.ts';
import { planDocument } from '../../server/contract/import-document.ts';
import { importKeycloak, KeycloakPlan } from '../../server/contract/keycloak.ts';
import { importRealm, Plan } from '../../server/contract/transfer.ts';
import {
  addRealm,
  type Cli,
  type Connection,
  examples,
  managerName,
  type Register,
  realmName,
  realmOf,
} from '../command.ts';
import { documentBytes } from '../document-file.ts';
import { addEnvFile, sayFilled, type Variables, variablesOf, withVariables } from '../document-variables.ts';
import { Outcome, Refused } from '../faults.ts';
import { filesOf, keycloakBytes } from '../keycloak-files.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { doneText, inSync, planText, sumText } from '../plan.ts';
import { counted, withProgress } from '../progress.ts';
import { confirm } from '../prompt.ts';
import { writeWhole } from '../whole-file.ts';

interface Options {
  realm?: string;
  file: string[];
  dryRun?: true;
  force?: true;
  prune?: true;
  manager: string;
  yes?: true;
  envFile?: string;
  keycloak?: true;
  from?: string;
  output: Format;
}

const MOST_SHOWN = 200;
/** An import that deletes a tenth of a kind's objects asks for consent. */
const MUCH = 10;

export const registerImport: Register = (program, cli) => {
  const command = addEnvFile(addRealm(program.command('import')))
    .argument('[realm]', 'the realm; it is made where it does not exist, if you agree', realmName)
    .description('apply a realm document, users included, in one transaction')
    .addOption(
      new Option(
        '-f, --file <file>',
        'the document, JSON or YAML; - is standard input; of Keycloak: files, or a folder',
      )
        .argParser((file: string, before: string[] = []) => [...before, file])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'show the plan, change nothing')
    .option('--prune', 'delete what this manager applied before and the document no longer holds')
    .option('--force', 'take over what another manager owns')
    .addOption(new Option('--manager <name>', 'who applies').argParser(managerName).default('realmctl'))
    .option('-y, --yes', 'do not ask before a realm is made, or much deleted')
    .option('--keycloak', 'the files are what Keycloak exported')
    .option('--from <realm>', 'with --keycloak: which realm of the files, where its name is another');
  examples(
    addOutput(command),
    'realmctl import acme -f acme.json --dry-run',
    'realmctl import acme -f acme.yaml --prune',
    'realmctl import copy -f acme.json --env-file secrets.env   # SVC_VAR_CLIENT_BILLING_SECRET=…',
    'realmctl import acme --keycloak -f export/ --dry-run   # kc.sh export --dir export',
    'realmctl --context old export acme | realmctl --context new import acme -f - --yes   # makes the realm',
  ).action(async (place: string | undefined, options: Options) =>
    importFile(cli, await realmOf(cli, { option: options.realm, place }), options),
  );
};

async function importFile(cli: Cli, realm: string, options: Options): Promise<void> {
  const { dryRun = false, prune = false, force = false, manager: name, output } = options;
  const [file = '', ...more] = options.file;
  if (more.length > 0 && !options.keycloak) throw new Refused('a realm document is one file', HINT);
  if (options.from !== undefined && !options.keycloak) throw new Refused('--from goes with --keycloak alone');
  const connection = await cli.connect();
  const source: Source = {
    realm,
    file,
    ...(options.keycloak && { keycloak: await filesOf(options.file, options.from ?? realm) }),
    variables: await variablesOf(cli.io.env, options.envFile),
    query: { prune, force, manager: name, ...(options.from !== undefined && { from: options.from }) },
  };
  if (!dryRun && !options.yes) await agreeToMake(cli, connection, source.realm, name);
  if (prune && !dryRun && !options.yes) return carefully(cli, connection, source, output);
  show(cli, { realm, output, dryRun, plan: await send(cli, connection, source, { dryRun }) });
}

const HINT = 'For several: realmctl apply -f';

interface Source {
  realm: string;
  file: string;
  /** The files of a Keycloak export, in place of a document. */
  keycloak?: readonly string[];
  variables: Variables;
  query: Record<string, string | boolean>;
}

/** Asks before the import creates a realm: a mistyped name would create another one. */
async function agreeToMake(cli: Cli, { client }: Connection, realm: string, manager: string): Promise<void> {
  const nothing = { realm, manager, document: {}, prune: false, force: false, signal: cli.signal };
  const there = await planDocument(client, { ...nothing, mustExist: true }).then(
    () => true,
    (error) => !(error instanceof ServerProblem && error.status === 412),
  );
  if (there) return;
  if (!cli.io.terminal) throw new Refused(`nothing was imported: there is no realm ${realm}`, 'To make it, add --yes.');
  if (!(await confirm(cli, `There is no realm ${realm}. Make it?`))) throw new Refused('nothing was imported');
}

/** Plans an import that could delete users or many objects, asks for consent, and applies exactly that plan. */
async function carefully(cli: Cli, connection: Connection, source: Source, output: Format): Promise<void> {
  const { realm } = source;
  const kept = [source.file, ...(source.keycloak ?? [])].includes('-') ? await keptFrom(cli) : undefined;
  const inFile = (file: string) => (file === '-' && kept ? kept.file : file);
  try {
    const { keycloak } = source;
    const again = { ...source, file: inFile(source.file), ...(keycloak && { keycloak: keycloak.map(inFile) }) };
    const { deletions, revision } = await send(cli, connection, again, { dryRun: true });
    const much = deletions.filter(({ kind, count, of }) => kind === 'user' || of === undefined || count * MUCH > of);
    const words = much
      .map(({ kind, count, of }) => `${kind} ${count}${of === undefined ? '' : ` of ${of}`}`)
      .join(', ');
    if (much.length > 0 && !cli.io.terminal)
      throw new Refused(
        `nothing was imported: this would delete much of the realm ${realm} (${words})`,
        'Look at it with --dry-run; to do it, add --yes.',
      );
    if (much.length > 0 && !(await confirm(cli, `This deletes much of the realm ${realm}: ${words}. Go on?`)))
      throw new Refused('nothing was imported');
    show(cli, { realm, output, dryRun: false, plan: await send(cli, connection, again, { dryRun: false, revision }) });
  } finally {
    await kept?.forget();
  }
}

/** Copies standard input to a file: it can be read only once, and the document is sent twice. */
async function keptFrom({ io }: Cli): Promise<{ file: string; forget(): Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
  const forget = () => rm(folder, { recursive: true, force: true });
  const file = path.join(folder, 'document');
  try {
    await writeWhole(file, io.stdin, { secret: true });
  } catch (error) {
    await forget();
    throw error;
  }
  return { file, forget };
}

async function send(
  cli: Cli,
  connection: Connection,
  { realm, file, keycloak, variables, query }: Source,
  { dryRun, revision }: { dryRun: boolean; revision?: number },
): Promise<Plan | KeycloakPlan> {
  // A stream can't be sent twice, so an expired token is renewed before.
  await connection.client.call(getAdminSession, { signal: cli.signal });
  const used = new Set<string>();
  const document = keycloak
    ? keycloakBytes(keycloak, cli.io.stdin)
    : withVariables(documentBytes(file, cli.io.stdin), variables, (name) => used.add(name));
  const { path: at } = keycloak ? importKeycloak : importRealm;
  const answer = sending(
    counted(cli.io, keycloak?.length === 1 ? (keycloak[0] ?? '') : keycloak ? '-' : file, document),
    (body) =>
      connection.fetch(address(at, { realm }, { ...query, dryRun }), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(revision !== undefined && { 'if-match': `"${revision}"` }),
        },
        body,
        duplex: 'half',
        signal: cli.signal,
      }),
  );
  const response = await withProgress(cli.io, `${dryRun ? 'Planning' : 'Importing'} realm ${realm}`, answer);
  sayFilled(cli.io, used);
  return (keycloak ? KeycloakPlan : Plan).parse(await response.json());
}

function show(
  cli: Cli,
  { realm, output, dryRun, plan }: { realm: string; output: Format; dryRun: boolean; plan: Plan | KeycloakPlan },
): void {
  const planned = { realm, plan, notCompared: [] };
  // a list of a million users would not help
  const short = plan.changes.length > MOST_SHOWN;
  print(cli.io, output, {
    value: plan,
    table: () => (short ? sumText([planned]) : planText(cli.io, planned)),
  });
  if (output === 'table' && 'notCarried' in plan) sayNotCarried(cli, plan);
  if (!dryRun && !inSync(planned) && output === 'table')
    writeLine(cli.io, `Applied realm ${realm}: ${doneText(plan)}.`);
  if (dryRun && plan.conflicts.length > 0) {
    writeLine(cli.io, 'It would be refused: others manage some of it (--force takes over).');
    throw new Outcome(2);
  }
}

/** Lists the settings that the import leaves out, one per line. */
function sayNotCarried({ io }: Cli, { notCarried, notCarriedCount }: KeycloakPlan): void {
  if (notCarriedCount === 0) return;
  writeLine(io, `Not carried over, ${notCarriedCount}:`);
  for (const { kind, key, field, why } of notCarried.slice(0, MOST_SHOWN))
    writeLine(io, `  ${[kind, key, field].filter((word) => word !== null && word !== '').join(' ')}: ${why}`);
  if (notCarriedCount > MOST_SHOWN) writeLine(io, '  … all that the server tells of them: -o json');
}

/** Reports faults of the file as such, not as a failed request. */
export async function sending(
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
