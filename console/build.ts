// Builds the console: content-hashed files with compressed ones beside them, an index.html that names those that the first
// page needs, and a manifest. `npm run build` writes them into bundles/console; a server that runs from its source builds
// them at the first request (server/features/operations/console/).
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { darkTokens, lightTokens } from '../server/http/page-tokens.ts';
import { darkColours, lightColours } from './styles/colours.ts';

const root = path.resolve(import.meta.dirname, '..');
/** Where the console is served; `server/features/operations/console/routes.ts` mounts it there. */
const BASE = '/admin/console/';

const dark = `${darkTokens} ${darkColours}`;
/** Custom properties for both schemes: the system's, unless the reader has chosen one (shell/appearance.ts). */
const tokenSheet = `:root { color-scheme: light dark; ${lightTokens} ${lightColours} }
@media (prefers-color-scheme: dark) { :root:not([data-theme='light']) { ${dark} } }
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; ${dark} }
`;

/** `@import 'page-tokens.css'` is the sheet of all colours: the sign-in pages' and the console's own. */
const tokens: Plugin = {
  name: 'page-tokens',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^page-tokens\.css$/ }, () => ({ path: 'page-tokens.css', namespace: 'tokens' }));
    onLoad({ filter: /.*/, namespace: 'tokens' }, () => ({ contents: tokenSheet, loader: 'css' }));
  },
};

/**
 * React Aria writes style elements and empties its live regions by `innerHTML`, and zod tries whether it may make functions of
 * text; the console's policy permits none of it. The rule of the style element is in styles/base.css.
 */
const withinPolicy: Plugin = {
  name: 'within-policy',
  setup({ onLoad }) {
    const places: [RegExp, [from: string, to: string][]][] = [
      [/zod\/v4\/core\/util\.js$/, [['if (globalConfig.jitless) {', 'if (true) {']]],
      [
        /react-aria\/dist\/private\/interactions\/usePress\.mjs$/,
        [["ownerDocument.createElement('style')", 'undefined; return']],
      ],
      [
        /react-aria\/dist\/private\/live-announcer\/LiveAnnouncer\.mjs$/,
        [
          ["this.assertiveLog.innerHTML = ''", 'this.assertiveLog.replaceChildren()'],
          ["this.politeLog.innerHTML = ''", 'this.politeLog.replaceChildren()'],
        ],
      ],
      [
        // for iOS alone: a page that stays still behind an overlay; body[style*=overflow] does it in styles/base.css
        /react-aria\/dist\/private\/overlays\/usePreventScroll\.mjs$/,
        [["let style = document.createElement('style');", "let style = document.createElement('template');"]],
      ],
    ];
    for (const [filter, changes] of places)
      onLoad({ filter }, async ({ path: file }) => {
        let contents = await readFile(file, 'utf8');
        for (const [from, to] of changes) {
          if (!contents.includes(from)) throw new Error(`${file} no longer holds ${from}: correct console/build.ts`);
          contents = contents.replace(from, to);
        }
        return { contents, loader: 'js' };
      });
  },
};

/** zod's messages in other languages: the console shows English ones. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

export interface ConsoleManifest {
  /** The files that index.html loads, in its order: what a reader waits for before the first page is usable. */
  first: string[];
  files: { name: string; bytes: number; brotli: number }[];
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

async function compressed(outdir: string, names: readonly string[]): Promise<ConsoleManifest['files']> {
  return Promise.all(
    names.map(async (name) => {
      const content = await readFile(path.join(outdir, name));
      const small = await brotli(content, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
      });
      await Promise.all([
        writeFile(path.join(outdir, `${name}.br`), small),
        writeFile(path.join(outdir, `${name}.gz`), await gzipped(content, { level: 9 })),
      ]);
      return { name, bytes: content.length, brotli: small.length };
    }),
  );
}

/** The outputs that the entry imports statically, each once, the entry first. */
function firstOf(outputs: Metafile['outputs'], entry: string): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const { path: to, kind, external } of outputs[name]?.imports ?? [])
      if (kind === 'import-statement' && !external) visit(to);
  };
  visit(entry);
  return [...found];
}

const integrityOf = (content: Buffer) => `sha384-${hash('sha384', content, 'base64')}`;

/** Writes the console into `outdir`, which it empties first. */
export async function buildConsole(outdir: string): Promise<ConsoleManifest> {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: 'console/main.tsx' },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2023', 'chrome120', 'firefox121', 'safari17'],
    minify: true,
    metafile: true,
    charset: 'utf8',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    plugins: [tokens, withinPolicy, oneLanguage],
    logLevel: 'silent',
  });
  const nameOf = (output: string) => path.relative(outdir, path.resolve(root, output));
  const [entry, made] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'console/main.tsx') ?? [];
  if (entry === undefined || made?.cssBundle === undefined)
    throw new Error('the console has no entry or no style sheet');
  const scripts = firstOf(metafile.outputs, entry).map(nameOf);
  const sheet = nameOf(made.cssBundle);
  const read = async (name: string) => ({ name, integrity: integrityOf(await readFile(path.join(outdir, name))) });
  const [style, main, ...chunks] = await Promise.all([sheet, ...scripts].map(read));
  const index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Realmkeeper</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${BASE}${style?.name}" integrity="${style?.integrity}">
${chunks.map(({ name, integrity }) => `<link rel="modulepreload" href="${BASE}${name}" integrity="${integrity}">\n`).join('')}<script type="module" src="${BASE}${main?.name}" integrity="${main?.integrity}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p class="noscript">The console needs JavaScript. Without it, <a href="/admin/login?page=plain">the page of your session</a> leads to the API.</p></noscript>
</body>
</html>
`;
  await writeFile(path.join(outdir, 'index.html'), index);
  const assets = (await readdir(path.join(outdir, 'assets'))).map((name) => `assets/${name}`).sort();
  const manifest = { first: [sheet, ...scripts], files: await compressed(outdir, [...assets, 'index.html']) };
  await writeFile(path.join(outdir, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** When a file below the folders was last written, in milliseconds. */
async function newestBelow(folders: readonly string[]): Promise<number> {
  const times = folders.map(async (folder) => {
    const files = await readdir(path.join(root, folder), { recursive: true, withFileTypes: true });
    const all = files.filter((file) => file.isFile()).map((file) => stat(path.join(file.parentPath, file.name)));
    return Math.max(0, ...(await Promise.all(all)).map(({ mtimeMs }) => mtimeMs));
  });
  return Math.max(...(await Promise.all(times)));
}

/**
 * The folder with the console, for a server that runs from its source: built unless the last build is newer than the source.
 * A build goes into a folder of its own first, so that two servers that build at once disturb neither.
 */
export async function builtConsole(): Promise<string> {
  const outdir = path.join(root, 'node_modules/.cache/console');
  const newest = await newestBelow(['console', 'server/contract', 'server/http']);
  const isFresh = () =>
    stat(path.join(outdir, 'manifest.json')).then(
      ({ mtimeMs }) => mtimeMs > newest,
      () => false,
    );
  if (await isFresh()) return outdir;
  const own = `${outdir}-${process.pid}`;
  await buildConsole(own);
  // another server was first, and serves from there
  if (await isFresh()) {
    await rm(own, { recursive: true, force: true });
    return outdir;
  }
  await rm(outdir, { recursive: true, force: true });
  await rename(own, outdir).catch(async (error) => {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    await rm(own, { recursive: true, force: true });
  });
  return outdir;
}
