// `realmctl rotate-keys`: creates a new signing key; tokens that the old one signed stay valid until they expire.
import { Option } from 'commander';
import { SigningAlgorithm } from '../../server/contract/algorithms.ts';
import { listKeys, rotateKeys } from '../../server/contract/keys.ts';
import { addRealm, examples, type Register, realmName, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';
import { confirm } from '../prompt.ts';

interface Options {
  yes?: boolean;
  output: Format;
  realm?: string;
  algorithm?: (typeof others)[number];
}

/** Beside RS256. */
const others = SigningAlgorithm.exclude(['RS256']).options;

export const registerRotateKeys: Register = (program, cli) => {
  const command = addRealm(program.command('rotate-keys'))
    .argument('[realm]', 'the realm', realmName)
    .description('make a new signing key; the one before stays published, so that its tokens stay valid')
    .addOption(
      new Option('--algorithm <algorithm>', 'whose key; those of other algorithms stay (default: RS256)').choices([
        ...others,
      ]),
    )
    .option('-y, --yes', 'do not ask');
  examples(
    addOutput(command, { names: true }),
    'realmctl rotate-keys acme',
    'realmctl rotate-keys acme --yes -o json',
    'realmctl rotate-keys acme --algorithm ES256',
  ).action(async (place: string | undefined, { yes = false, output, realm: option, algorithm }: Options) => {
    const realm = await realmOf(cli, { option, place });
    const { client } = await cli.connect();
    const params = { realm };
    const { body: keys = [] } = await client.call(listKeys, { params, signal: cli.signal });
    const before = keys.find((key) => key.status === 'ACTIVE' && key.algorithm === (algorithm ?? 'RSA'));
    if (!yes && !cli.io.terminal) throw new Refused('this makes a new signing key', 'Say so with --yes.');
    if (!yes && !(await confirm(cli, `Make a new signing key for ${realm}? ${before?.keyId ?? 'None'} signs now.`)))
      throw new Refused('nothing was changed');
    const { body: key } = await client.call(rotateKeys, { params, body: { algorithm }, signal: cli.signal });
    if (!key) return;
    print(cli.io, output, {
      value: { realm, before: before?.keyId ?? null, key },
      names: () => [key.keyId],
      table: () => ({ head: ['REALM', 'OLD KEY', 'NEW KEY'], rows: [[realm, before?.keyId ?? '', key.keyId]] }),
    });
    writeLine(cli.io, 'The old key stays published; delete it once its last token has expired.');
  });
};
