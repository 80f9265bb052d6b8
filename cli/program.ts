// Owns: the program: its commands in the order of its help, and the options that all of them have.
// Does not own: any command's work.
// Implements: docs/cli.md.
import { Command } from 'commander';
import { type Cli, examples, type Io, type Register } from './command.ts';
import { registerApi, registerToken } from './commands/api.ts';
import { registerApply } from './commands/apply.ts';
import { registerCompletion } from './commands/completion.ts';
import { registerConfig } from './commands/config.ts';
import { registerCrds } from './commands/crds.ts';
import { registerDescribe } from './commands/describe.ts';
import { registerDiff } from './commands/diff.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerEvents } from './commands/events.ts';
import { registerExport } from './commands/export.ts';
import { registerFlow } from './commands/flow.ts';
import { registerGet } from './commands/get.ts';
import { registerHistory, registerUndo } from './commands/history.ts';
import { registerHold, registerUnhold } from './commands/holds.ts';
import { registerImport } from './commands/import.ts';
import { registerRotateKeys } from './commands/keys.ts';
import { registerLogin } from './commands/login.ts';
import { registerManagers } from './commands/managers.ts';
import { registerSessions, registerUsers } from './commands/people.ts';
import { registerPreview } from './commands/preview.ts';
import { registerRetry } from './commands/retry.ts';
import { registerSearch } from './commands/search.ts';
import { registerStatistics } from './commands/statistics.ts';
import { registerStatus } from './commands/status.ts';
import { registerSupportBundle } from './commands/support-bundle.ts';
import { registerDisable, registerEnable } from './commands/switch.ts';
import { registerSync } from './commands/sync.ts';
import { registerValidate } from './commands/validate.ts';
import { registerWhoami } from './commands/whoami.ts';
import { registerWhy } from './commands/why.ts';
import { registerCreate, registerDelete, registerEdit } from './commands/write.ts';
import { connector, defaultRealm, type Fetch } from './connect.ts';
import { contextFile } from './contexts.ts';
import { writeLine } from './output.ts';

/** All commands but those for signing in, which have further dependencies. */
const groups: [string, Register[]][] = [
  ['Declaring:', [registerApply, registerDiff, registerValidate]],
  ['Realms:', [registerExport, registerImport, registerHistory, registerUndo, registerManagers, registerRotateKeys]],
  [
    'Looking:',
    [
      registerGet,
      registerSearch,
      registerDescribe,
      registerWhy,
      registerPreview,
      registerFlow,
      registerEvents,
      registerStatistics,
      registerStatus,
    ],
  ],
  [
    'Changing at run time:',
    [
      registerCreate,
      registerEdit,
      registerDisable,
      registerEnable,
      registerDelete,
      registerHold,
      registerUnhold,
      registerUsers,
      registerSessions,
      registerSync,
      registerRetry,
    ],
  ],
  ['The installation:', [registerDoctor, registerSupportBundle]],
  ['Everything else:', [registerApi, registerToken]],
  ['Setting up:', [registerCrds, registerCompletion]],
];

export function createProgram({
  io,
  signal,
  version,
  fetch,
}: {
  io: Io;
  signal: AbortSignal;
  version: string;
  fetch: Fetch;
}): Command {
  const program = new Command('realmctl')
    .description('Realms of a Realmkeeper server, as they are declared.')
    .version(version)
    .option('--context <name>', 'the signed-in server to use (default: REALMCTL_CONTEXT, or the current context)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help for what there is.')
    .helpCommand(false);
  const context = () => program.opts<{ context?: string }>().context;
  const file = contextFile(io.env, (line) => writeLine(io, line));
  const cli: Cli = {
    io,
    signal,
    connect: connector({ env: io.env, file, fetch }, context),
    defaultRealm: defaultRealm({ env: io.env, file }, context),
  };
  program.commandsGroup('Signing in:');
  registerLogin(program, cli, { file, fetch, context });
  registerConfig(program, cli, { file, context });
  registerWhoami(program, cli);
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, cli);
  }
  return examples(
    program,
    'realmctl login https://iam.example.com',
    'realmctl diff -f acme.yaml                 # what would change',
    'realmctl apply -f acme.yaml',
    'realmctl get clients -r acme',
    '',
    'realmctl <command> --help has more of each.',
  );
}
