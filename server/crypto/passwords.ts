// Hashes and checks people's passwords: argon2id in worker threads with a bounded queue. Never on the event loop and never in
// the libuv pool, which signs tokens. It knows no user, policy or lockout (features/people/credentials).
// Specification 2.3.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { traced } from '../telemetry/spans.ts';
import type { PasswordTask, PasswordWork } from './password-worker.ts';
import { type Argon2Parameters, argon2Prefix, FOREIGN_KIB, kibOf, phcOfNobody } from './phc.ts';

export interface Passwords {
  /** A PHC string of argon2id. */
  hash(plain: string): Promise<string>;
  /** `rehash`: the password is right, but the hash has another algorithm or other parameters than today's. */
  verify(phc: string, plain: string): Promise<{ ok: boolean; rehash: boolean }>;
  /** A hash to check against when the username is unknown, so that the answer takes as long as for a known one. */
  phcForNobody: string;
  /** Finishes the queued tasks, then ends the threads. */
  stop(): Promise<void>;
}

export interface PasswordOptions {
  /** Default: one for each core. */
  threads?: number | undefined;
  /** OWASP's first choice for argon2id: 19 MiB, two passes. */
  parameters?: Argon2Parameters | undefined;
  /** Milliseconds that an answer may wait for others, so that one message carries them all. */
  heldMs?: number;
  /** How many tasks may wait for each thread before new ones are refused. */
  waitingPerThread?: number;
}

interface Task {
  message: PasswordTask;
  /** KiB that checking an imported hash takes. */
  kib: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

const Answers = z.array(
  z.union([
    z.object({ hash: z.string() }),
    z.object({ ok: z.boolean(), rehash: z.boolean() }),
    z.object({ failed: z.string() }),
  ]),
);
type Answer = z.infer<typeof Answers>[number];
const RETRY_AFTER_SECONDS = 2;
/** Tasks sent to a thread in advance: it answers up to half of them in one message and continues with the rest. */
const AHEAD = 16;

/**
 * Hashes and checks passwords in worker threads. @throws Problem `unavailable` once stopped, `too-many-requests` while too many tasks
 * wait
 */
export function createPasswords({
  threads = availableParallelism(),
  parameters = { memory: 19_456, passes: 2, lanes: 1 },
  heldMs = 80,
  waitingPerThread = 128,
}: PasswordOptions = {}): Passwords {
  const most = Math.max(1, Math.min(threads, availableParallelism()));
  const todays = argon2Prefix(parameters);
  const waiting: Task[] = [];
  const idle: Worker[] = [];
  /** The tasks that each thread has; it computes the first. */
  const busy = new Map<Worker, Task[]>();
  let stopping: (() => void) | undefined;
  let stopped = false;

  function startWorker(): Worker {
    const workerData: PasswordWork = { parameters, heldMs };
    const worker = new Worker(new URL(workerFile, import.meta.url), { workerData });
    worker.on('message', (message: unknown) => {
      const tasks = busy.get(worker) ?? [];
      const answers = Answers.parse(message);
      const done = tasks.splice(0, answers.length);
      if (tasks.length === 0) {
        busy.delete(worker);
        // Waiting for work must not keep the process alive.
        worker.unref();
        idle.push(worker);
      }
      for (const [i, answer] of answers.entries()) {
        if ('failed' in answer) done[i]?.reject(new Error(`a password could not be hashed: ${answer.failed}`));
        else done[i]?.resolve(answer);
      }
      next();
    });
    // A thread that died takes its tasks with it; the next task gets a new thread.
    const gone = (error: Error) => {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      for (const task of busy.get(worker) ?? []) task.reject(error);
      busy.delete(worker);
      if (!stopped) next();
    };
    worker.on('error', gone);
    worker.on('exit', () => gone(new Error('a password thread ended')));
    return worker;
  }

  /** The thread with the fewest tasks; undefined if all are full. No task is queued behind a hash that may take a second. */
  function withRoom(): Worker | undefined {
    let found: Worker | undefined;
    let least = AHEAD;
    for (const [worker, tasks] of busy) {
      if (tasks.length >= least || tasks.at(-1)?.message.apart) continue;
      found = worker;
      least = tasks.length;
    }
    return found;
  }

  /**
   * The index of the next task. It is the first one, with two exceptions for imported hashes: while other tasks wait, they
   * leave one thread free, so that a client that sends many delays no other; and they wait for each other when together they
   * would take too much memory.
   */
  function nextTask(): number {
    const apart = [...busy.values()].filter((tasks) => tasks.at(-1)?.message.apart).length;
    const taken = [...busy.values()].flat().reduce((sum, { kib }) => sum + kib, 0);
    const fits = ({ kib }: Task) => kib === 0 || taken === 0 || taken + kib <= FOREIGN_KIB;
    const other = apart >= Math.max(1, most - 1) ? waiting.findIndex(({ message }) => !message.apart) : -1;
    return other >= 0 ? other : waiting.findIndex(fits);
  }

  function next(): void {
    for (let at = nextTask(); at >= 0; at = nextTask()) {
      const worker = idle.pop() ?? (busy.size < most ? startWorker() : withRoom());
      if (!worker) return;
      const [task] = waiting.splice(at, 1);
      if (!task) return;
      const tasks = busy.get(worker);
      if (tasks) tasks.push(task);
      else {
        busy.set(worker, [task]);
        worker.ref();
      }
      worker.postMessage(task.message);
    }
    if (busy.size === 0) stopping?.();
  }

  function run(message: Task['message']): Promise<Answer> {
    if (stopped) return Promise.reject(new Problem('unavailable', 'The server is stopping'));
    if (waiting.length >= most * waitingPerThread)
      return Promise.reject(
        new Problem('too-many-requests', 'Too many people are signing in at this moment; try again shortly', {
          reason: 'the password queue is full',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        }),
      );
    return new Promise((resolve, reject) => {
      const kib = message.apart ? kibOf(message.phc ?? '') : 0;
      waiting.push({ message, kib, resolve, reject });
      next();
    });
  }

  return {
    async hash(plain) {
      const answer = await traced('password hash', { within: true }, () => run({ plain, apart: false }));
      if (!('hash' in answer)) throw new Error('a password thread answered something else');
      return answer.hash;
    },
    async verify(phc, plain) {
      const message = { plain, phc, apart: !phc.startsWith(todays) };
      const answer = await traced('password verify', { within: true }, () => run(message));
      if (!('ok' in answer)) throw new Error('a password thread answered something else');
      return answer;
    },
    phcForNobody: phcOfNobody(parameters),
    async stop() {
      stopped = true;
      await new Promise<void>((resolve) => {
        stopping = resolve;
        next();
      });
      await Promise.all(idle.map((worker) => worker.terminate()));
    },
  };
}

/** The build puts the worker beside this file as .js (build.ts). */
const workerFile = import.meta.url.endsWith('.ts') ? './password-worker.ts' : './password-worker.js';
