// `realmctl export`: a realm's document as the server writes it, or the four kinds for Git.
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Option } from 'commander';
import { address, unreachable } from '../../server/contract/client.ts';
import { exportRealm, RealmDocument } from '../../server/contract/transfer.ts';
import { addRealm, type Cli, examples, type Io, type Register, realmName, realmOf } from '../command.ts';
import { documentYaml } from '../document-yaml.ts';
import { Refused } from '../faults.ts';
import { fileName, jsonList, secretLines, secretTemplates, yamlStream, yamlText } from '../manifest-text.ts';
import { type Manifests, manifestsOf, NoManifest } from '../manifests.ts';
import { formats, writeLine } from '../output.ts';
import { counted } from '../progress.ts';
import { shownChunks } from '../text.ts';
import { type Chunks, writeWhole } from '../whole-file.ts';

interface Options {
  realm?: string;
  as: 'document' | 'manifests';
  output?: string;
  outputDir?: string;
  format?: 'json' | 'yaml';
  users: boolean;
  withoutDefaults?: true;
  namespace?: string;
  secretTemplates?: string;
}

export const registerExport: Register = (program, cli) => {
  const command = addRealm(program.command('export'))
    .argument('[realm]', 'the realm', realmName)
    .description('write a realm as a document, or as manifests for Git')
    .addOption(
      new Option('--as <form>', 'a realm document, or the four kinds of custom resources')
        .choices(['document', 'manifests'])
        .default('document'),
    )
    .option('-o, --output <file>', 'write to this file (default: standard output)')
    .option('--output-dir <dir>', 'write into this folder: one file, or with --as manifests one for each object')
    .addOption(new Option('--format <format>', 'json or yaml (default: by the file’s name)').choices(['json', 'yaml']))
    .option('--users', 'with users (the default of a document)', true)
    .option('--no-users', 'without users')
    .option('--without-defaults', 'without what a fresh realm has anyway')
    .option('-n, --namespace <namespace>', 'with --as manifests: the namespace of the objects')
    .option('--secret-templates <file>', 'with --as manifests: also write Secrets with empty values, to be filled in');
  examples(
    command,
    'realmctl export acme > acme.json',
    'realmctl export acme --no-users -o acme.yaml',
    'realmctl export acme --no-users --without-defaults -o acme.yaml   # only what makes it this realm',
    'realmctl export acme --as manifests -n identity --output-dir git/identity',
    'realmctl export acme --as manifests | kubectl apply --server-side --dry-run=server -f -',
  ).action(async (place: string | undefined, options: Options) => {
    checkOptions(options);
    const realm = await realmOf(cli, { option: options.realm, place });
    if (options.as === 'manifests') await exportManifests(cli, realm, options);
    else await exportDocument(cli, realm, options);
  });
};

function checkOptions({ as, output, outputDir, namespace, secretTemplates: templates }: Options): void {
  if (output !== undefined && outputDir !== undefined) throw new Refused('give --output or --output-dir, not both');
  if (output !== undefined && formats.some((format) => format === output))
    throw new Refused(`--output names a file; it is ${output}`, `For the format: --format ${output}`);
  if (as === 'document' && (namespace !== undefined || templates !== undefined))
    throw new Refused('--namespace and --secret-templates go with --as manifests');
}

const formatOf = ({ format, output = '' }: Options, otherwise: 'json' | 'yaml'): 'json' | 'yaml' =>
  format ?? (/\.ya?ml$/.test(output) ? 'yaml' : output.endsWith('.json') ? 'json' : otherwise);

async function download(
  cli: Cli,
  realm: string,
  query: { users: boolean; defaults?: false },
): Promise<AsyncIterable<Uint8Array>> {
  const { fetch, server } = await cli.connect();
  const { body } = await fetch(address(exportRealm.path, { realm }, query), { signal: cli.signal });
  if (!body) throw new Refused('the server answered nothing');
  return arriving(server, body);
}

/** Reports a connection that breaks half-way as an unreachable server, not as a fault of a file. */
async function* arriving(server: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw unreachable(server, cause);
  }
}

