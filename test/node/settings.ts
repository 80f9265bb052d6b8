// Owns: what containerd, kubelet, kube-proxy and CoreDNS are told, as the files that they read.
// Does not own: starting them (node.ts).
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { PAUSE } from './images.ts';
import { NETWORK_PLUGINS } from './machine.ts';

/** The machine as Pods see it; all that a node's programs listen on is here, so that no port of the machine's is taken. */
export const ADDRESS = '10.244.255.1';
/** The name of the link that has this address. */
export const LINK = 'rk0';
export const PODS = '10.244.0.0/24';
export const NODE_NAME = 'node';

export const ports = {
  kubelet: 10_250,
  kubeletHealth: 10_248,
  scheduler: 10_259,
  proxyHealth: 10_256,
  dnsReady: 8_181,
};

const containerd = (folder: string, runc: string) => `version = 3
root = '${folder}/containerd/root'
state = '${folder}/containerd/state'
disabled_plugins = ['io.containerd.nri.v1.nri']

[grpc]
  address = '${folder}/containerd.sock'

[plugins.'io.containerd.internal.v1.opt']
  path = '${folder}/containerd/opt'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${PAUSE}'

[plugins.'io.containerd.cri.v1.runtime']
  # a limited root may not make a process less likely to be killed than itself
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dir = '${NETWORK_PLUGINS}'
  conf_dir = '${folder}/network'

[plugins.'io.containerd.cri.v1.runtime'.containerd]
  default_runtime_name = 'runc'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '${runc}'
  Root = '${folder}/containerd/runc'
`;

// Each Pod has a link of its own to the machine, so that all between Pods goes through its rules: on a common bridge an answer
// from behind a Service would come back under the Pod's address, unless the kernel filters bridges.
const network = (folder: string) => ({
  cniVersion: '1.0.0',
  name: 'realmkeeper',
  plugins: [
    {
      type: 'ptp',
      ipam: {
        type: 'host-local',
        dataDir: path.join(folder, 'addresses'),
        ranges: [[{ subnet: PODS }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
});

const kubelet = (folder: string) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: ADDRESS,
  port: ports.kubelet,
  healthzBindAddress: ADDRESS,
  healthzPort: ports.kubeletHealth,
  containerRuntimeEndpoint: `unix://${folder}/containerd.sock`,
  authentication: { x509: { clientCAFile: path.join(folder, 'ca.crt') } },
  clusterDNS: [ADDRESS],
  clusterDomain: 'cluster.local',
  podLogsDir: path.join(folder, 'logs'),
  volumePluginDir: path.join(folder, 'plugins'),
  // without systemd, on either version of control groups
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  // the disk of a virtual machine may have no name that its statistics know
  localStorageCapacityIsolation: false,
  evictionHard: { 'memory.available': '100Mi' },
});

const proxy = (kubeconfig: string) => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'iptables',
  clientConnection: { kubeconfig },
  hostnameOverride: NODE_NAME,
  bindAddress: ADDRESS,
  healthzBindAddress: `${ADDRESS}:${ports.proxyHealth}`,
  metricsBindAddress: `${ADDRESS}:10249`,
  nodePortAddresses: [`${ADDRESS}/32`],
  iptables: { localhostNodePorts: false, syncPeriod: '30s', minSyncPeriod: '100ms' },
  // the kernel's own limits stay as they are
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
});

const dns = (kubeconfig: string) => `.:53 {
  bind ${ADDRESS}
  errors
  ready ${ADDRESS}:${ports.dnsReady}
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`;

/** Writes all of them into the node's folder. */
export async function writeSettings(folder: string, kubeconfig: string, ca: string, runc: string): Promise<void> {
  const files: Record<string, string> = {
    'ca.crt': ca,
    'containerd.toml': containerd(folder, runc),
    'network/10-realmkeeper.conflist': JSON.stringify(network(folder)),
    'kubelet.yaml': stringify(kubelet(folder)),
    'proxy.yaml': stringify(proxy(kubeconfig)),
    Corefile: dns(kubeconfig),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}
