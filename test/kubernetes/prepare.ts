// Owns: `npm run kubernetes`, which makes sure that the Kubernetes tests have their programs, and says which.
// Does not own: how (obtain.ts). Options get more: Helm, what judges conditions, a node.
import { parseArgs, styleText } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { type Bundle, helm, kstatus, kubernetes, node, spire } from './assets.ts';
import { obtain } from './obtain.ts';

const usage = `Makes sure that the programs of the Kubernetes tests are here, and says where. What is missing is downloaded or built
with Go, once for all versions; the first time takes minutes, every other none.

Usage: npm run kubernetes -- [--helm] [--kstatus] [--node] [--spire]

  --helm     Helm as well, for the test of the chart
  --kstatus  what judges conditions as Flux, Helm and Argo CD do, as well
  --node     kubelet, containerd and what else a node on which Pods run has, as well
  --spire    SPIRE's server, which gives workloads SPIFFE IDs, as well

Environment
  KUBEBUILDER_ASSETS  a folder that has kube-apiserver, etcd, kube-controller-manager and kubectl: these are used
  XDG_CACHE_HOME      where they are kept, under realmkeeper/ (default ~/.cache)

Examples
  npm run kubernetes
  npm run kubernetes -- --helm --kstatus
  KUBEBUILDER_ASSETS=/opt/envtest npm run kubernetes`;

const options = {
  helm: { type: 'boolean' },
  kstatus: { type: 'boolean' },
  node: { type: 'boolean' },
  spire: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const print = (message: string) => process.stdout.write(`${message}\n`);

async function prepare(bundle: Bundle): Promise<void> {
  const { dir, source } = await obtain(bundle, process.env, print);
  print(`${bundle.name} ${bundle.version}: ${dir} (${source})`);
}

function given() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${errorWords(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}

const wanted = given();
if (wanted.help) print(usage);
else
  try {
    await prepare(kubernetes);
    if (wanted.helm) await prepare(helm);
    if (wanted.kstatus) await prepare(kstatus);
    if (wanted.node) await prepare(node);
    if (wanted.spire) await prepare(spire);
  } catch (error) {
    process.stderr.write(`${styleText('red', errorWords(error))}\n`);
    process.exitCode = 1;
  }
