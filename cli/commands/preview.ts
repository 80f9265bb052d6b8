// `realmctl preview token`: the tokens that a client would get, with the origin of each claim. Nothing is issued.
import { type PreviewedToken, previewToken, type TokenPreview } from '../../server/contract/token-preview.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { idIn } from '../declared-kinds.ts';
import { Refused } from '../faults.ts';
import { addOutput, type Format, paint, plain, print } from '../output.ts';
import { users } from '../run-time-kinds.ts';

interface Options {
  realm?: string;
  output: Format;
  user?: string;
  scope?: string;
  resource?: string[];
}

export const registerPreview: Register = (program, cli) => {
  const preview = program.command('preview').description('show what the server would make, without making it');
  const command = addOutput(addRealm(preview.command('token').argument('<client>', 'the client')))
    .description('the tokens that a client would get for a user, or for itself, and where each claim comes from')
    .option('--user <user>', 'username or id; left out: the client for itself')
    .option('--scope <scopes>', 'the scopes that the application asks for: "openid profile"')
    .option('--resource <resource...>', 'what the token is for')
    .action(async (word: string, options: Options) => previewTokens(cli, word, options));
  examples(
    command,
    'realmctl preview token web -r acme --user ana --scope "openid profile"',
    'realmctl preview token billing -r acme',
    "realmctl preview token web -r acme --user ana -o jsonpath='{.accessToken.claims}'",
  );
};

async function previewTokens(cli: Cli, word: string, { realm: option, output, user, scope, resource = [] }: Options) {
  const realm = await realmOf(cli, { option });
  const connection = await cli.connect();
  const scopeOfSearch = { connection, realm, signal: cli.signal };
  const id = await idIn('clients')({ ...scopeOfSearch, of: word });
  const userId =
    user === undefined ? undefined : String(Reflect.get((await users.find(scopeOfSearch, user)).value, 'id'));
  const { body } = await connection.client.call(previewToken, {
    params: { realm, id },
    query: { userId, scope, resource: resource.length > 0 ? resource.join(' ') : undefined },
    signal: cli.signal,
  });
  if (!body) throw new Refused('the server answered nothing');
  print(cli.io, output, { value: body, table: () => previewText(cli, body) });
}

function previewText({ io }: Cli, { grantedScopes, refused, consentNeeded, ...tokens }: TokenPreview): string {
  const parts: [string, PreviewedToken | null][] = [
    ['Access token', tokens.accessToken],
    ['ID token', tokens.idToken],
    ['Userinfo', tokens.userinfo],
  ];
  return [
    ...refused.map(({ message }) => paint(io, 'red', plain(`! ${message}`))),
    plain(`Scopes: ${grantedScopes.join(' ') || 'none'}${consentNeeded ? '; the user is asked to agree' : ''}`),
    ...parts.flatMap(([title, token]) =>
      token === null ? [] : ['', paint(io, 'bold', title), ...claimLines(token).map((line) => plain(`  ${line}`))],
    ),
  ].join('\n');
}

const claimLines = ({ claims, origins }: PreviewedToken): string[] =>
  Object.entries(claims).flatMap(([name, value]) => [
    `${name}: ${JSON.stringify(value)}`,
    ...origins
      .filter(({ claim }) => claim === name || claim.startsWith(`${name}.`))
      .map(({ claim, message }) => `    ${claim === name ? '' : `${claim}: `}${message}`),
  ]);
