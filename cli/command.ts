// Owns: the arguments that every command function gets, and the options that several commands share.
// Does not own: the commands (commands/<noun>.ts), signing in (connect.ts), printing (output.ts).
// Implements: decisions "Import, export, plan" as a program, `realmctl`; docs/cli.md: exit codes 0, 1, 2, 3.
import type { Readable, Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { Client } from '../server/contract/client.ts';
import { RealmName } from '../server/contract/names.ts';
import { ManagerName } from '../server/contract/transfer.ts';
import { Refused } from './faults.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Io {
  stdin: Readable;
  /** Receives only the command's result, so that it can be piped. */
  stdout: Writable;
  /** Receives progress, questions, warnings and errors. */
  stderr: Writable;
  env: Environment;
  /** Whether stdin and stderr are a terminal, so that realmctl may ask the user questions. */
  terminal: boolean;
  /** Whether a user watches stderr, so that progress is reported; a pipeline's log stays short. */
  watched: boolean;
  /** Whether stdout is a terminal: a server's answer is then shown without control characters. */
  shown?: boolean;
  /** Whether stdout is a terminal with colours enabled. */
  colour: boolean;
}

/** A server that the command is signed in at. */
export interface Connection {
  client: Client;
  /** The server's address, without a trailing slash. */
  server: string;
  /** For requests beyond the typed client: streams, raw bytes. `path` begins with a slash. Refusals are thrown. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The Authorization header for a request now; empty if the session is a cookie. */
  authorization(): Promise<string>;
}

export interface Cli {
  io: Io;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /**
   * Connects to the server of `--context`, REALMCTL_CONTEXT, REALMCTL_SERVER or the current context; throws without a
   * sign-in.
   */
  connect(): Promise<Connection>;
  /** The context's realm, for commands that name none. */
  defaultRealm(): Promise<string | undefined>;
}

/** The function that each `commands/<noun>.ts` exports: it adds its commands to the program. */
export type Register = (program: Command, cli: Cli) => void;

/** Adds examples to a command's help: one per line, with a comment after ` # `. */
export function examples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
}

/** Parses an argument or option that names a realm. */
export function realmName(value: string): string {
  if (!RealmName.safeParse(value).success) throw new Refused(`${value} is not the name of a realm`);
  return value;
}

/** The option `-r`. Without it, the realm is the command's argument or the context's default (`realmOf`). */
export const addRealm = (command: Command): Command =>
  command.addOption(new Option('-r, --realm <realm>', 'the realm (default: the context’s)').argParser(realmName));

/** The realm of a command: that of its argument or of `-r`, else the context's. */
export async function realmOf(
  cli: Pick<Cli, 'defaultRealm' | 'io'>,
  { option, place }: { option?: string | undefined; place?: string | undefined },
): Promise<string> {
  if (option !== undefined && place !== undefined && option !== place)
    throw new Refused(`which realm is meant, ${place} or ${option}?`, 'Say it once: in its place, or with -r.');
  const said = option ?? place;
  if (said !== undefined) return realmName(said);
  const own = await cli.defaultRealm();
  if (own !== undefined) return own;
  const { REALMCTL_REALM: signsIn } = cli.io.env;
  throw new Refused(
    signsIn ? `no realm is said: REALMCTL_REALM is ${signsIn}, where the client signs in` : 'no realm is said',
    'Give one with --realm (-r), or keep one for this context: realmctl config set-realm REALM',
  );
}

/** Parses an argument or option that names a manager. */
export function managerName(value: string): string {
  if (ManagerName.safeParse(value).success) return value;
  throw new Refused(`${value} is not the name of a manager`, 'It may hold letters, digits and : / . _ @ -');
}
