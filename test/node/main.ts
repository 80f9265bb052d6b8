// Owns: `npm run node`, a node of this machine for as long as the command runs.
// Does not own: what it is made of (node.ts), nor the tests' way to it (prepare.ts).
import { once } from 'node:events';
import { styleText } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { IMAGE } from '../containers/images.ts';
import { obtainNode } from './machine.ts';
import { startNode } from './node.ts';

const usage = `Prepares and starts a Kubernetes of one node on this machine, on which Pods run: containerd, kubelet, scheduler, kube-proxy and
CoreDNS beside the API server and its controllers. It has no registry: "npm run node -- IMAGE…" gives it images of podman's, and
"npm run test:containers" builds ${IMAGE}. What is missing is built with Go, once; that takes ten minutes.
It ends with the command, and leaves nothing behind. Linux and root are needed.

Usage: npm run node -- [IMAGE…]

Examples
  npm run node
  npm run node -- ${IMAGE}
  KUBECONFIG=<what it printed> kubectl get nodes`;

const print = (message: string) => process.stdout.write(`${message}\n`);
const images = process.argv.slice(2);

if (images.some((name) => name.startsWith('-'))) print(usage);
else
  try {
    await obtainNode(print);
    const ended = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)));
    const node = await startNode();
    try {
      for (const image of images) await node.load(image);
      print(`The node is ready until this ends (Ctrl-C).\nKUBECONFIG=${node.cluster.kubeconfig}`);
      const awake = setInterval(() => {}, 60_000);
      await ended;
      clearInterval(awake);
      print('ending');
    } finally {
      await node.stop();
    }
  } catch (error) {
    process.stderr.write(`${styleText('red', errorWords(error))}\n`);
    process.exitCode = 1;
  }
