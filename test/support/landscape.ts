// Owns: a real cluster, a server and an operator, each of the last two a process of its own that can be killed.
// Does not own: the Kubernetes programs (test/kubernetes), a server in the test's process (server.ts).
// Implements: tests of what outlives a crash: everything runs as users run it, and ends by SIGKILL.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { API_VERSION, type KindName, plurals } from '../../operator/resource.ts';
import { serverSession } from '../../operator/session.ts';
import { type Client, createClient } from '../../server/contract/client.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../kubernetes/cluster.ts';
import { type Daemon, startDaemon, startGuard } from '../kubernetes/processes.ts';
import type { Shown } from '../kubernetes/reader.ts';
import { type SharedCluster, shareCluster } from '../kubernetes/shared-cluster.ts';
import { compileCache } from './compile-cache.ts';
import { createDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { eventually, type Manifest, OPERATOR_SECRET } from './operator.ts';
import { MASTER_KEY } from './server.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A program that is started and killed as the test likes. */
export interface Program {
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Signals it; gives its exit code once it has ended. */
  signal(signal: NodeJS.Signals): Promise<number | null>;
  /** Its exit code, once it has ended. */
  ended(): Promise<number | null>;
  /** Lets it sleep, as a machine does that is frozen. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Everything it has printed, over all its lives. */
  said(): Promise<string>;
}

export interface Landscape<C extends SharedCluster = SharedCluster> {
  cluster: C;
  server: Program;
  /** Alone, and so without a Lease: a test that kills it need not wait. */
  operator: Program;
  /** Starts server and operator. */
  start(): Promise<void>;
  /** One more, which is told where the server is and how to sign in unless `env` says otherwise. */
  operatorLike(name: string, options: { args: string[]; env?: Record<string, string> }): Program;
  serverUrl: string;
  /** The server's. */
  databaseUrl: string;
  /** The admin API as the operator may use it. */
  client: Client;
  /** kubectl, which must succeed. */
  kubectl(...args: string[]): Promise<string>;
  /** `kubectl apply`, which must succeed. */
  apply(...manifests: Manifest[]): Promise<void>;
  /** Reads without a process, for polls. */
  object(kind: KindName | 'Secret', name: string, namespace?: string): Promise<Shown>;
  stop(): Promise<void>;
}

export interface LandscapeOptions {
  /** A cluster that no other test file uses, for a test that stops it or changes its settings. */
  own?: Omit<ClusterOptions, 'crds'>;
  /** More environment of the server, which the cluster may have a say in. */
  serverEnv?: (cluster: SharedCluster) => Promise<Record<string, string>>;
}
type OwnLandscape = LandscapeOptions & Required<Pick<LandscapeOptions, 'own'>>;

export async function startLandscape(options: OwnLandscape): Promise<Landscape<Cluster>>;
export async function startLandscape(options?: LandscapeOptions): Promise<Landscape>;
export async function startLandscape({ own, serverEnv = async () => ({}) }: LandscapeOptions = {}): Promise<Landscape> {
  const owned = own && startCluster({ crds: [path.join(root, 'crds')], ...own });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-landscape-'));
  const guard = startGuard(folder);
  const [database, cluster, port] = await Promise.all([createDatabase(), owned ?? shareCluster(), freePort()]);
  const serverUrl = `http://127.0.0.1:${port}`;
  const client = createClient({
    baseUrl: serverUrl,
    fetch,
    authorize: serverSession({ serverUrl, credential: { secret: OPERATOR_SECRET }, fetch }),
  });

  const programs: Program[] = [];
  function program(
    name: string,
    [file, ...args]: [string, ...string[]],
    env: NodeJS.ProcessEnv,
    ready: () => Promise<boolean>,
  ): Program {
    const log = path.join(folder, `${name}.log`);
    let daemon: Daemon | undefined;
    const made: Program = {
      async start() {
        daemon = await startDaemon({
          name,
          command: process.execPath,
          args: [path.join(root, file), ...args],
          env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...compileCache(), ...env },
          log,
          guard,
          ready,
        });
      },
      async kill() {
        await daemon?.stop();
        daemon = undefined;
      },
      signal: async (name) => (daemon ? daemon.signal(name) : null),
      ended: async () => (daemon ? daemon.ended : null),
      pause: async () => void daemon?.signal('SIGSTOP'),
      resume: async () => void daemon?.signal('SIGCONT'),
      said: () => readFile(log, 'utf8').catch(() => ''),
    };
    programs.push(made);
    return made;
  }

  const server = program(
    'server',
    ['server/main.ts'],
    {
      SVC_PORT: String(port),
      SVC_LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
      SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
      SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      ...(await serverEnv(cluster)),
    },
    async () => (await fetch(`${serverUrl}/realms/master/.well-known/openid-configuration`)).ok,
  );
  const operatorLike: Landscape['operatorLike'] = (name, { args, env = {} }) =>
    program(
      name,
      ['operator/main.ts', ...args],
      {
        SVC_SERVER_URL: serverUrl,
        KUBECONFIG: cluster.kubeconfig,
        ...('SVC_OPERATOR_TOKEN_FILE' in env ? {} : { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET }),
        ...env,
      },
      async () => true,
    );
  const operator = operatorLike('operator', { args: ['--no-leader-elect'] });
  const kubectl = (...args: string[]) => cluster.must(args);
  return {
    cluster,
    server,
    operator,
    operatorLike,
    serverUrl,
    databaseUrl: database.url,
    client,
    kubectl,
    async apply(...items) {
      const list = { apiVersion: 'v1', kind: 'List', items };
      await cluster.must(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(list));
    },
    async start() {
      await Promise.all([server.start(), operator.start()]);
    },
    object(kind, name, namespace = 'default') {
      const [group, plural] = kind === 'Secret' ? ['/api/v1', 'secrets'] : [`/apis/${API_VERSION}`, plurals[kind]];
      return cluster.read(`${group}/namespaces/${namespace}/${plural}/${name}`);
    },
    async stop() {
      await Promise.all(programs.map((one) => one.kill()));
      await Promise.all([owned?.then((one) => one.stop()), eventually(() => database.drop())]);
      await rm(folder, { recursive: true, force: true });
      guard.release();
    },
  };
}

/** One for all tests of a suite, with server and operator running; it goes with them. */
export function landscape(options: OwnLandscape): Omit<Landscape<Cluster>, 'start' | 'stop'>;
export function landscape(options?: LandscapeOptions): Omit<Landscape, 'start' | 'stop'>;
export function landscape(options?: LandscapeOptions): Omit<Landscape, 'start' | 'stop'> {
  let land: Landscape | undefined;
  const there = (): Landscape => {
    if (!land) throw new Error('the landscape is not there yet');
    return land;
  };
  beforeAll(async () => {
    land = await startLandscape(options);
    await land.start();
  });
  afterAll(() => land?.stop());
  return {
    get cluster() {
      return there().cluster;
    },
    get server() {
      return there().server;
    },
    get operator() {
      return there().operator;
    },
    get serverUrl() {
      return there().serverUrl;
    },
    get databaseUrl() {
      return there().databaseUrl;
    },
    get client() {
      return there().client;
    },
    operatorLike: (...of) => there().operatorLike(...of),
    kubectl: (...args) => there().kubectl(...args),
    apply: (...manifests) => there().apply(...manifests),
    object: (...of) => there().object(...of),
  };
}
