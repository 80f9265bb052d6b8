// `realmctl crds`: prints the CustomResourceDefinitions of this version, for clusters that are set up without the
// chart.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { renderCrds } from '../../operator/crd.ts';
import { examples, type Register } from '../command.ts';
import { writeLine } from '../output.ts';
import { writeWhole } from '../whole-file.ts';

export const registerCrds: Register = (program, { io }) => {
  const command = program
    .command('crds')
    .description('print the CustomResourceDefinitions of this version; needs no server')
    .option('--output-dir <dir>', 'write them into this folder, one file for each kind');
  examples(command, 'realmctl crds | kubectl apply --server-side -f -', 'realmctl crds --output-dir git/crds').action(
    async ({ outputDir }: { outputDir?: string }) => {
      const crds = [...renderCrds()];
      if (outputDir === undefined) {
        io.stdout.write(crds.map(([, text]) => text).join('---\n'));
        return;
      }
      await mkdir(outputDir, { recursive: true });
      for (const [file, text] of crds) await writeWhole(path.join(outputDir, path.basename(file)), [text]);
      writeLine(io, `Wrote ${crds.length} files to ${outputDir}.`);
    },
  );
};
