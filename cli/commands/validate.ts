// `realmctl validate -f`: reports all faults of files that can be found without a server.
import { type Cli, examples, type Register } from '../command.ts';
import {
  addFiles,
  countedKinds,
  type FileOptions,
  faultText,
  sayMissing,
  sayOthers,
  wantedBy,
} from '../declarations.ts';
import { Outcome } from '../faults.ts';
import { addOutput, type Format, paint, plain, print, writeLine } from '../output.ts';

export const registerValidate: Register = (program, cli) => {
  const command = program.command('validate').description('check files against the schemas, without a server');
  examples(
    addOutput(addFiles(command)),
    'realmctl validate -f realms/ -R',
    'kustomize build overlays/staging | realmctl validate -f -',
    'realmctl validate -f realms/ -o json | jq .faults',
    '',
    'Exit code: 0 valid, 2 a fault.',
  ).action((options: FileOptions & { output: Format }) => validate(cli, options));
};

async function validate(cli: Cli, { output, ...options }: FileOptions & { output: Format }): Promise<void> {
  const { io } = cli;
  // the realm of a document and the issuer of ServiceAccount tokens matter only to commands that send the document
  const unknown = { realm: 'document', clusterIssuer: 'https://kubernetes.default.svc' };
  const { declared, realms, faults } = await wantedBy(cli, { ...unknown, ...options });
  const { counts, skipped, missing } = declared;
  print(io, output, {
    value: {
      valid: faults.length === 0,
      faults,
      objects: Object.fromEntries(counts),
      skipped: Object.fromEntries(skipped),
      missingSecrets: missing.map(({ file, object, secret, key }) => ({ file, object, secret, key })),
    },
    table: () => faults.map((fault) => paint(io, 'red', faultText(fault))).join('\n'),
  });
  sayMissing(cli, declared, 'Warning: ');
  sayOthers(cli, declared);
  if (faults.length > 0) {
    writeLine(io, faults.length === 1 ? 'One fault.' : `${faults.length} faults.`);
    throw new Outcome(2);
  }
  if (realms.length === 0 && counts.size === 0) writeLine(io, 'There is nothing of Realmkeeper’s in it.');
  else {
    const but = missing.length > 0 ? ', but for Secrets that have to come from elsewhere' : '';
    writeLine(io, plain(`Valid${but}: ${countedKinds(counts)}.`));
  }
}
