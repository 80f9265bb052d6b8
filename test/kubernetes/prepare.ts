// Owns: `npm run kubernetes`, which makes sure that the Kubernetes tests have their programs, and says which.
// Does not own: how (obtain.ts). `--helm` gets Helm as well, for the test of the chart; `--kstatus` what judges conditions.
import { parseArgs, styleText } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { type Bundle, helm, kstatus, kubernetes } from './assets.ts';
import { obtain } from './obtain.ts';

const print = (message: string) => process.stdout.write(`${message}\n`);

async function prepare(bundle: Bundle): Promise<void> {
  const { dir, source } = await obtain(bundle, process.env, print);
  print(`${bundle.name} ${bundle.version}: ${dir} (${source})`);
}

try {
  const { values } = parseArgs({ options: { helm: { type: 'boolean' }, kstatus: { type: 'boolean' } } });
  await prepare(kubernetes);
  if (values.helm) await prepare(helm);
  if (values.kstatus) await prepare(kstatus);
} catch (error) {
  process.stderr.write(`${styleText('red', errorWords(error))}\n`);
  process.exitCode = 1;
}
