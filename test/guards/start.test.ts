// Owns: what the built server loads until it is ready, and what it keeps then: bytes of code, modules, memory. The machine's speed has no
// part in it. The console's files beside the bundles change none of it.
// Does not own: how fast a start is (test/bench).
// Implements: performance, "start" and "memory". The figures are in start.json; a change that raises one says so in its commit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOptions } from '../../bundle.ts';
import { builtConsole } from '../../console/build.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';

const root = path.join(import.meta.dirname, '../..');
/** Below node_modules, where native code is found. */
const folder = path.join(root, 'node_modules/.cache/realmkeeper-start', String(process.pid));
const figures: Record<'bytes' | 'modules' | 'memoryMiB', number> = JSON.parse(
  await readFile(path.join(import.meta.dirname, 'start.json'), 'utf8'),
);
/** Of what is written down, either way: a change that makes a start lighter writes that down, too. */
const SLACK = { bytes: 0.02, modules: 0.02 };
const MEMORY_SLACK_MIB = 5;
/** Two starts of the same server differ by less: the queue and the pool are at different moments of their work. */
const BETWEEN_STARTS_MIB = 1.5;

/** Packages and folders that few requests need: a start does without them. */
const LATER = [
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@kubernetes/client-node',
  '@opentelemetry/api',
  '@peculiar/asn1-x509',
  '@simplewebauthn/server',
  '@xmldom/xmldom',
  'bcryptjs',
  'bowser',
  'ldapts',
  'nodemailer',
  'otpauth',
  'parse5',
  'pg-boss',
  're2js',
  'undici',
  'uqr',
  'xml-crypto',
  'xpath',
  'yaml',
]
  .map((name) => `node_modules/${name}/`)
  .concat('server/xml/', 'server/features/authentication/sign-in/', 'server/features/authentication/account/')
  .concat('node_modules/jose/dist/webapi/jwe/', 'node_modules/light-my-request/')
  .concat('server/features/protocol/authzen/', 'server/features/protocol/ssf/service.ts')
  .concat('server/features/protocol/ssf/tokens-job.ts', 'server/features/protocol/signal-transmitters/receiving.ts');
/** A package that is never called has a line in its place (bundle.ts). */
const STAND_IN_BYTES = 200;

interface Seen {
  /** The files that were loaded until the server was ready. */
  files: string[];
  /** The used heap after a collection, and what lies outside of it, in bytes. */
  memory: number;
}

let database: TestDatabase;
let outputs: Metafile['outputs'];
let seen: Seen;

/**
 * Starts the built server, and ends it when the report of watched-start.mjs is there.
 * @param afterwards called with the server's address before it ends
 */
async function start(afterwards?: (address: string) => Promise<void>): Promise<Seen> {
  const port = await freePort();
  const watch = path.join(root, 'test/support/watched-start.mjs');
  const server = spawn(process.execPath, ['--expose-gc', '--import', watch, path.join(folder, 'server.js')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      DATABASE_URL: database.url,
      SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      SVC_PORT: String(port),
      SVC_BASE_URL: 'http://localhost:8080',
      SVC_LOG_LEVEL: 'warn',
      SVC_OPERATOR_CLIENT_SECRET: 'kNqzV1cT0fYw8uJr5hXb2mGd7sLp4aEo9iQxRtZ3vKM',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const chunk of server.stderr) {
    said += chunk;
    const [, json] = /^watched: (.*)$/m.exec(said) ?? [];
    if (json) {
      await afterwards?.(`http://127.0.0.1:${port}`);
      server.kill('SIGTERM');
      await once(server, 'exit');
      return JSON.parse(json);
    }
  }
  throw new Error(`the built server ended:\n${said}`);
}

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  await cp(path.join(root, 'server/db/migrations'), path.join(folder, 'migrations'), { recursive: true });
  await writeFile(path.join(folder, 'common-passwords.txt'), '');
  database = await createDatabase();
  const built = await build({
    ...bundleOptions({ server: 'server/main.ts' }),
    outdir: folder,
    metafile: true,
    logLevel: 'error',
  });
  outputs = built.metafile.outputs;
  // the first start makes master and its clients; a later one finds them
  await start();
  seen = await start();
}, 120_000);
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The modules in the bundles that were loaded, with their bytes. */
function loaded(): Map<string, number> {
  const modules = new Map<string, number>();
  for (const [file, { inputs }] of Object.entries(outputs))
    if (seen.files.includes(path.basename(file)))
      for (const [module, { bytesInOutput }] of Object.entries(inputs)) modules.set(module, bytesInOutput);
  return modules;
}
const says = (name: string, found: number) =>
  `write ${found} as ${name} into test/guards/start.json, and say why in the commit`;
function expectAsWritten(name: keyof typeof SLACK, found: number): void {
  const written = figures[name];
  expect(Math.abs(found - written), says(name, found)).toBeLessThanOrEqual(written * SLACK[name]);
}

test('it loads as many bytes of code, in as many modules, as is written down', () => {
  const modules = loaded();
  expectAsWritten(
    'bytes',
    [...modules.values()].reduce((sum, bytes) => sum + bytes, 0),
  );
  expectAsWritten('modules', modules.size);
});

test('it loads nothing that few requests need', () => {
  const heavy = [...loaded()].filter(
    ([module, bytes]) => bytes > STAND_IN_BYTES && LATER.some((name) => module.includes(name)),
  );
  expect(heavy.map(([module, bytes]) => `${module} (${bytes} bytes)`)).toEqual([]);
});

// Unlike resident memory, it is the same on every machine and beside any load, within a MiB.
test('it keeps as much memory at rest as is written down', () => {
  const found = Math.round(seen.memory / 1024 / 102.4) / 10;
  expect(Math.abs(found - figures.memoryMiB), says('memoryMiB', found)).toBeLessThanOrEqual(MEMORY_SLACK_MIB);
});

test('with the console beside it, it loads the same files, and keeps as much memory', async () => {
  const assets = path.join(folder, 'console');
  await cp(await builtConsole(), assets, { recursive: true });
  try {
    let status = 0;
    const withConsole = await start(async (address) => {
      status = (await fetch(`${address}/admin/console/`)).status;
    });
    expect(status).toBe(200);
    expect([...withConsole.files].sort()).toEqual([...seen.files].sort());
    expect(Math.abs(withConsole.memory - seen.memory) / 1024 / 1024).toBeLessThan(BETWEEN_STARTS_MIB);
  } finally {
    await rm(assets, { recursive: true });
  }
}, 120_000);
