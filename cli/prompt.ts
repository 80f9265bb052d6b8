// Asks the user at the terminal. The question goes to stderr; secret answers are not shown.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Cli } from './command.ts';
import { Interrupted, Refused } from './faults.ts';
import { plain } from './output.ts';
import { utf8Text } from './text.ts';

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** @param instead how to provide the value without a terminal */
export async function ask(
  { io, signal }: Pick<Cli, 'io' | 'signal'>,
  question: string,
  { hidden = false, instead }: { hidden?: boolean; instead: string },
): Promise<string> {
  if (!io.terminal) throw new Refused(`this is not a terminal, so the question can’t be asked: ${question}`, instead);
  io.stderr.write(`${plain(question)}: `);
  // readline echoes typed text to its output, so a secret's output is discarded
  const lines = createInterface({ input: io.stdin, output: hidden ? nowhere() : io.stderr, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new Interrupted()));
      lines.once('close', () => reject(new Interrupted('nothing was answered')));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    lines.close();
    if (hidden) io.stderr.write('\n');
  }
}

/** Any answer but yes means no. */
export const confirm = async (cli: Pick<Cli, 'io' | 'signal'>, question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(cli, `${question} [y/N]`, { instead: 'Say so with --yes.' })).trim());

/** All lines of stdin if it isn't a terminal: at most 64 KiB, since passwords are short. */
export async function lines({ io, signal }: Pick<Cli, 'io' | 'signal'>): Promise<string[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.stdin) {
    signal.throwIfAborted();
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > 65_536) throw new Refused('stdin holds more than a password');
  }
  return utf8Text(Buffer.concat(chunks), 'stdin').split(/\r?\n/);
}
