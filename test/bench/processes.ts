// Child processes of the bench: workers that answer a message with a message, and programs that say when they are ready.
// Everything that is measured or measures runs in a process of its own, so that nothing shares an event loop.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A program of the bench that does what it is asked, one thing after another. */
export interface Worker<Ask, Told> {
  pid: number;
  ask(message: Ask): Promise<Told>;
  stop(): Promise<void>;
}

/** What a worker answers: its result, or why there is none. */
type Reply<Told> = { told: Told } | { failed: string };

/** @param file relative to test/bench */
export function startWorker<Ask extends object, Told>(file: string, args: readonly string[] = []): Worker<Ask, Told> {
  const child = fork(path.join(import.meta.dirname, file), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)));
  // it settles long after, when nobody listens any more
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    async ask(message) {
      child.send(message);
      const [reply]: Reply<Told>[] = await Promise.race([once(child, 'message'), ended]);
      if (reply === undefined || 'failed' in reply) throw new Error(`${file}: ${reply?.failed}`);
      return reply.told;
    },
    stop: () => end(child),
  };
}

/** The worker's side. */
export function answer<Ask, Told>(work: (message: Ask) => Promise<Told>): void {
  process.on('message', async (message: Ask) => {
    try {
      process.send?.({ told: await work(message) });
    } catch (error) {
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.once('disconnect', () => process.exit());
}

export interface Program {
  pid: number;
  /** From spawning to the line that was waited for. */
  milliseconds: number;
  stop(): Promise<void>;
}

/** Starts a program and waits until its output holds `ready`, or until it ends where `ready` is undefined. */
export async function startProgram(
  args: readonly string[],
  { env, ready }: { env: Record<string, string>; ready: string | undefined },
): Promise<Program> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let said = '';
  const becameReady = new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk).slice(-4000);
      if (ready !== undefined && said.includes(ready)) resolve();
    });
  });
  const failed = ended.then(([code]) => {
    if (ready !== undefined || code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${said}`);
  });
  failed.catch(() => {});
  await Promise.race([becameReady, failed]);
  return { pid: child.pid ?? 0, milliseconds: performance.now() - began, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(impatient);
}
