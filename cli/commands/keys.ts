// `realmctl rotate-keys`: a new signing key; what the old one signed stays valid until it expires.
import { listKeys, rotateKeys } from '../../server/contract/keys.ts';
import { addRealm, examples, type Register, realmName, realmOf } from '../command.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print, say } from '../output.ts';
import { confirm } from '../prompt.ts';

interface Options {
  yes?: boolean;
  output: Format;
  realm?: string;
}

export const registerRotateKeys: Register = (program, cli) => {
  const command = addRealm(program.command('rotate-keys'))
    .argument('[realm]', 'the realm', realmName)
    .description('make a new signing key; the one before stays published, so that its tokens stay valid')
    .option('-y, --yes', 'do not ask');
  examples(
    addOutput(command, { names: true }),
    'realmctl rotate-keys acme',
    'realmctl rotate-keys acme --yes -o json',
  ).action(async (place: string | undefined, { yes = false, output, realm: option }: Options) => {
    const realm = await realmOf(cli, { option, place });
    const { client } = await cli.connect();
    const params = { realm };
    const { body: keys = [] } = await client.call(listKeys, { params, signal: cli.signal });
    const before = keys.find(({ status }) => status === 'ACTIVE');
    if (!yes && !cli.io.terminal) throw new Refused('this makes a new signing key', 'Say so with --yes.');
    if (!yes && !(await confirm(cli, `Make a new signing key for ${realm}? ${before?.keyId ?? 'None'} signs now.`)))
      throw new Refused('nothing was changed');
    const { body: key } = await client.call(rotateKeys, { params, signal: cli.signal });
    if (!key) return;
    print(cli.io, output, {
      value: { realm, before: before?.keyId ?? null, key },
      names: () => [key.keyId],
      table: () => ({ head: ['REALM', 'OLD KEY', 'NEW KEY'], rows: [[realm, before?.keyId ?? '', key.keyId]] }),
    });
    say(cli.io, 'The old key stays published; delete it once its last token has expired.');
  });
};
