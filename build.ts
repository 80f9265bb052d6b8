// `npm run build [-- FOLDER] [--role ROLE]`: builds one file per role under dist/, with the files that it reads and its compiled code
// for the next start. ROLE: server, operator, migrate, reseal, backup, recover-admin or realmctl; then only that role is built. Development needs
// no build: every program runs from its .ts file. Performance section 7 and technique 10.
//
//   dist/server.js, operator.js, migrate.js, reseal.js, backup.js, recover-admin.js   run these: each turns the compile cache on and loads its bundle
//   dist/node-version.mjs                     refuses a Node that is too old with a one-line message
//   dist/bundles/                             the bundles, the password thread, the migrations, the message texts, the common passwords, the files of
//                                             the console and of the API page
//   dist/realmctl.js                          the CLI: one file for Node 20 and newer, without other files
//   dist/package.json                         the native dependencies, which can't be bundled: install them beside the bundles
//   dist/.cache/                              compiled code, from a start of the server here; it may move with the folder
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { bundleOptions, native, neverCalled } from './bundle.ts';
import { buildConsole } from './console/build.ts';
import { errorWords } from './server/contract/error-words.ts';
import { startPostgres } from './server/db/embedded.ts';
import { commonPasswords } from './server/features/people/credentials/common-passwords.ts';

const USAGE = `Bundles the programs, one file for each, with what they read beside them.

Usage: npm run build [-- FOLDER] [--role ROLE]

  FOLDER  where to (default dist); it holds a former build, or nothing
  --role  server, operator, migrate, reseal, backup, recover-admin or realmctl, and nothing else

Examples
  npm run build
  npm run build -- --role realmctl
  npm run build -- /tmp/build --role server`;