/** Servers of older releases don't know these parameters, so unset ones are not sent. */
const queryOf = ({ users, withoutDefaults }: Options) => ({
  users,
  ...(withoutDefaults && { defaults: false as const }),
});

async function exportDocument(cli: Cli, realm: string, options: Options): Promise<void> {
  const format = formatOf(options, 'json');
  const bytes = counted(cli.io, realm, await download(cli, realm, queryOf(options)));
  const text = format === 'yaml' ? documentYaml(bytes) : bytes;
  const { output, outputDir } = options;
  if (output === undefined && outputDir === undefined) return toStdout(cli.io, text);
  if (outputDir !== undefined) await mkdir(outputDir, { recursive: true });
  const file = output ?? path.join(outputDir ?? '.', `${realm}.${format}`);
  // A document with users contains personal data.
  await writeWhole(file, text, { secret: options.users });
  writeLine(cli.io, `Wrote ${file}.`);
}

async function exportManifests(cli: Cli, realm: string, options: Options): Promise<void> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await download(cli, realm, { ...queryOf(options), users: false })) pieces.push(piece);
  const parsed = RealmDocument.safeParse(JSON.parse(Buffer.concat(pieces).toString()));
  if (!parsed.success)
    throw new Refused(
      `this realmctl does not know all that the realm holds: ${parsed.error.issues.map((i) => i.path.join('.')).join(', ')}`,
      'Use the realmctl of the server’s version.',
    );
  const { namespace, output, outputDir, secretTemplates: templates } = options;
  const manifests = fitting(() => manifestsOf(realm, parsed.data, namespace === undefined ? {} : { namespace }));
  if (outputDir !== undefined) await writeFolder(cli.io, outputDir, realm, manifests, namespace);
  else {
    const text = formatOf(options, 'yaml') === 'json' ? jsonList(manifests) : yamlStream(manifests, namespace);
    if (output === undefined) await toStdout(cli.io, [text]);
    else {
      await writeWhole(output, [text]);
      writeLine(cli.io, `Wrote ${output}.`);
    }
  }
  if (templates !== undefined) {
    await writeWhole(templates, [secretTemplates(manifests.secrets, namespace)], { secret: true });
    writeLine(cli.io, `Wrote ${templates}: fill in the values, and keep it out of Git.`);
  }
  for (const line of [...manifests.notes, ...secretLines(manifests.secrets, namespace)]) writeLine(cli.io, line);
}

function fitting(make: () => Manifests): Manifests {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof NoManifest)) throw error;
    throw new Refused(error.message, 'Keep it as a realm document: realmctl export, realmctl import.');
  }
}

async function writeFolder(
  io: Io,
  dir: string,
  realm: string,
  { items, secrets }: Manifests,
  namespace: string | undefined,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const names = items.map(fileName);
  for (const [i, item] of items.entries()) await writeWhole(path.join(dir, names[i] ?? ''), [yamlText(item)]);
  const lines = secretLines(secrets, namespace);
  // A .txt file, so that a tool that applies the folder doesn't read it as a manifest.
  if (lines.length > 0) await writeWhole(path.join(dir, `secrets-${realm}.txt`), [`${lines.join('\n')}\n`]);
  writeLine(io, `Wrote ${items.length} ${items.length === 1 ? 'file' : 'files'} to ${dir}.`);
  const ofRealm = new RegExp(`^(?:flow|webhook|workloadidentity)-${realm}\\..*\\.yaml$`);
  const stale = (await readdir(dir)).filter((name) => ofRealm.test(name) && !names.includes(name));
  if (stale.length > 0) writeLine(io, `No longer in the realm, remove them yourself: ${stale.join(', ')}`);
}

async function toStdout({ stdout, shown }: Io, chunks: Chunks): Promise<void> {
  for await (const chunk of shown ? shownChunks(chunks) : chunks)
    if (!stdout.write(chunk)) await new Promise<void>((resolve) => stdout.once('drain', () => resolve()));
}
