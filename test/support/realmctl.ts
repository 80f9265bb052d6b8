// Owns: running realmctl: its output and its exit code, and as people do, in a process of its own.
// Does not own: the server (server.ts); what a command does (cli/).
// Implements: tests of the CLI at the level of use.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../cli/run.ts';
import { compileCache } from './compile-cache.ts';
import { OPERATOR_SECRET } from './operator.ts';

const program = path.resolve(import.meta.dirname, '../../cli/main.ts');

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How a pipeline signs in: the operator's client, given to the server by `SVC_OPERATOR_CLIENT_SECRET`. */
export const asOperator = (server: { baseUrl: string }): Record<string, string> => ({
  REALMCTL_SERVER: server.baseUrl,
  REALMCTL_CLIENT_ID: 'operator',
  REALMCTL_CLIENT_SECRET: OPERATOR_SECRET,
});

/** The environment of a server whose operator may sign in. */
export const withOperator = { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET };

/** Runs it in this process, which takes a tenth of the time: all that it has of a process is what `run` is given. */
export async function realmctl(
  env: Record<string, string>,
  args: readonly string[],
  { stdin = '', shown = false }: { stdin?: string | Buffer; shown?: boolean } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const io = {
    stdin: Readable.from([stdin]),
    stdout,
    stderr,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    terminal: false,
    watched: false,
    shown,
    colour: false,
  };
  const code = await run(args, io, new AbortController().signal);
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, stdout: out, stderr: err };
}

/** Runs it as people do, in a folder and by a program of the test's choice. */
export function realmctlProcess(
  env: Record<string, string>,
  args: readonly string[],
  {
    stdin = '',
    cwd,
    file = program,
    node = process.execPath,
  }: { stdin?: string; cwd?: string; file?: string; node?: string } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [file, ...args], {
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...compileCache(), ...env },
      cwd,
      stdio: 'pipe',
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (some: string) => {
      stdout += some;
    });
    child.stderr.setEncoding('utf8').on('data', (some: string) => {
      stderr += some;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    // a command that reads nothing may be gone before its input is
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}

/** One that is still running: what it has said so far, and signals to it. */
export function startRealmctl(env: Record<string, string>, args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  const listeners = new Set<() => void>();
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const found = (what: RegExp, text: () => string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const [match] = what.exec(text()) ?? [];
        if (match !== undefined) resolve(match);
      };
      listeners.add(look);
      look();
      ended.then(({ code }) => reject(new Error(`ended with ${code}: ${stderr}`)), reject);
    });
  return {
    ended,
    interrupt: () => child.kill('SIGINT'),
    /** Waits for words on stderr; fails where the program ends without them. */
    said: (what: RegExp) => found(what, () => stderr),
    /** The same of stdout. */
    printed: (what: RegExp) => found(what, () => stdout),
  };
}
