// Owns: the program: its commands in the order of its help, and the options that all of them have.
// Does not own: what any command does.
// Implements: issue "CLI".
import { Command } from 'commander';
import type { Cli, Io, Register } from './command.ts';
import { registerExport } from './commands/export.ts';
import { registerImport } from './commands/import.ts';
import { registerWhoami } from './commands/whoami.ts';
import { connector, type Fetch } from './connect.ts';

const groups: [string, Register[]][] = [
  ['Signing in:', [registerWhoami]],
  ['Realms:', [registerExport, registerImport]],
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
  const context = () => program.opts<{ context?: string }>().context ?? (io.env.REALMCTL_CONTEXT || undefined);
  const cli: Cli = { io, signal, connect: connector({ io }, context, fetch) };
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, cli);
  }
  return program;
}
