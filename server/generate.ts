// `npm run generate`: writes the committed files that are generated from the code, so that their changes are visible in
// review. test/guards/generated.test.ts generates the same in memory and compares. Design "Generated things".
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { chartReadme, withCrds } from '../operator/chart-readme.ts';
import { parseConfig } from './config.ts';
import { newId } from './crypto/ids.ts';
import { openPool } from './db/sql.ts';
import { placeholdersListed, textsListed } from './http/texts-listed.ts';
import { registries } from './registries.ts';

const root = path.resolve(import.meta.dirname, '..');
const COMMAND = 'npm run generate';

/** A whole server that is never started: it has all its routes, and touches neither network nor database. */
async function builtApp() {
  const { buildApp } = await import('./app.ts');
  const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
  const pool = openPool(nowhere);
  const masterKey = Buffer.alloc(32);
  const app = await buildApp({
    config: parseConfig({ SVC_LOG_LEVEL: 'silent' }),
    pool,
    databaseUrl: nowhere,
    masterKey: [masterKey],
    log: pino({ level: 'silent' }),
    strict: false,
    now: () => new Date(),
    newId,
  });
  await app.http.ready();
  return app;
}

/** Every generated file: path from the root → content. The registries of kinds must be up to date before; what reads them loads here. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const app = await builtApp();
  const { renderCrds } = await import('../operator/crd.ts');
  const { consoleFiles } = await import('./console-listed.ts');
  const { kindsNamed } = await import('../cli/kind-names.ts');
  const files = await registries(root);
  files.set('server/openapi.json', `${JSON.stringify(await app.api.document(), null, 2)}\n`);
  for (const [file, content] of renderCrds()) {
    files.set(file, content);
    // a chart reads no file outside of itself
    files.set(path.join('charts/realmkeeper/files', file), content);
  }
  const chart = (file: string) => path.join('charts/realmkeeper', file);
  const read = (file: string) => readFile(path.join(root, file), 'utf8');
  files.set(chart('README.md'), chartReadme(await read(chart('README.md')), await read(chart('values.yaml'))));
  for (const [file, content] of await consoleFiles(root)) files.set(file, content);
  files.set('docs/cli.md', kindsNamed(await read('docs/cli.md')));
  files.set('server/http/text-placeholders.ts', placeholdersListed());
  files.set('docs/texts.md', textsListed(await read('docs/texts.md')));
  const crds = [...renderCrds().values()].map((text) => text.trimEnd());
  files.set('deploy/install.yaml', `${withCrds(await read('deploy/install.yaml'), crds)}\n`);
  await app.stop();
  return files;
}

/** The files whose content on disk differs from the generated one. */
export async function outdatedFiles(files: Map<string, string>): Promise<string[]> {
  const checked = await Promise.all(
    [...files].map(async ([file, content]) => {
      const current = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
      return current === content ? [] : [`${file} is out of date: run ${COMMAND}`];
    }),
  );
  return checked.flat();
}

const USAGE = `Writes what is printed from the code and committed: the lists of declared kinds, server/openapi.json, the CRDs in crds/ and
in the chart, the table of values in the chart's README, the kinds in docs/cli.md, what the console knows of routes and kinds
(console/generated/), the texts in docs/texts.md and their placeholders in server/http/text-placeholders.ts, and the CRDs in deploy/install.yaml.

Usage: npm run generate

Example
  npm run generate && git diff --stat`;

const args = process.argv.slice(2);
if (import.meta.main && args.length > 0) {
  const help = args.every((arg) => arg === '--help' || arg === '-h');
  (help ? console.log : console.error)(USAGE);
  process.exitCode = help ? 0 : 2;
} else if (import.meta.main) {
  const write = async (files: ReadonlyMap<string, string>) => {
    for (const [file, content] of files) {
      await writeFile(path.join(root, file), content);
      console.log(`wrote ${file}`);
    }
  };
  // the registries of kinds come first, because the other files follow from them
  await write(await registries(root));
  await write(await generatedFiles());
}
