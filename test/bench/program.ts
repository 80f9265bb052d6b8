// What the bench's programs have in common: arguments, the build of what they measure, and an end that leaves nothing running.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { type ParseArgsConfig, parseArgs, promisify } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Progress, on stderr: stdout has the results. */
export const say = (line: string): void => console.error(line);

/** The options of the command line; wrong ones end the program. */
export function givenBy<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args: process.argv.slice(2), options }).values;
  } catch (error) {
    say(`${errorWords(error)}\n\n${usage}`);
    process.exit(2);
  }
}

/** Builds one of the image's programs. */
export async function build(role: string, folder: string): Promise<void> {
  const args = [path.join(root, 'build.ts'), folder, '--role', role];
  await promisify(execFile)(process.execPath, args, { cwd: root });
}

/** The servers and PostgreSQL would go on after a signal. */
export function stopOnSignal(stop: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await stop();
      process.exit(130);
    });
  }
}

export async function run(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    say(errorWords(error));
    process.exitCode = 1;
  }
}
