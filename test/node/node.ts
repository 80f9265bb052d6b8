// Owns: `startNode`, a cluster whose Pods run on this machine, and its end.
// Does not own: what its programs are told (settings.ts), the control plane (test/kubernetes), what a machine needs (machine.ts).
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { podman } from '../containers/engine.ts';
import { findAssets, node as nodeBundle } from '../kubernetes/assets.ts';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { programEnvironment, SERVICE_ADDRESSES } from '../kubernetes/control-plane.ts';
import { type Daemon, run, startDaemon, startGuard } from '../kubernetes/processes.ts';
import { makePause, PAUSE } from './images.ts';
import { ADDRESS, LINK, NODE_NAME, ports, writeSettings } from './settings.ts';

/** A cluster of one node. */
export interface Node {
  cluster: Cluster;
  /** A folder that ends with the node, for data of Pods. */
  folder: string;
  /** Gives the node an image of podman's, also under other names. */
  load(image: string, ...names: string[]): Promise<void>;
  /** Ends all Pods and programs, and takes away what they made on the machine. */
  stop(): Promise<void>;
}

const controllers = [
  ...[
    'garbage-collector',
    'namespace',
    'deployment',
    'replicaset',
    'statefulset',
    'job',
    'serviceaccount',
    'disruption',
  ],
  ...['root-ca-certificate-publisher', 'clusterrole-aggregation', 'endpoints', 'endpointslice', 'ttl-after-finished'],
  ...['node-lifecycle', 'taint-eviction', 'pod-garbage-collector', 'persistentvolume-binder'],
  ...['persistentvolumeclaim-protection', 'persistentvolume-protection'],
].map((name) => `${name}-controller`);

const execute = promisify(execFile);
const cleanup = path.join(import.meta.dirname, 'clean.sh');

/** The link is the lock as well: it is there for as long as a node runs. */
async function takeLink(): Promise<void> {
  await execute('ip', ['link', 'add', LINK, 'type', 'bridge']).catch((error: Error) => {
    throw new Error(
      `a node runs on this machine already, or what is left of one: end it, then "ip link del ${LINK}" (${error.message})`,
    );
  });
  await execute('ip', ['addr', 'add', `${ADDRESS}/32`, 'dev', LINK]);
  await execute('ip', ['link', 'set', LINK, 'up']);
  // what this machine asks of Services has an address that Pods know
  await execute('ip', ['route', 'add', SERVICE_ADDRESSES, 'dev', LINK, 'src', ADDRESS]);
  await execute('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
}

/** Starts it within a minute. There can be one at a time. */
export async function startNode(): Promise<Node> {
  const assets = await findAssets(nodeBundle);
  if (!assets.found) throw new Error(assets.reason);
  await takeLink();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-node-'));
  const guard = startGuard(folder, cleanup);
  const daemons: Daemon[] = [];
  let cluster: Cluster | undefined;
  const stop = async () => {
    // kubelet first, which would start anew what is ended
    for (const daemon of daemons.toReversed()) await daemon.stop();
    await execute('sh', [cleanup, folder]);
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    guard.release();
  };
  try {
    cluster = await startCluster({ address: ADDRESS, controllers, issuer: 'https://kubernetes.default.svc' });
    const load = await startPrograms(assets.dir, folder, cluster, async (options) => {
      const { name, args, ready } = options;
      daemons.push(
        await startDaemon({
          name,
          command: path.join(assets.dir, name),
          args,
          env: { ...programEnvironment(folder), PATH: `${assets.dir}:${process.env.PATH}` },
          log: path.join(folder, `${name}.log`),
          guard,
          ready,
        }),
      );
    });
    return { cluster, folder, load, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Start = (program: { name: string; args: string[]; ready: () => Promise<boolean> }) => Promise<void>;

async function startPrograms(assets: string, folder: string, cluster: Cluster, start: Start): Promise<Node['load']> {
  const { kubeconfig, ca, must } = cluster;
  const { stdout: runc } = await execute('sh', ['-c', 'command -v runc']);
  await writeSettings(folder, kubeconfig, ca, runc.trim());
  const file = (name: string) => path.join(folder, name);
  const ctr = (...args: string[]) =>
    run(path.join(assets, 'ctr'), ['--address', file('containerd.sock'), '-n', 'k8s.io', ...args]);
  await start({
    name: 'containerd',
    args: ['--config', file('containerd.toml')],
    ready: async () => (await ctr('version')).code === 0,
  });
  const load = loader(file('image.tar'), ctr);
  await makePause(assets);
  await load(PAUSE);
  // all of them to their end, so that whoever stops the node after a failure knows them
  const started = await Promise.allSettled([
    start({
      name: 'kubelet',
      args: [
        ...['--config', file('kubelet.yaml'), '--kubeconfig', kubeconfig, '--root-dir', file('kubelet')],
        ...['--cert-dir', file('kubelet-certificates'), '--hostname-override', NODE_NAME, '--node-ip', ADDRESS],
      ],
      ready: () => answersOk(ports.kubeletHealth, '/healthz'),
    }),
    start({
      name: 'kube-scheduler',
      args: [
        '--kubeconfig',
        kubeconfig,
        '--leader-elect=false',
        '--bind-address',
        ADDRESS,
        '--cert-dir',
        file('scheduler'),
      ],
      ready: () => takesConnections(ports.scheduler),
    }),
    start({
      name: 'kube-proxy',
      args: ['--config', file('proxy.yaml')],
      ready: () => answersOk(ports.proxyHealth, '/livez'),
    }),
    start({
      name: 'coredns',
      args: ['-conf', file('Corefile')],
      ready: () => answersOk(ports.dnsReady, '/ready'),
    }),
  ]);
  for (const one of started) if (one.status === 'rejected') throw one.reason;
  await must(['wait', '--for=create', `node/${NODE_NAME}`, '--timeout=120s']);
  await must(['wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=120s']);
  return load;
}

const answersOk = async (port: number, at: string) => (await fetch(`http://${ADDRESS}:${port}${at}`)).ok;

const takesConnections = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, ADDRESS, () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

function loader(archive: string, ctr: (...args: string[]) => ReturnType<typeof run>): Node['load'] {
  const must = async (...args: string[]) => {
    const { code, stderr } = await ctr(...args);
    if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  };
  return async (image, ...names) => {
    await rm(archive, { force: true });
    await podman(['save', '-q', '--format', 'docker-archive', '-o', archive, image]);
    await must('images', 'import', archive);
    await rm(archive);
    for (const name of names) await must('images', 'tag', '--force', image, name);
  };
}
