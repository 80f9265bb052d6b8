// Owns: which programs the Kubernetes tests need, in which version, and where they are found without any work.
// Does not own: getting them where they are missing (obtain.ts).
// The versions stand in modules/*/go.mod alone, so what is downloaded and what is built can't differ.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const versionOf = (module: string) => {
  const goMod = readFileSync(path.join(import.meta.dirname, 'modules', module, 'go.mod'), 'utf8');
  const version = /^require \S+ v(\S+)$/m.exec(goMod)?.[1];
  if (!version) throw new Error(`modules/${module}/go.mod has no line "require <program's module> v<version>"`);
  return version;
};

/** A program, and the Go package that it is built from. */
export interface Program {
  name: string;
  /** The folder of `modules` whose go.mod locks it. */
  module: string;
  package: string;
  version: string;
  /** Linker flags that stamp the version. */
  stamp: string;
  /** Build tags, for what is left out. */
  tags?: string;
  /** What a cold build takes on two cores: who waits should know for what. */
  takes: string;
}

/** Programs that are got, cached and used together. */
export interface Bundle {
  name: string;
  version: string;
  programs: Program[];
}

const kubernetesVersion = versionOf('kubernetes');
const [major, minor] = kubernetesVersion.split('.');
// Without the stamp kubectl complains about skew, and feature gates are evaluated for version 0.
const kubernetesStamp = Object.entries({ gitVersion: `v${kubernetesVersion}`, gitMajor: major, gitMinor: minor })
  .map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`)
  .join(' ');

const fromKubernetes = (name: string, takes: string): Program => ({
  name,
  module: 'kubernetes',
  package: `k8s.io/kubernetes/cmd/${name}`,
  version: kubernetesVersion,
  stamp: kubernetesStamp,
  takes,
});

const etcd: Program = {
  name: 'etcd',
  module: 'etcd',
  package: 'go.etcd.io/etcd/server/v3',
  version: versionOf('etcd'),
  stamp: '',
  takes: 'half a minute',
};

/** The control plane: what `startCluster` starts. */
export const kubernetes: Bundle = {
  name: 'kubernetes',
  version: kubernetesVersion,
  programs: [
    etcd,
    fromKubernetes('kube-apiserver', 'three to four minutes'),
    fromKubernetes('kube-controller-manager', 'about a minute'),
    fromKubernetes('kubectl', 'half a minute'),
  ],
};

const helmVersion = versionOf('helm');

/** Helm, for the chart's test; the control plane does without. */
export const helm: Bundle = {
  name: 'helm',
  version: helmVersion,
  programs: [
    {
      name: 'helm',
      module: 'helm',
      package: 'helm.sh/helm/v4/cmd/helm',
      version: helmVersion,
      stamp: `-X helm.sh/helm/v4/internal/version.version=v${helmVersion}`,
      takes: 'two minutes',
    },
  ],
};

/** Of sources that are ours: the cache must tell one state of them from another. */
const digestOf = (...files: string[]): string =>
  files
    .reduce(
      (hash, file) => hash.update(readFileSync(path.join(import.meta.dirname, 'modules', file))),
      createHash('sha256'),
    )
    .digest('hex')
    .slice(0, 12);
const kstatusVersion = `${versionOf('kstatus')}-${digestOf('kstatus/go.mod', 'kstatus/go.sum', 'kstatus/main.go')}`;

/** What Flux, Helm and Argo CD make of a resource's conditions, by their own libraries. */
export const kstatus: Bundle = {
  name: 'kstatus',
  version: kstatusVersion,
  programs: [
    { name: 'kstatus', module: 'kstatus', package: '.', version: kstatusVersion, stamp: '', takes: 'half a minute' },
  ],
};

const spireVersion = versionOf('spire');

/** SPIRE, which gives workloads SPIFFE IDs. */
export const spire: Bundle = {
  name: 'spire',
  version: spireVersion,
  programs: [
    {
      name: 'spire-server',
      module: 'spire',
      package: 'github.com/spiffe/spire/cmd/spire-server',
      version: spireVersion,
      stamp: '',
      takes: 'eight minutes',
    },
  ],
};

const containerdVersion = versionOf('containerd');
const fromContainerd = (name: string, takes: string): Program => ({
  name,
  module: 'containerd',
  package: `github.com/containerd/containerd/v2/cmd/${name}`,
  version: containerdVersion,
  stamp: `-X github.com/containerd/containerd/v2/version.Version=${containerdVersion}`,
  // storage that needs C or other tools than a kernel's own
  tags: 'no_btrfs no_devmapper no_zfs',
  takes,
});
const corednsVersion = versionOf('coredns');
const ours = digestOf('containerd/pause/main.go', 'coredns/main.go', 'coredns/go.sum');

/** A node on which Pods run: what `startNode` starts beside the control plane. */
export const node: Bundle = {
  name: 'node',
  version: `${kubernetesVersion}-${containerdVersion}-${corednsVersion}-${ours}`,
  programs: [
    fromContainerd('containerd', 'two minutes'),
    fromContainerd('containerd-shim-runc-v2', 'seconds'),
    fromContainerd('ctr', 'seconds'),
    { ...fromContainerd('pause', 'seconds'), package: './pause', stamp: '' },
    fromKubernetes('kubelet', 'three to four minutes'),
    fromKubernetes('kube-scheduler', 'half a minute'),
    fromKubernetes('kube-proxy', 'seconds'),
    { name: 'coredns', module: 'coredns', package: '.', version: corednsVersion, stamp: '', takes: 'a minute' },
  ],
};

/** Where a bundle's programs are, and in a few words where they came from; or why they are nowhere. */
export type Assets = { found: true; dir: string; source: string } | { found: false; reason: string };

/** A bundle's folder in the cache, which exists only when it is complete. */
export function cacheFolder({ name, version }: Bundle, env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'realmkeeper', name, version);
}

/** The programs of `bundle` that `dir` lacks. */
export async function missingIn(dir: string, bundle: Bundle): Promise<Program[]> {
  const executable = (program: Program) =>
    access(path.join(dir, program.name), constants.X_OK).then(
      () => true,
      () => false,
    );
  const there = await Promise.all(bundle.programs.map(executable));
  return bundle.programs.filter((_, index) => !there[index]);
}

/** Looks for a bundle where it takes no time: `KUBEBUILDER_ASSETS` (the control plane only), then the cache. */
export async function findAssets(bundle: Bundle = kubernetes, env: NodeJS.ProcessEnv = process.env): Promise<Assets> {
  if (bundle === kubernetes && env.KUBEBUILDER_ASSETS) {
    const dir = path.resolve(env.KUBEBUILDER_ASSETS);
    const missing = (await missingIn(dir, bundle)).map(({ name }) => name);
    // Completing it from elsewhere would mix versions that were never meant to run together.
    if (missing.length > 0)
      return { found: false, reason: `KUBEBUILDER_ASSETS is ${dir}, without ${missing.join(', ')}` };
    return { found: true, dir, source: 'KUBEBUILDER_ASSETS' };
  }
  const dir = cacheFolder(bundle, env);
  const command = bundle === kubernetes ? 'npm run kubernetes' : `npm run kubernetes -- --${bundle.name}`;
  if ((await missingIn(dir, bundle)).length > 0) {
    return { found: false, reason: `${dir} has no ${bundle.name} ${bundle.version}: run "${command}"` };
  }
  return { found: true, dir, source: 'cache' };
}
