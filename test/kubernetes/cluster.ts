// Owns: `startCluster`, a real Kubernetes API for one test file, with garbage collection and namespace deletion.
// Does not own: its programs (prepare.ts). No kubelet: Pods are stored and validated, but run only where test/node adds one.
// Implements: the tests of CRDs, the operator and the chart on the API server that users have.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Assets, findAssets, kubernetes } from './assets.ts';
import { type AuditedRequest, auditedRequests, writeAuditPolicy } from './audit.ts';
import {
  programEnvironment,
  SERVICE_ADDRESSES,
  type Site,
  startApiServer,
  startControllers,
  startEtcd,
} from './control-plane.ts';
import { createIdentity } from './identity.ts';
import { type Daemon, type Outcome, run, startGuard } from './processes.ts';
import { createReader, type Shown } from './reader.ts';

/** A cluster that a test has to itself. */
export interface Cluster {
  /** The path of the administrator's kubeconfig (`system:masters`). */
  kubeconfig: string;
  /** The API server's URL, which is also the issuer of ServiceAccount tokens. */
  server: string;
  /** The certificate, as PEM, by which the API server is known. */
  ca: string;
  /** Runs kubectl as the administrator; `--kubeconfig` in `args` makes it someone else. */
  kubectl(args: string[], input?: string): Promise<Outcome>;
  /** The same where it must succeed: what it printed. */
  must(args: string[], input?: string): Promise<string>;
  /** The object at this path of the API, as the administrator sees it. */
  read(path: string): Promise<Shown>;
  /** The path of a kubeconfig for another user, who has no rights but those that the test grants. */
  user(name: string, groups?: string[]): Promise<string>;
  /** What was asked for, by whom and when, as the API server noted it; only where `audit` said so. */
  requests(): Promise<AuditedRequest[]>;
  /** Kills the API server alone: its data stays, and whoever watches is disconnected. */
  stopApiServer(): Promise<void>;
  /** Starts it again, at the same URL. */
  startApiServer(): Promise<void>;
  /** Keeps all data as they are; what it gives goes back to them, as a restored backup does. Both start the API server again. */
  backup(): Promise<() => Promise<void>>;
  /** Signs ServiceAccount tokens with another key from now on: the API server starts again. `forget`: the old ones end. */
  rotateAccountKey(options: { forget: boolean }): Promise<void>;
  /** Ends all processes and removes all data. */
  stop(): Promise<void>;
}

/** How a cluster differs from the usual one. */
export interface ClusterOptions {
  /**
   * CRD files or folders to apply before the controllers start. The garbage collector looks for new kinds at its start
   * and every 30 seconds from then on, so owners of a kind that came later may leave what they own behind for so long.
   */
  crds?: string[];
  /** The controllers to run; none, and the cluster is there a little sooner. */
  controllers?: string[];
  /** What the API server notes. */
  audit?: 'writes' | 'everything' | undefined;
  /** Of ServiceAccount tokens, where it isn't the API server itself; whoever is there serves the keys. */
  issuer?: string;
  /** Where Pods reach the API server, which then knows their ServiceAccounts; without it no Pod ever runs. */
  address?: string;
}

// as Pods know the API server, beside its address
const namesAt = (address: string) => [
  ...[address, '127.0.0.1', 'localhost', SERVICE_ADDRESSES.replace('0/24', '1')],
  ...['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
];

const usualControllers = ['garbage-collector-controller', 'namespace-controller'];

/** What `startCluster` would use; a suite is skipped, with `reason` printed, where nothing is found. */
export async function clusterAssets(): Promise<Assets> {
  const assets = await findAssets(kubernetes);
  const text = assets.found ? `${assets.dir} (${assets.source})` : `SKIPPED: ${assets.reason}`;
  process.stderr.write(`Kubernetes ${kubernetes.version}: ${text}\n`);
  return assets;
}

/** Starts etcd, the API server and the controllers on free ports of this machine's loopback address. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const assets = await findAssets(kubernetes);
  if (!assets.found) throw new Error(assets.reason);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-kubernetes-'));
  const guard = startGuard(folder);
  const daemons: Daemon[] = [];
  const stop = async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    guard.release();
  };
  try {
    const { address } = options;
    const identity = await createIdentity(folder, address === undefined ? undefined : namesAt(address));
    const site = { assets: assets.dir, folder, identity, guard, ...(address !== undefined && { address }) };
    return { ...(await begin(site, daemons, options)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// Daemons are noted as they start, so that whoever called can end them, also after a start that fails half-way.
async function begin(site: Site, daemons: Daemon[], options: ClusterOptions): Promise<Omit<Cluster, 'stop'>> {
  const { folder, identity } = site;
  if (options.issuer !== undefined) site.issuer = options.issuer;
  if (options.audit) site.auditPolicy = await writeAuditPolicy(folder, options.audit);
  let etcd = await startEtcd(site);
  daemons.push(etcd);
  let apiServer = await startApiServer(site, etcd.url);
  daemons.push(apiServer);
  const { port } = apiServer;
  const server = `https://${site.address ?? '127.0.0.1'}:${port}`;
  const kubeconfig = await identity.kubeconfig('admin.kubeconfig', server, identity.admin);
  const env = { ...programEnvironment(folder), KUBECONFIG: kubeconfig };
  const kubectl = (args: string[], input?: string) => run(path.join(site.assets, 'kubectl'), args, { env, input });
  const must: Cluster['must'] = async (args, input) => {
    const { code, stdout, stderr } = await kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  await install(options.crds ?? [], must);
  const controllers = options.controllers ?? usualControllers;
  if (controllers.length > 0) daemons.push(await startControllers(site, kubeconfig, controllers));
  const again = async () => {
    apiServer = await startApiServer(site, etcd.url, port);
    daemons.push(apiServer);
  };
  const { data } = etcd;
  const between = async (work: () => Promise<void>) => {
    await apiServer.stop();
    await etcd.stop();
    await work();
    etcd = await startEtcd(site, etcd.port);
    daemons.push(etcd);
    await again();
  };
  let users = 0;
  return {
    kubeconfig,
    server,
    ca: identity.ca,
    kubectl,
    must,
    read: createReader(server, identity),
    async user(name, groups = []) {
      users += 1;
      return identity.kubeconfig(`user-${users}.kubeconfig`, server, await identity.client(name, groups));
    },
    requests: () => auditedRequests(folder),
    stopApiServer: () => apiServer.stop(),
    startApiServer: again,
    async backup() {
      const copy = path.join(folder, 'backup');
      await between(() => cp(data, copy, { recursive: true }));
      return () =>
        between(async () => {
          await rm(data, { recursive: true });
          await cp(copy, data, { recursive: true });
        });
    },
    async rotateAccountKey(how) {
      await identity.rotateAccountKey(how);
      await apiServer.stop();
      await again();
    },
  };
}

async function install(crds: string[], must: Cluster['must']): Promise<void> {
  if (crds.length === 0) return;
  const files = crds.flatMap((file) => ['-f', file]);
  await must(['apply', '--server-side', ...files]);
  // unlike apply, wait looks into sub-folders unless told otherwise: examples are no CRDs
  await must(['wait', '--for=condition=Established', '--timeout=120s', '--recursive=false', ...files]);
}
