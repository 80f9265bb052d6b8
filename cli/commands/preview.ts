// `realmctl preview`: the tokens that a client would get, with the origin of each claim, and a page with a look that is not stored.
// Nothing is issued or stored.
import { PagePreviewInput, previewedPages, previewPage } from '../../server/contract/page-preview.ts';
import { type PreviewedToken, previewToken, type TokenPreview } from '../../server/contract/token-preview.ts';
import { addRealm, type Cli, examples, type Register, realmOf } from '../command.ts';
import { idIn } from '../declared-kinds.ts';
import { Refused } from '../faults.ts';
import { readFiles } from '../files.ts';
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
  const page = addOutput(
    addRealm(preview.command('page').argument('<page>', `which one: ${previewedPages.join(', ')}`)),
  )
    .description('a page of the realm as HTML, with branding and texts that are not stored')
    .option('-f, --file <file>', 'YAML or JSON with branding and texts; - reads them from standard input')
    .option('--locale <locale>', 'the language; left out: the realm’s default')
    .option('--scheme <scheme>', 'light or dark; left out: as the reader’s system has it')
    .option('--right-to-left', 'lay it out from right to left in any language')
    .action(async (word: string, options: PageOptions) => previewOf(cli, word, options));
  examples(
    page,
    'realmctl preview page sign-in -r acme --scheme dark > page.html',
    'realmctl preview page consent -r acme --locale de -f look.yaml > page.html',
  );
};

interface PageOptions {
  realm?: string;
  output: Format;
  file?: string;
  locale?: string;
  scheme?: string;
  rightToLeft?: true;
}

async function previewOf(cli: Cli, page: string, { realm: option, output, file, ...asked }: PageOptions) {
  const realm = await realmOf(cli, { option });
  const body = PagePreviewInput.safeParse({ ...(await lookIn(cli, file)), page, ...asked });
  if (!body.success) {
    const [fault] = body.error.issues;
    throw new Refused(`${fault?.path.join('.') || 'the preview'}: ${fault?.message}`);
  }
  const connection = await cli.connect();
  const answer = await connection.client.call(previewPage, { params: { realm }, body: body.data, signal: cli.signal });
  const { html } = answer.body ?? {};
  if (html === undefined) throw new Refused('the server answered nothing');
  const table = () => (cli.io.shown ? html.split('\n').map(plain).join('\n') : html);
  print(cli.io, output, { value: answer.body, table });
}

async function lookIn({ io }: Cli, file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  const { items, faults } = await readFiles(io, [file], { recursive: false });
  const [fault] = faults;
  if (fault) throw new Refused(`${fault.file}: ${fault.message}`);
  const [only, ...more] = items;
  if (!only || more.length > 0 || typeof only.value !== 'object' || only.value === null)
    throw new Refused(`${file} must hold one object with branding or texts`);
  return only.value;
}

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
