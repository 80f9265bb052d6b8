// Owns: running podman, with limits and a runtime that it also has inside a virtual machine or another container.
// Does not own: which images there are (images.ts).
import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Debian's names of what an engine needs. */
const PACKAGES =
  'podman buildah runc netavark aardvark-dns containernetworking-plugins iproute2 iptables uidmap catatonit debootstrap';

const exists = (program: string): Promise<boolean> =>
  execute(program, ['--version']).then(
    () => true,
    () => false,
  );

/** The machine is none that `npm run containers` can prepare: a run with CI=true doesn't fail for that. */
export class NotPromised extends Error {}
/** How prepare.ts ends then. */
export const NOT_PROMISED = 3;

/** Installs podman on a Debian where this is root; elsewhere it says what is missing. */
export async function obtainEngine(log: (message: string) => void): Promise<string> {
  if (!(await exists('podman'))) {
    if (process.getuid?.() !== 0 || !(await exists('apt-get')))
      throw new NotPromised('there is no podman: install it (on Debian, root gets it by npm run containers)');
    log('podman: installing it with apt-get');
    await execute('apt-get', ['update', '-qq']);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await execute('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES.split(' ')], { env });
  }
  const { stdout } = await podman(['version', '--format', '{{.Client.Version}}']);
  return stdout.trim();
}

/** Podman's own defaults ask for more open files than a limited root may have, and for a cgroup manager that needs systemd. */
const CONFIGURATION = `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`;
let configured: Promise<string> | undefined;
async function configuration(): Promise<string> {
  const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'realmkeeper');
  const file = path.join(folder, 'containers.conf');
  await mkdir(folder, { recursive: true });
  await writeFile(file, CONFIGURATION);
  return file;
}
/** Where the machine is set up by itself, its own configuration is the right one. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  if (process.env.CONTAINERS_CONF || process.getuid?.() !== 0) return process.env;
  configured ??= configuration();
  return { ...process.env, CONTAINERS_CONF: await configured };
}

/** @throws Error with the last lines of what podman said */
export async function podman(
  args: readonly string[],
  options: { timeoutMs?: number } = {},
): Promise<{ stdout: string; stderr: string }> {
  try {
    return await execute('podman', args, {
      env: await environment(),
      timeout: options.timeoutMs ?? 600_000,
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().slice(-2000) : '';
    throw new Error(`podman ${args[0]}: ${words || (error instanceof Error ? error.message : String(error))}`);
  }
}

/** Makes an image of a folder: an archive of it, without what the engine adds. */
export async function importFolder(folder: string, name: string, changes: readonly string[] = []): Promise<void> {
  const flags = changes.flatMap((change) => ['--change', change]);
  const importing = spawn('podman', ['import', '-q', ...flags, '-', name], {
    env: await environment(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const tar = spawn('tar', ['-C', folder, '--numeric-owner', '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  // piped here: of a pipe that podman is given itself, this process takes what is left when tar has ended
  tar.stdout.pipe(importing.stdin).on('error', () => {});
  let words = '';
  importing.stderr?.on('data', (chunk: Buffer) => {
    words += chunk;
  });
  const code = await new Promise<number | null>((resolve) => importing.once('close', resolve));
  if (code !== 0) throw new Error(`podman import of ${name}: ${words.trim()}`);
}
