// Owns: what the bench measures on: a real API server, PostgreSQL that syncs its writes, the built server and operator,
// each a process of its own; and how each is asked what it has done.
// Does not own: what is declared (fleet.ts), what is measured (cases.ts).
// Implements: the operator's benchmark; everything runs as users run it.
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { serverSession } from '../../../operator/session.ts';
import { type Api, connect } from '../../../operator/source/api.ts';
import { type Client, createClient } from '../../../server/contract/client.ts';
import { startPostgres } from '../../../server/db/embedded.ts';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';
import { type Series, seriesAt, seriesOf, sumOf } from '../../support/series.ts';
import { benchFolder } from '../folder.ts';
import { type Program, startProgram } from '../processes.ts';
import { build } from '../program.ts';
import { freePort } from '../target.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const built = path.join(root, 'node_modules/.cache/realmkeeper-bench');
/** A folder for each, so that the other benchmark's build is left alone. */
const folderOf = { server: built, operator: `${built}-operator` };
type Role = keyof typeof folderOf;

export interface Site {
  cluster: Cluster;
  api: Api;
  client: Client;
  serverPid: number;
  postgresPid: number;
  /** @returns its process id */
  startOperator(): Promise<number>;
  /** The operator's own metrics by series. */
  operatorMetrics(): Promise<Series>;
  /** Requests that the server has answered so far. */
  serverRequests(): Promise<number>;
  /** Of them, those that were to be asked again, since the realm had changed between plan and apply. */
  serverRetries(): Promise<number>;
  /** Requests that the API server has answered so far, of the kinds that the operator makes. */
  kubernetesRequests(): Promise<number>;
  stop(): Promise<void>;
}

/** Builds the server and the operator. */
export async function buildBoth(): Promise<void> {
  for (const [role, folder] of Object.entries(folderOf)) await build(role, folder);
}

export interface SiteOptions {
  say(line: string): void;
  concurrency: number;
  /** A folder for processor profiles of server and operator. */
  profile: string | undefined;
}

export async function startSite({ say, concurrency, profile }: SiteOptions): Promise<Site> {
  const ends: (() => Promise<void>)[] = [];
  // the operator first, the database last
  const stop = async () => {
    for (const end of ends.toReversed()) await end().catch((error) => say(String(error)));
    ends.length = 0;
  };
  try {
    const dir = await benchFolder();
    ends.push(() => rm(dir, { recursive: true, force: true }));
    const postgres = await startPostgres({ dir: path.join(dir, 'postgres'), log: say });
    ends.push(() => postgres.stop());
    const cluster = await startCluster({ crds: [path.join(root, 'crds')] });
    ends.push(() => cluster.stop());
    const start = async (role: Role, args: string[], env: Record<string, string>, ready: string): Promise<Program> => {
      const node = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.join(profile, role)}`];
      const file = path.join(folderOf[role], `${role}.js`);
      const production = { NODE_ENV: 'production', HOME: dir };
      const program = await startProgram([...node, file, ...args], { env: { ...production, ...env }, ready });
      ends.push(() => program.stop());
      return program;
    };
    const [serverPort, operatorPort] = [await freePort(), await freePort()];
    const serverUrl = `http://127.0.0.1:${serverPort}`;
    const secret = `svc_cs_${randomBytes(32).toString('base64url')}`;
    const server = await start(
      'server',
      [],
      {
        DATABASE_URL: postgres.url,
        SVC_MASTER_KEY: createHash('sha256').update('bench').digest('base64'),
        SVC_PORT: String(serverPort),
        SVC_LOG_LEVEL: 'warn',
        SVC_OPERATOR_CLIENT_SECRET: secret,
      },
      'listens on',
    );
    const api = connect(cluster.kubeconfig);
    ends.push(() => api.close());
    const operatorUrl = `127.0.0.1:${operatorPort}`;
    return {
      cluster,
      api,
      client: createClient({
        baseUrl: serverUrl,
        fetch,
        authorize: serverSession({ serverUrl, credential: { secret }, fetch }),
      }),
      serverPid: server.pid,
      postgresPid: postgres.pid,
      async startOperator() {
        const args = ['--listen', operatorUrl, '--concurrency', String(concurrency), '--namespace', 'default'];
        const env = { SVC_SERVER_URL: serverUrl, SVC_OPERATOR_CLIENT_SECRET: secret, KUBECONFIG: cluster.kubeconfig };
        return (await start('operator', args, env, 'Watching')).pid;
      },
      operatorMetrics: () => seriesAt(`http://${operatorUrl}/metrics`),
      serverRequests: async () => sumOf(await seriesAt(`${serverUrl}/actuator/metrics-text`), SERVER_REQUESTS),
      serverRetries: async () => sumOf(await seriesAt(`${serverUrl}/actuator/metrics-text`), SERVER_RETRIES),
      async kubernetesRequests() {
        const { stdout } = await cluster.kubectl(['get', '--raw', '/metrics']);
        return sumOf(seriesOf(stdout), KUBERNETES_REQUESTS);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

// The bench's own look at the metrics is not what is measured.
const SERVER_REQUESTS = /^http_server_requests_seconds_count\{(?!.*metrics-text)/;
const SERVER_RETRIES = /^http_server_requests_seconds_count\{.*status="412"/;
/** The API server's own controllers ask for other things, or far less often than a minute tells. */
const KUBERNETES_REQUESTS =
  /^apiserver_request_total\{.*(group="realmkeeper\.dev"|resource="(secrets|events|namespaces|leases)")/;
