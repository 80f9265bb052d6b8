// The image as the Dockerfile makes it, run without rights and on a read-only root against each major of PostgreSQL:
// migrations, server, realmctl and operator.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shareCluster } from '../kubernetes/shared-cluster.ts';
import { freePort } from '../support/free-port.ts';
import { eventually, OPERATOR_SECRET } from '../support/operator.ts';
import { MASTER_KEY } from '../support/server.ts';
import { podman } from './engine.ts';
import { buildImage, IMAGE, postgresImage } from './images.ts';

const HARDENED = [
  '--read-only',
  '--read-only-tmpfs=false',
  '--cap-drop',
  'all',
  '--security-opt',
  'no-new-privileges',
  '--network',
  'host',
];
const started: string[] = [];
const folders: string[] = [];

interface Wanted {
  env?: Record<string, string>;
  /** More of podman's options. */
  options?: readonly string[];
}
const flagsOf = ({ env = {}, options = [] }: Wanted) => [
  ...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
  ...options,
];

/** Runs a program of the image to its end. */
const once = (args: readonly string[], wanted: Wanted = {}) =>
  podman(['run', '--rm', ...HARDENED, ...flagsOf(wanted), IMAGE, ...args]);

/** Starts a container that stays. */
async function start(image: string, args: readonly string[], wanted: Wanted): Promise<string> {
  const { stdout } = await podman(['run', '-d', ...HARDENED, ...flagsOf(wanted), image, ...args]);
  const id = stdout.trim();
  started.push(id);
  return id;
}
const logOf = async (id: string) => {
  const { stdout, stderr } = await podman(['logs', id]);
  return stdout + stderr;
};

/** A migrated database. */
async function startPostgres(major: string): Promise<string> {
  const port = await freePort();
  const options = ['--tmpfs', '/data:mode=1777', '--tmpfs', '/tmp', '--tmpfs', '/dev/shm:mode=1777'];
  await start(postgresImage(major), ['-p', String(port), '-c', 'unix_socket_directories=/tmp', '-c', 'fsync=off'], {
    options,
  });
  const DATABASE_URL = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const { stdout } = await once(['migrate.js', '--wait', '60'], { env: { DATABASE_URL } });
  expect(stdout).toContain('migrations applied');
  return DATABASE_URL;
}

async function startServer(DATABASE_URL: string): Promise<{ id: string; url: string }> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const id = await start(IMAGE, [], {
    env: {
      DATABASE_URL,
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
      SVC_PORT: port,
      SVC_HOST: '127.0.0.1',
      SVC_BASE_URL: url,
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      SVC_LOG_LEVEL: 'warn',
    },
  });
  await eventually(async () => {
    const ready = await fetch(`${url}/actuator/health/readiness`).catch((cause: unknown) => ({ ok: false, cause }));
    if (!ready.ok) throw new Error(await logOf(id));
  });
  return { id, url };
}

const realmctl = (url: string, ...args: string[]) =>
  once(['realmctl.js', ...args], {
    env: { REALMCTL_SERVER: url, REALMCTL_CLIENT_ID: 'operator', REALMCTL_CLIENT_SECRET: OPERATOR_SECRET },
  });

const REALM = `apiVersion: realmkeeper.dev/v1alpha1
kind: Realm
metadata: { name: shop }
spec: { realm: shop, settings: { displayName: From a container } }
`;
async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-image-'));
  folders.push(folder);
  await promisify(execFile)('chmod', ['755', folder]);
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text, { mode: 0o644 });
  return folder;
}

beforeAll(buildImage, 600_000);
afterAll(async () => {
  if (started.length > 0) await podman(['rm', '-f', '-t', '0', ...started]);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

test('a program in the image has no capability, is nobody of rights, and can write nowhere', async () => {
  const look = `const fs = require('node:fs');
    const status = fs.readFileSync('/proc/self/status', 'utf8');
    const written = ['/app/x', '/tmp/x', '/home/x'].filter((file) => { try { fs.writeFileSync(file, ''); return true; } catch { return false; } });
    console.log(JSON.stringify({ uid: process.getuid(), gid: process.getgid(), written,
      effective: /CapEff:\\s*(\\S+)/.exec(status)[1], bounding: /CapBnd:\\s*(\\S+)/.exec(status)[1], noNew: /NoNewPrivs:\\s*(\\S+)/.exec(status)[1] }))`;
  const { stdout } = await once(['-e', look]);
  expect(JSON.parse(stdout)).toEqual({
    uid: 65_532,
    gid: 65_532,
    written: [],
    effective: '0000000000000000',
    bounding: '0000000000000000',
    noNew: '1',
  });
});

test.each([
  ['migrate.js', /node migrate\.js/],
  ['reseal.js', /node reseal\.js/],
  ['recover-admin.js', /node recover-admin\.js/],
  ['server.js', /node server\.js/],
  ['operator.js', /node operator\.js/],
  ['realmctl.js', /realmctl/],
])('%s --help names what is in the image', async (program, named) => {
  const { stdout } = await once([program, '--help']);
  expect(stdout).toMatch(named);
  expect(stdout).not.toContain('npm ');
});

describe.each(['15', '16', '17', '18'])('on PostgreSQL %s', (major) => {
  let server: { id: string; url: string };
  beforeAll(async () => {
    server = await startServer(await startPostgres(major));
  });

  test('the operator makes a realm of a folder’s files, and realmctl exports it', async () => {
    const folder = await folderOf({ 'realm.yaml': REALM });
    const operator = await start(IMAGE, ['operator.js', '--manifests', '/realms'], {
      env: { SVC_SERVER_URL: server.url, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET },
      options: ['-v', `${folder}:/realms:ro`],
    });
    await eventually(async () => {
      const exported = await realmctl(server.url, 'export', 'shop').catch(async (error: Error) => {
        throw new Error(`${error.message}\n${await logOf(operator)}`);
      });
      expect(exported.stdout).toContain('From a container');
    });
  });

  test('the server ends by SIGTERM, and has had nothing to warn of', async () => {
    await podman(['stop', '-t', '20', server.id]);
    const { stdout } = await podman(['inspect', '--format', '{{.State.ExitCode}}', server.id]);
    expect(stdout.trim()).toBe('0');
    expect(await logOf(server.id)).not.toMatch(/EACCES|EROFS|"level":"(warn|error|fatal)"/);
  });
});

test('the operator works on a cluster, with a Lease', async () => {
  const cluster = await shareCluster();
  const server = await startServer(await startPostgres('18'));
  await cluster.must(['apply', '--server-side', '-f', '-'], REALM);
  const kubeconfig = await promisify(execFile)('cat', [cluster.kubeconfig]);
  const folder = await folderOf({ kubeconfig: kubeconfig.stdout });
  const operator = await start(IMAGE, ['operator.js', '--namespace', 'default'], {
    env: { SVC_SERVER_URL: server.url, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET, KUBECONFIG: '/kube/kubeconfig' },
    options: ['-v', `${folder}:/kube:ro`],
  });
  await eventually(async () => {
    const { stdout } = await cluster.kubectl(['get', 'realm', 'shop', '-o', 'json']);
    expect(JSON.parse(stdout).status, await logOf(operator)).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
    });
  });
  expect(await logOf(operator)).toContain('leading as');
});
