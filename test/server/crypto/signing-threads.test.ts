import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const file = path.resolve(import.meta.dirname, '../../../server/crypto/signing-threads.ts');
/** Names and priorities of a process's threads, once it has let its event loop go first. */
const program = `
  import { readdirSync, readFileSync } from 'node:fs';
  import os from 'node:os';
  import { yieldToEventLoop } from ${JSON.stringify(file)};
  await yieldToEventLoop();
  const name = (id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim();
  const threads = readdirSync('/proc/self/task').map((id) => ({ name: name(id), nice: os.getPriority(Number(id)) }));
  console.log(JSON.stringify({ own: os.getPriority(), threads }));
`;

interface Told {
  own: number;
  threads: { name: string; nice: number }[];
}

// Elsewhere threads have no priority of their own, and nothing is done.
describe.runIf(os.platform() === 'linux')('the threads that sign', () => {
  it('go after the event loop, which stays where it was', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const { own, threads }: Told = JSON.parse(stdout);
    const signing = threads.filter(({ name }) => name === 'libuv-worker');
    expect(signing.length).toBeGreaterThan(0);
    expect(signing.every(({ nice }) => nice > own)).toBe(true);
    expect(own).toBe(os.getPriority());
  });
});
