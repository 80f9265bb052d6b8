#!/usr/bin/env node
// `realmctl`: a person's and a pipeline's way to a server's realms. It reads the environment and the arguments, holds
// the terminal and ends with the exit code; nothing else does.
import type { Io } from './command.ts';
import { Interrupted } from './faults.ts';
import { run } from './run.ts';

const { stdin, stdout, stderr, env } = process;
const io: Io = {
  stdin,
  stdout,
  stderr,
  env,
  terminal: stdin.isTTY === true && stderr.isTTY === true,
  watched: stderr.isTTY === true,
  colour: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
};

/** The first Ctrl-C stops what is under way, the second one everything. */
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort(new Interrupted()));
process.once('SIGTERM', () => interrupt.abort(new Interrupted()));
// `realmctl … | head`: ends as SIGPIPE would have ended it. It is not 0: what was asked for may be half done.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 2));

process.exitCode = await run(process.argv.slice(2), io, interrupt.signal);
