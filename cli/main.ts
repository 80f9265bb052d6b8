#!/usr/bin/env node
// `realmctl`: administers a server's realms from a terminal or a pipeline. Only this file reads the environment and the
// arguments, uses the terminal and ends the process with the exit code.
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
  shown: stdout.isTTY === true,
  colour: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
};

/** The first Ctrl-C stops the running command, the second one ends the process. */
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort(new Interrupted()));
process.once('SIGTERM', () => interrupt.abort(new Interrupted()));
// `realmctl … | head`: ends as SIGPIPE would have ended it. The code is not 0, because the command may be half done.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 2));

process.exitCode = await run(process.argv.slice(2), io, interrupt.signal);
