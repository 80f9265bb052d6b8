// `realmctl rotate-keys`: creates a new key; tokens that the old one signed stay valid until they expire, and requests that
// clients encrypted for it are read until it is deleted.
import { Option } from 'commander';
import { KeyAlgorithm, RealmEncryption } from '../../server/contract/algorithms.ts';
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
const others = KeyAlgorithm.exclude(['RS256']).options;

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
    'realmctl rotate-keys acme --algorithm RSA-OAEP-256',
  ).action(async (place: string | undefined, { yes = false, output, realm: option, algorithm }: Options) => {
    const realm = await realmOf(cli, { option, place });
    const { client } = await cli.connect();
    const params = { realm };
    const { body: keys = [] } = await client.call(listKeys, { params, signal: cli.signal });
    const before = keys.find((key) => key.status === 'ACTIVE' && key.algorithm === (algorithm ?? 'RSA'));
    const encrypts = RealmEncryption.safeParse(algorithm).success;
    const kind = encrypts ? 'a new key that clients encrypt for' : 'a new signing key';
    if (!yes && !cli.io.terminal) throw new Refused(`this makes ${kind}`, 'Say so with --yes.');
    const present = `${before?.keyId ?? 'None'} ${encrypts ? 'is in use' : 'signs'} now.`;
    if (!yes && !(await confirm(cli, `Make ${kind} for ${realm}? ${present}`)))
      throw new Refused('nothing was changed');
    const { body: key } = await client.call(rotateKeys, { params, body: { algorithm }, signal: cli.signal });
    if (!key) return;
    print(cli.io, output, {
      value: { realm, before: before?.keyId ?? null, key },
      names: () => [key.keyId],
      table: () => ({ head: ['REALM', 'OLD KEY', 'NEW KEY'], rows: [[realm, before?.keyId ?? '', key.keyId]] }),
    });
    writeLine(
      cli.io,
      encrypts
        ? 'The old key still decrypts; delete it once clients use the new one.'
        : 'The old key stays published; delete it once its last token has expired.',
    );
  });
};
