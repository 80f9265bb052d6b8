// Owns: writing a run's figures into docs/performance.md, with the commit, the machine and the day that they are from.
// Does not own: the table's form (figures.ts).
// Implements: a figure is written by the bench alone.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Case } from './bench.ts';
import { type Figure, type Marks, type Run, withFigures } from './figures.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The measured commit, marked where files differ from it. */
export async function commitOf(): Promise<string> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim();
  const changed = await git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs');
  return `${await git('rev-parse', '--short=8', 'HEAD')}${changed === '' ? '' : ' with changes'}`;
}

/** @returns what was written, in words */
export async function writeFigures(
  cases: readonly Pick<Case, 'name' | 'goal'>[],
  results: ReadonlyMap<string, Figure>,
  from: Omit<Run, 'day'>,
  marks?: Marks,
): Promise<string> {
  const file = path.join(root, 'docs/performance.md');
  const day = new Date().toISOString().slice(0, 10);
  await writeFile(file, withFigures(await readFile(file, 'utf8'), cases, { ...from, day }, results, marks));
  return `wrote ${results.size} of ${cases.length} figures into docs/performance.md`;
}