const root = import.meta.dirname;
function given() {
  try {
    const options = { role: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (positionals.length > 1) throw new Error(`one folder at most: ${positionals.join(' ')}`);
    return { ...values, folder: positionals[0] ?? 'dist' };
  } catch (error) {
    console.error(`${errorWords(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}
const { role: only, folder, help } = given();
if (help) {
  console.log(USAGE);
  process.exit();
}
const dist = path.resolve(root, folder);
const bundles = path.join(dist, 'bundles');
/** Role → its program; realmctl is bundled in a way of its own. */
const programs = {
  server: 'server/main.ts',
  operator: 'operator/main.ts',
  migrate: 'server/db/main.ts',
  reseal: 'server/reseal/main.ts',
  backup: 'server/backup/main.ts',
  'recover-admin': 'server/recover/main.ts',
};
const known = [...Object.keys(programs), 'realmctl'];
if (only !== undefined && !known.includes(only)) {
  console.error(`--role is one of ${known.join(', ')}; it is ${only}\n\n${USAGE}`);
  process.exit(2);
}
const roles = Object.entries(programs).filter(([role]) => only === undefined || role === only);

async function bundle(): Promise<void> {
  await build({ ...bundleOptions(Object.fromEntries(roles)), outdir: bundles, logLevel: 'warning' });
  for (const file of await readdir(bundles)) {
    // esbuild escapes such characters, but for those of tagged templates
    if (file.endsWith('.js') && /[^\0-\xff]/.test(await readFile(path.join(bundles, file), 'utf8')))
      console.warn(`${file} has a character beyond U+00FF in a tagged template, so V8 keeps it at two bytes for each`);
  }
  for (const [role] of roles) {
    await writeFile(
      path.join(dist, `${role}.js`),
      // an old Node has no enableCompileCache, and says so before any import has run where it is imported statically
      `import './node-version.mjs';\nconst { enableCompileCache } = await import('node:module');\n` +
        `enableCompileCache({ directory: new URL('.cache', import.meta.url).pathname, portable: true });\n` +
        `await import('./bundles/${role}.js');\n`,
    );
  }
}

/** Runs on people's own machines: their Node, no other file. */
async function bundleCli(): Promise<void> {
  const outfile = path.join(dist, 'realmctl.js');
  await build({
    absWorkingDir: root,
    entryPoints: ['cli/main.ts'],
    // one file, which people may carry about
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    banner: {
      js: "import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);",
    },
    plugins: [neverCalled],
    logLevel: 'warning',
  });
  await chmod(outfile, 0o755);
  console.log(`${path.relative(root, outfile)}  ${((await stat(outfile)).size / 1024).toFixed(0)} KiB`);
}

async function besides(): Promise<void> {
  await cp(path.join(root, 'node-version.mjs'), path.join(dist, 'node-version.mjs'));
  await cp(path.join(root, 'server/db/migrations'), path.join(bundles, 'migrations'), { recursive: true });
  const words = path.join(root, 'server/features/configuration/messaging/languages');
  await cp(words, path.join(bundles, 'languages'), { recursive: true });
  await cp(path.join(root, 'node_modules/@fastify/swagger-ui/static'), path.join(bundles, 'swagger-ui'), {
    recursive: true,
    filter: (file) => !file.endsWith('.map'),
  });
  // the lines that count, of a list that has ten times as many
  const common: string[] = [];
  for await (const piece of commonPasswords()) common.push(...piece);
  await writeFile(path.join(bundles, 'common-passwords.txt'), common.join('\n'));
  const { version, dependencies, engines } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const needs = Object.fromEntries(native.map((name) => [name, dependencies[name]]));
  const manifest = { name: 'realmkeeper-dist', version, private: true, type: 'module', engines, dependencies: needs };
  await writeFile(path.join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Starts the built server once, on a database of its own, so that what it compiled is kept. */
async function warm(): Promise<void> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-build-'));
  // PostgreSQL's user has to get through it when root starts it
  await chmod(dir, 0o755);
  const postgres = await startPostgres({ dir: path.join(dir, 'postgres'), fast: true });
  let child: ChildProcess | undefined;
  try {
    const server = spawn(process.execPath, [path.join(dist, 'server.js')], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        DATABASE_URL: postgres.url,
        SVC_MASTER_KEY: randomBytes(32).toString('base64'),
        SVC_PORT: '0',
        SVC_LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    child = server;
    let said = '';
    const ended = once(server, 'exit');
    const address = await new Promise<string>((resolve, reject) => {
      server.stderr.on('data', (chunk: Buffer) => {
        said += chunk;
        const [, where] = /listens on (\S+);/.exec(said) ?? [];
        if (where) resolve(where);
      });
      ended.then(([code]) => reject(new Error(`the built server ended with ${code}:\n${said}`)), reject);
    });
    for (const page of [
      '/realms/master/.well-known/openid-configuration',
      '/swagger-ui/',
      '/admin/login',
      '/admin/console/',
      '/actuator/health/readiness',
      '/realms/master/saml/idp/metadata',
    ]) {
      const { status } = await fetch(address + page);
      if (status !== 200) throw new Error(`the built server answers ${status} at ${page}`);
    }
    server.kill('SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`the built server ended with ${code}:\n${said}`);
  } finally {
    // one that was left running would keep this program from ending
    child?.kill('SIGKILL');
    await postgres.stop();
    await rm(dir, { recursive: true });
  }
  // a later start may run as another user
  const cache = path.join(dist, '.cache');
  for (const file of await readdir(cache, { recursive: true, withFileTypes: true }))
    if (file.isFile()) await chmod(path.join(file.parentPath, file.name), 0o644);
}

/** Removes a former build; throws where the folder holds anything else. */
async function clear(): Promise<void> {
  const there: string[] = await readdir(dist).catch(() => []);
  if (there.length > 0 && !there.includes('realmctl.js') && !there.includes('bundles'))
    throw new Error(`${dist} holds something else than a build: remove it yourself, or name another folder`);
  await rm(dist, { recursive: true, force: true });
}

await clear();
if (only === undefined || only === 'realmctl') await bundleCli();
if (roles.length > 0) await bundle();
if (roles.length > 0) await besides();
if (roles.some(([role]) => role === 'server')) await buildConsole(path.join(bundles, 'console'));
if (roles.some(([role]) => role === 'server'))
  await warm().catch((error: Error) => console.error(`No compile cache was made: ${error.message}`));
for (const [role] of roles) {
  const { size } = await stat(path.join(bundles, `${role}.js`));
  console.log(`${path.relative(root, dist)}/${role}.js  ${(size / 1024).toFixed(0)} KiB bundled`);
}
