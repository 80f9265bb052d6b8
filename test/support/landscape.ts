// Owns: a real cluster, a server and an operator, each of the last two a process of its own that can be killed.
// Does not own: the Kubernetes programs (test/kubernetes), a server in the test's process (server.ts).
// Implements: tests of what outlives a crash: everything runs as users run it, and ends by SIGKILL.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { KindName } from '../../operator/resource.ts';
import { serverSession } from '../../operator/session.ts';
import { type Client, createClient } from '../../server/contract/client.ts';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { type Daemon, type Outcome, startDaemon, startGuard } from '../kubernetes/processes.ts';
import { createDatabase } from './database.ts';
import { eventually, type Manifest, OPERATOR_SECRET } from './operator.ts';
import { MASTER_KEY } from './server.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A program that is started and killed as the test likes. */
export interface Program {
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Everything it has printed, over all its lives. */
  said(): Promise<string>;
}

export interface Landscape {
  cluster: Cluster;
  server: Program;
  operator: Program;
  serverUrl: string;
  /** The admin API as the operator may use it. */
  client: Client;
  /** kubectl, which must succeed. */
  kubectl(...args: string[]): Promise<string>;
  apply(...manifests: Manifest[]): Promise<Outcome>;
  object(kind: KindName, name: string): Promise<{ metadata: Record<string, unknown>; status: unknown }>;
  stop(): Promise<void>;
}

export async function startLandscape(): Promise<Landscape> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-landscape-'));
  const guard = startGuard(folder);
  const [database, cluster, port] = await Promise.all([
    createDatabase(),
    startCluster({ crds: [path.join(root, 'crds')] }),
    freePort(),
  ]);
  const serverUrl = `http://127.0.0.1:${port}`;
  const client = createClient({
    baseUrl: serverUrl,
    fetch,
    authorize: serverSession({ serverUrl, credential: { secret: OPERATOR_SECRET }, fetch }),
  });

  function program(name: string, file: string, env: NodeJS.ProcessEnv, ready: () => Promise<boolean>): Program {
    const log = path.join(folder, `${name}.log`);
    let daemon: Daemon | undefined;
    return {
      async start() {
        daemon = await startDaemon({
          name,
          command: process.execPath,
          args: [path.join(root, file)],
          env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...env },
          log,
          guard,
          ready,
        });
      },
      async kill() {
        await daemon?.stop();
        daemon = undefined;
      },
      said: () => readFile(log, 'utf8').catch(() => ''),
    };
  }

  const server = program(
    'server',
    'server/main.ts',
    {
      SVC_PORT: String(port),
      SVC_LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
      SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
    },
    async () => (await fetch(`${serverUrl}/realms/master/.well-known/openid-configuration`)).ok,
  );
  const operator = program(
    'operator',
    'operator/main.ts',
    {
      SVC_SERVER_URL: serverUrl,
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      KUBECONFIG: cluster.kubeconfig,
    },
    async () => true,
  );
  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await cluster.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  return {
    cluster,
    server,
    operator,
    serverUrl,
    client,
    kubectl,
    apply: (...items) =>
      cluster.kubectl(
        ['apply', '--server-side', '--force-conflicts', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      ),
    object: async (kind, name) => JSON.parse(await kubectl('get', kind.toLowerCase(), name, '-o', 'json')),
    async stop() {
      await operator.kill();
      await server.kill();
      await Promise.all([cluster.stop(), eventually(() => database.drop())]);
      await rm(folder, { recursive: true, force: true });
      guard.release();
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
