// Owns: `npm run containers`, which makes sure that the container tests have an engine and base images, and says which.
// Does not own: how (engine.ts, images.ts); the image itself is built by its test.
import { styleText } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { NOT_PROMISED, NotPromised, obtainEngine } from './engine.ts';
import { obtainBases, obtainPostgres } from './images.ts';

const usage = `Makes sure that podman and the images of the container tests are here. On Debian, root gets podman from its packages.
Base images are pulled, or made of Debian's and npm's packages where no registry can be reached; that takes a minute.

Usage: npm run containers

Environment
  CONTAINERS_CONF      podman's configuration (default for root: one with limits that also work inside a virtual machine)
  NODE_EXTRA_CA_CERTS  certificate authorities that npm needs to reach its registry

Examples
  npm run containers
  npm run test:containers`;

const print = (message: string) => process.stdout.write(`${message}\n`);

if (process.argv.length > 2) print(usage);
else
  try {
    print(`podman ${await obtainEngine(print)}`);
    await obtainBases(print);
    for (const major of [15, 16, 17, 18] as const) await obtainPostgres(major, print);
    print('The images are here.');
  } catch (error) {
    process.stderr.write(`${styleText('red', errorWords(error))}\n`);
    process.exitCode = error instanceof NotPromised ? NOT_PROMISED : 1;
  }
