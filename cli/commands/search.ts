// `realmctl search TEXT`: finds realms, and users, clients, groups, roles and organizations of all realms.
import { type SearchHit, search } from '../../server/contract/search.ts';
import { text } from '../cells.ts';
import { addRealm, type Cli, examples, type Register } from '../command.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, print, writeLine } from '../output.ts';

interface Options {
  realm?: string;
  kinds?: string;
  limit: string;
  output: Format;
}

export const registerSearch: Register = (program, cli) => {
  const command = addOutput(addRealm(program.command('search').argument('<text>', 'of a name, an address or an id')), {
    names: true,
  })
    .description('find something in all realms, or with -r in one')
    .option('--kinds <kinds>', 'only these: realm, user, client, group, role, organization')
    .option('--limit <n>', 'at most so many of each kind', '10');
  examples(
    command,
    'realmctl search ana@example.com',
    'realmctl search billing --kinds client,role',
    'realmctl search 0190a0c2-6f2e-7c3a-9d55-1f0e6b1f2a77 -r acme',
  ).action(async (word: string, options: Options) => find(cli, word, options));
};

async function find(cli: Cli, q: string, { realm, kinds, limit, output }: Options): Promise<void> {
  if (!/^\d{1,3}$/.test(limit)) throw new Refused(`--limit must be a number; it is ${limit}`);
  const { client } = await cli.connect();
  const query = { q, realm, kinds, limit: Number(limit) };
  const { body } = await client.call(search, { query, signal: cli.signal });
  const { hits = [], more = [], notSearched = [] } = body ?? {};
  if (hits.length === 0 && output === 'table') writeLine(cli.io, `Nothing matches ${q}.`);
  else
    print(cli.io, output, {
      value: body,
      names: () => hits.map(nameOf),
      table: () => ({
        head: ['KIND', 'REALM', 'NAME', 'DETAIL', 'ID'],
        rows: hits.map((hit) => [hit.kind, hit.realm, hit.name, text(hit.detail), hit.id]),
      }),
    });
  if (more.length > 0) writeLine(cli.io, `There are more of ${more.join(', ')}: --limit 50, or a longer text.`);
  if (notSearched.length > 0) writeLine(cli.io, `Not searched in all realms: ${notSearched.join(', ')}. Add -r REALM.`);
}

const nameOf = ({ kind, realm, name }: SearchHit): string => `${kind}/${realm}/${name}`;
