// Owns: the programs that the Kubernetes tests run: to their end, or until stopped, and never longer than this process.
// Does not own: which programs these are, or what they are told.
// Implements: "stops by pid": every process is ended by the id that its start gave, never by a name.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a program ended, and what it said. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string | undefined;
  guard?: Guard;
}

/** Runs a program to its end. Only a program that can't be started is an error; a refusal is an outcome. */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<Outcome> {
  const { cwd, env = process.env, input, guard } = options;
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  // a program may end before it has read everything; its exit code tells why
  child.stdin.on('error', () => {}).end(input);
  guard?.watch(child);
  // rejects with the reason where the program can't be started
  await once(child, 'close');
  const [stdout, stderr] = await output;
  const { exitCode, signalCode } = child;
  if (exitCode !== null) return { code: exitCode, stdout, stderr };
  return { code: 128, stdout, stderr: `${stderr}\n${command} was ended by ${signalCode}` };
}

/** A program that runs until it is stopped. */
export interface Daemon {
  /** Ends it at once: these programs keep nothing that would need more, and a graceful API server takes a minute. */
  stop(): Promise<void>;
  /** Tells it something by a signal; gives its exit code once it has ended, which this does not wait for otherwise. */
  signal(signal: NodeJS.Signals): Promise<number | null>;
  ended: Promise<number | null>;
}

export interface DaemonOptions {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** What it prints goes here: a file takes no attention of this process, and is there when a start fails. */
  log: string;
  guard: Guard;
  ready: () => Promise<boolean>;
  timeout?: number;
}

/** Starts a program and waits until `ready` says so; throws with the end of its log where that never happens. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { name, command, args, env, log, guard, ready, timeout = 180_000 } = options;
  const file = await open(log, 'a');
  const child = spawn(command, args, { env, stdio: ['ignore', file.fd, file.fd] });
  guard.watch(child);
  try {
    await once(child, 'spawn');
  } finally {
    await file.close();
  }
  // a test that forgets to stop its cluster ends all the same; its guard then stops the programs
  child.unref();
  const running = () => child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    if (!running()) return;
    child.ref();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const signal = (name: NodeJS.Signals) => {
    child.kill(name);
    return ended;
  };
  const deadline = Date.now() + timeout;
  // a program that takes a connection and never answers must not outlast the deadline
  const answers = () => Promise.race([ready().catch(() => false), sleep(5_000, false, { ref: false })]);
  while (!(await answers())) {
    const problem = running() ? `was not ready within ${timeout / 1000} s` : `ended with ${child.exitCode}`;
    if (!running() || Date.now() > deadline) {
      await stop();
      throw new Error(`${name} ${problem}:\n${(await readFile(log, 'utf8')).slice(-4000)}`);
    }
    await sleep(50);
  }
  return { stop, signal, ended };
}

/** Cleans up when this process ends, however it ends. */
export interface Guard {
  /** From now on, until it ends by itself, this program too. */
  watch(child: ChildProcess): void;
  /** Nothing is left to clean up. */
  release(): void;
}

// The shell's input ends when this process is gone, also by SIGKILL, which no handler in this process could see. Each
// line replaces the one before: a number whose process has ended may soon be another's.
const guardScript = `trap '' INT TERM HUP
while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -9 $pids
[ -z "$2" ] || [ ! -d "$1" ] || sh "$2" "$1"
rm -rf "$1" || { sleep 3; rm -rf "$1"; }`;

/** Kills the programs that it watches, runs the script `cleanup` with `folder` and removes that, once this process is gone. */
export function startGuard(folder: string, cleanup = ''): Guard {
  const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore'];
  // detached: Ctrl-C is meant for the tests, and must find the guard alive
  const shell = spawn('/bin/sh', ['-c', guardScript, 'guard', folder, cleanup], { stdio, detached: true });
  shell.unref();
  shell.stdin.on('error', () => {});
  const pids = new Set<number>();
  const tell = () => void shell.stdin.write(`${[...pids].join(' ')}\n`);
  return {
    watch(child) {
      const { pid } = child;
      if (pid === undefined) return;
      pids.add(pid);
      tell();
      child.once('exit', () => {
        pids.delete(pid);
        tell();
      });
    },
    release: () => void shell.stdin.end('\n'),
  };
}
