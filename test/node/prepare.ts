// Owns: getting what a node needs for the tests that run Pods, and trying it: not every machine that has it all can be one.
// Does not own: how (machine.ts); `npm run node` gets it as well, and starts one that stays.
import { styleText } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { NOT_PROMISED, NotPromised } from '../containers/engine.ts';
import { PAUSE } from './images.ts';
import { obtainNode } from './machine.ts';
import { startNode } from './node.ts';

// A machine that builds for longer would have no time left for the tests; what it has built so far is lost.
const LIMIT = 25 * 60_000;

const refuse = (error: unknown) => {
  process.stderr.write(`${styleText('red', errorWords(error))}\n`);
  process.exit(error instanceof NotPromised ? NOT_PROMISED : 1);
};

async function tryNode(): Promise<void> {
  const node = await startNode();
  try {
    const { must } = node.cluster;
    await must(['wait', '--for=create', 'serviceaccount/default', '--timeout=60s']);
    await must(['run', 'pause', '--image', PAUSE]);
    await must(['wait', '--for=condition=Ready', 'pod/pause', '--timeout=60s']);
  } finally {
    await node.stop();
  }
}

setTimeout(
  () => refuse(new NotPromised(`the node's programs took longer than ${LIMIT / 60_000} minutes`)),
  LIMIT,
).unref();
await obtainNode((message) => process.stdout.write(`${message}\n`)).catch(refuse);
await tryNode().catch((error) => refuse(new NotPromised(`no Pod runs on this machine: ${errorWords(error)}`)));
