// `realmctl api METHOD PATH`: any request of the admin API with the current session; and `token`, which prints a token
// for other programs.
import { parse, parseDocument } from 'yaml';
import { type Cli, examples, type Register } from '../command.ts';
import { bytesOf } from '../document-file.ts';
import { Refused } from '../faults.ts';
import { jsonText, plain } from '../output.ts';
import { shownLines, utf8Text } from '../text.ts';
import { secretArgument, secretIn } from '../writes.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface Options {
  data?: string;
  file?: string;
  header?: string[];
  include?: true;
}
const gathered = (value: string, before: string[] = []): string[] => [...before, value];

export const registerApi: Register = (program, cli) => {
  const command = program
    .command('api')
    .argument('<method>', METHODS.join(', '))
    .argument('<path>', 'from /admin on, or behind /admin: realms/acme/clients?limit=10')
    .description('send a request to the admin API and print the answer')
    .option('-d, --data <json>', 'the body, without secrets, which others on this computer could see')
    .option('-f, --file <file>', 'the body from a file, JSON, XML or YAML; - is standard input')
    .option('-H, --header <line>', 'a header, as If-Match: "3"; may be given again', gathered)
    .option('-i, --include', 'print the status and the headers too');
  examples(
    command,
    'realmctl api GET realms/acme/clients',
    'realmctl api PUT realms/acme/settings -d \'{"requireMfa": true}\'',
    'realmctl api POST realms/acme/webhooks -f webhook.json',
    'realmctl api GET /admin/realms/acme/health | jq .status',
  ).action((method: string, where: string, options: Options) => api(cli, method.toUpperCase(), where, options));
};

async function api(cli: Cli, method: string, where: string, options: Options): Promise<void> {
  if (!METHODS.includes(method)) throw new Refused(`there is no method ${method}`, `There are: ${METHODS.join(', ')}.`);
  const { data, file } = options;
  if (data !== undefined && file !== undefined) throw new Refused('give --data or --file, not both');
  const secret = data === undefined ? undefined : secretIn(jsonIn(data));
  if (secret !== undefined) throw secretArgument('--data', secret);
  const headers = new Headers(
    (options.header ?? []).map((line): [string, string] => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Refused('--header takes "Name: value"');
      if (/^(authorization|cookie|host)$/i.test(name)) throw new Refused(`the header ${name} is the session’s`);
      return [name, value];
    }),
  );
  const connection = await cli.connect();
  const given = data ?? (file === undefined ? undefined : await whole(cli, file));
  const typed = given !== undefined && !headers.has('content-type') ? typedBody(given, file) : undefined;
  if (typed) headers.set('content-type', typed.type);
  const body = typed?.body ?? given;
  const response = await connection.fetch(pathOf(where, connection.server), {
    method,
    headers,
    ...(body !== undefined && { body }),
    signal: cli.signal,
  });
  const { stdout } = cli.io;
  if (options.include) {
    stdout.write(`HTTP ${response.status}\n`);
    for (const [name, value] of response.headers) stdout.write(`${plain(`${name}: ${value}`)}\n`);
    stdout.write('\n');
  }
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') ?? false;
  if (text === '') return;
  // A program gets the answer as it came; a terminal obeys some of its characters.
  if (json && cli.io.colour) stdout.write(`${jsonText(JSON.parse(text), 2)}\n`);
  else stdout.write(ended(cli.io.shown ? shownLines(text) : text));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The media type of a body that says none: JSON, XML by its first character; YAML of a file is sent as JSON. */
function typedBody(given: string | Buffer, file: string | undefined): { type: string; body: string | Buffer } {
  const json = 'application/json';
  const text = given
    .toString()
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text === '' || jsonIn(text) !== undefined) return { type: json, body: given };
  if (text.startsWith('<')) return { type: 'application/xml', body: given };
  if (file !== undefined && /\.ya?ml$/i.test(file)) return { type: json, body: JSON.stringify(parse(text)) };
  // JSON with a fault, or one value a line: the server says what is wrong
  if (/^[[{"]/.test(text)) return { type: json, body: given };
  const yaml = yamlObject(text);
  if (file !== undefined && yaml !== undefined) return { type: json, body: JSON.stringify(yaml) };
  throw new Refused('the body is neither JSON, YAML nor XML', 'Name its type: -H "Content-Type: text/csv"');
}

/** The object that the text is in YAML; undefined: it is none. Almost any text is a YAML string. */
function yamlObject(text: string): object | undefined {
  const document = parseDocument(text);
  const value: unknown = document.errors.length === 0 ? document.toJS() : undefined;
  return typeof value === 'object' && value !== null ? value : undefined;
}

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** The path of a request. It must belong to this server's admin API: the session must not be sent anywhere else. */
function pathOf(where: string, server: string): string {
  const path = where.startsWith('/') ? where : `/admin/${where}`;
  const url = URL.canParse(path, server) ? new URL(path, server) : undefined;
  if (!url || where.includes('://') || url.origin !== new URL(server).origin || !url.pathname.startsWith('/admin/'))
    throw new Refused(
      `${where} is no path of the admin API`,
      'Such as realms/acme/clients, or /admin/realms/acme/clients.',
    );
  return url.pathname + url.search;
}

async function whole({ io }: Cli, file: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(file, io.stdin)) chunks.push(chunk);
  return utf8Text(Buffer.concat(chunks), file);
}

export const registerToken: Register = (program, cli) => {
  const command = program
    .command('token')
    .description('print an access token for the admin API, renewed where it is about to end; keep it secret');
  examples(command, 'curl -H "Authorization: Bearer $(realmctl token)" https://iam.example.com/admin/realms').action(
    async () => {
      const [, token] = /^Bearer (\S+)$/.exec(await (await cli.connect()).authorization()) ?? [];
      if (token === undefined)
        throw new Refused('this session is a cookie, and has no token', 'Sign in by the browser, or as a client.');
      cli.io.stdout.write(`${token}\n`);
    },
  );
};
