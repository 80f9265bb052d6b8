#!/usr/bin/env node
// `realmctl`: a person's and a pipeline's way to a server's realms. It reads the environment and the arguments, holds
// the terminal and ends with the exit code; nothing else does.
import packageJson from '../package.json' with { type: 'json' };
import type { Io } from './command.ts';
import { faultOf, Interrupted } from './faults.ts';
import { plain } from './output.ts';
import { createProgram } from './program.ts';

const { stdin, stdout, stderr, env } = process;
const io: Io = {
  stdin,
  stdout,
  stderr,
  env,
  terminal: stdin.isTTY === true && stderr.isTTY === true,
  colour: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
};

/** The first Ctrl-C stops what is under way, the second one everything. */
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort(new Interrupted()));
process.once('SIGTERM', () => interrupt.abort(new Interrupted()));
// `realmctl … | head`: ends as SIGPIPE would have ended it. It is not 0: what was asked for may be half done.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 2));

/** Whatever is being waited for, Ctrl-C ends the waiting. */
const interruptible: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    signal: init?.signal ? AbortSignal.any([init.signal, interrupt.signal]) : interrupt.signal,
  });

const program = createProgram({ io, signal: interrupt.signal, version: packageJson.version, fetch: interruptible });
try {
  await program.parseAsync(process.argv);
} catch (error) {
  const { code, lines } = faultOf(
    interrupt.signal.aborted && !(error instanceof Interrupted) ? interrupt.signal.reason : error,
  );
  for (const [index, line] of lines.entries()) stderr.write(`${index === 0 ? 'realmctl: ' : ''}${plain(line)}\n`);
  process.exitCode = code;
}
