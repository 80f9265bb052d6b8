// Owns: one run of realmctl, from its arguments to its exit code.
// Does not own: the process around it: terminal, signals, environment (main.ts).
import packageJson from '../package.json' with { type: 'json' };
import type { Io } from './command.ts';
import { faultOf, Interrupted } from './faults.ts';
import { plain } from './output.ts';
import { createProgram } from './program.ts';

/** @param signal aborted with {@link Interrupted}: it ends every wait for the server or the user */
export async function run(args: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const interruptible: typeof fetch = (input, init) =>
    fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });
  const program = createProgram({ io, signal, version: packageJson.version, fetch: interruptible });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { code, lines } = faultOf(signal.aborted && !(error instanceof Interrupted) ? signal.reason : error);
    for (const [index, line] of lines.entries()) io.stderr.write(`${index === 0 ? 'realmctl: ' : ''}${plain(line)}\n`);
    return code;
  }
}
