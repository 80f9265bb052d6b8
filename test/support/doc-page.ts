// A page of the documentation: its code blocks, and running them.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** @param name a file of docs/ */
export async function docPage(name: string) {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs', name), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
  return {
    /** The first block of this kind that has the words; without such a block, an empty text. */
    block: (kind: string, words = ''): string =>
      blocks.find(([, of, code]) => of === kind && code?.includes(words))?.[2] ?? '',
  };
}

/** Runs a block of commands, which ends at the first that fails. @returns what it prints */
export async function runBlock(commands: string, env: Record<string, string>, cwd?: string): Promise<string> {
  const options = { env: { ...process.env, ...env }, ...(cwd !== undefined && { cwd }) };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], options)).stdout;
}
