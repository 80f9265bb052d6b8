// Owns: a program of a test's that says lines of JSON, and is told lines.
// Does not own: what is said (python-client.py, test/clients/go).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export function converse(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: 'pipe' });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const over = once(child, 'close');
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk).slice(-4000);
  });
  return {
    /** Its next line. */
    async hear(): Promise<Record<string, unknown>> {
      const { value, done } = await lines.next();
      if (done) throw new Error(`it said no more: ${complaints}`);
      return JSON.parse(value);
    },
    tell: (line: string): void => void child.stdin.write(`${line}\n`),
    async stop(): Promise<void> {
      child.kill();
      await over;
    },
  };
}
export type Conversation = ReturnType<typeof converse>;
