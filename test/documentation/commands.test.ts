// Every block of commands in the documentation: run here, run by another test that is named, or not to be run here because of what is
// said. And what the commands name is there: subcommands, options, scripts, files.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { compileCache } from '../support/compile-cache.ts';
import { OPERATOR_SECRET } from '../support/operator.ts';
import { asOperator, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documents = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'charts/realmkeeper/README.md'],
  ...readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

interface Block {
  file: string;
  text: string;
}
const blocks: Block[] = documents.flatMap((file) =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/^( *)```(?:sh|bash)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', text = '']) => ({
      file,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

const HERE = 'here';
const NEEDS = {
  cluster:
    'needs a cluster with the chart installed, and an image in a registry; test/node has the chart and the image without one',
  image: 'needs a container engine and a registry; test/image builds by the steps of the Dockerfile',
  database: 'needs the client programs of PostgreSQL; test/server/backup.test.ts restores a dump',
  hours: 'takes minutes of a whole machine: the bench',
  browser: 'needs a browser and a person; test/browser/realmctl.test.ts',
};
/** By document, and the words that a block begins with. */
const how: Record<string, [begins: string, how: string][]> = {
  'README.md': [
    ['npm ci && npm start', 'test/quickstart/start.test.ts'],
    ['(umask 077; openssl', 'test/server/config.unit.test.ts'],
    ['export SVC_OPERATOR_CLIENT_SECRET', 'test/operator/cluster.test.ts'],
    ['docker buildx', 'test/node/node.long.test.ts'],
    ['npm cit', 'test/run.test.ts'],
  ],
  'charts/realmkeeper/README.md': [['helm install', NEEDS.cluster]],
  'docs/administrators.md': [['npm run recover-admin', 'test/server/recover-admin.test.ts']],
  'docs/audit.md': [['realmctl events verify', 'test/server/features/events.verify.test.ts']],
  'docs/authorization-services.md': [
    ['curl $ADMIN', 'test/server/features/authorization-services.test.ts'],
    ['field()', 'test/documentation/authorization-services.test.ts'],
    ['curl -s $ISSUER/access', 'test/documentation/authorization-services.test.ts'],
  ],
  'docs/backchannel.md': [['curl -s $ISSUER/oauth2/backchannel', 'test/documentation/backchannel.test.ts']],
  'docs/keys.md': [
    ['npm run reseal', 'test/documentation/keys.test.ts'],
    [
      'npm explore',
      'needs Node’s headers from the network; test/support/softhsm.ts builds with those of the installed Node',
    ],
    ['mkdir -p tokens', 'test/documentation/keys.test.ts'],
    ['export SVC_KEY_CUSTODIAN', 'test/documentation/keys.test.ts'],
    ['vault secrets', 'needs a Vault; test/server/custody/data-keys.test.ts has its answers'],
  ],
  'docs/backup.md': [
    ['kubectl -n realmkeeper get secret', NEEDS.cluster],
    ['npm run reseal', 'test/server/reseal.test.ts'],
    ['pg_dump', NEEDS.database],
    ['kubectl -n realmkeeper exec', NEEDS.cluster],
    ['pg_restore', NEEDS.database],
    ['pgbackrest --stanza=realmkeeper stanza-create', 'needs pgBackRest, a PostgreSQL of its own and an object store'],
    ['pgbackrest --stanza=realmkeeper --delta', 'needs pgBackRest, a PostgreSQL of its own and an object store'],
    ['age-keygen', 'test/server/backup-realm.test.ts'],
    ['createdb', NEEDS.database],
  ],
  'docs/cli.md': [
    ['realmctl login https', NEEDS.browser],
    ['realmctl export acme > acme.json', HERE],
    ['realmctl export acme --as manifests', 'test/cli/manifests.cluster.test.ts'],
    ['realmctl get realms', HERE],
    ['realmctl create client', HERE],
    ["realmctl api GET 'realms", HERE],
    ['realmctl history acme', 'test/cli/administration.test.ts'],
    ['realmctl managers acme', HERE],
    ['for realm in', HERE],
  ],
  'docs/mutual-tls.md': [
    ['openssl req', 'test/documentation/mutual-tls.test.ts'],
    ['TOKEN=$(curl', 'test/documentation/mutual-tls.test.ts'],
  ],
  'docs/openid-connect.md': [['TOKEN=$(curl', 'test/documentation/passkeys-and-revocation.test.ts']],
  'docs/operator.md': [
    ['kubectl annotate realm', 'test/operator/realm-names.cluster.test.ts'],
    ['realmctl managers move', 'test/cli/administration.test.ts'],
    ['npm run operator -- --server', 'test/operator/servers-together.cluster.test.ts'],
  ],
  'docs/gitops.md': [
    ['realmctl validate', 'test/cli/operator-plans.test.ts'],
    ['realmctl hold client shop', 'test/cli/holds.test.ts'],
  ],
  'docs/import-export.md': [
    ['URL=http', 'test/server/features/admin-access.test.ts'],
    ['TOKEN=$(curl', HERE],
    ['api $URL/admin', HERE],
  ],
  'docs/keycloak.md': [
    ['kc.sh export', 'needs Keycloak; test/server/features/keycloak holds what it writes'],
    ['realmctl import acme --keycloak', 'test/cli/import.keycloak.test.ts'],
  ],
  'docs/insight.md': [
    ['realmctl why user ana@example.com', 'test/server/features/sign-in-report.test.ts'],
    ['realmctl why user ana -r acme --new-browser', 'test/server/features/sign-in-report.test.ts'],
    ['realmctl get flow browser', 'test/server/features/flow-replay.test.ts'],
    ['realmctl preview token', 'test/server/features/token-preview.test.ts'],
    ['realmctl preview page', 'test/server/features/page-preview.test.ts'],
    ['realmctl search', 'test/server/features/search.test.ts'],
    ['realmctl get expiring', 'test/server/features/search.test.ts'],
    ['realmctl statistics', 'test/server/features/statistics.test.ts'],
  ],
  'docs/install.md': [
    ['docker buildx', NEEDS.image],
    ['helm install', 'test/charts/install.test.ts'],
    ['kubectl delete realmkeeper', NEEDS.cluster],
    ['kubectl create namespace', NEEDS.cluster],
    ['kubectl -n realmkeeper create secret', NEEDS.cluster],
    ['helm upgrade --install', 'test/charts/install.test.ts'],
    ['realmctl login https', NEEDS.browser],
  ],
  'docs/performance.md': [
    ['npm run bench  ', NEEDS.hours],
    ['npm run bench:scale', NEEDS.hours],
    ['npm run bench:operator', NEEDS.hours],
  ],
  'docs/troubleshooting.md': [
    ['kubectl get realmkeeper', 'test/operator/kubernetes.test.ts'],
    ['realmctl doctor', 'test/cli/doctor.test.ts'],
    ['TOKEN=$(curl', NEEDS.cluster],
  ],
  'docs/cross-domain.md': [
    ['field() {', 'test/documentation/cross-domain.test.ts'],
    ['curl -s $ACME/oauth2/token -u gateway', 'test/documentation/cross-domain.test.ts'],
  ],
  'docs/shared-signals.md': [
    ['curl -s $ISSUER/.well-known', 'test/documentation/shared-signals.test.ts'],
    ['realmctl api POST', 'test/server/features/signal-transmitters.test.ts'],
  ],
  'docs/rich-authorization.md': [
    ['curl -s $ISSUER/oauth2/token', 'test/documentation/rich-authorization.test.ts'],
    ['curl -s $ISSUER/oauth2/par', 'test/documentation/rich-authorization.test.ts'],
  ],
  'docs/scim.md': [['curl -X POST', 'test/server/features/scim.users.test.ts']],
  'docs/upgrade.md': [
    ['helm upgrade', 'test/charts/install.test.ts'],
    ['docker run', NEEDS.image],
    ['kubectl apply --server-side', 'test/operator/crds.test.ts'],
    ['for kind in', 'test/operator/versions.long.test.ts'],
    ['for kind in', 'test/operator/versions.long.test.ts'],
  ],
  'docs/webhooks.md': [['curl -X POST', 'test/server/features/webhooks.test.ts']],
  'docs/workload-identity.md': [
    ['curl $URL/realms', 'test/server/features/workload-identity.test.ts'],
    ['curl -H', 'test/server/features/events.test.ts'],
  ],
};
const beginning = ({ text }: Block) =>
  text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';

test('every block of commands is run by a test, or says why it can’t be', () => {
  for (const file of documents) {
    const begins = blocks.filter((block) => block.file === file).map(beginning);
    const known = how[file] ?? [];
    expect(begins.map((line, i) => [file, line.startsWith(known[i]?.[0] ?? '?') ? known[i]?.[0] : line])).toEqual(
      known.map(([line]) => [file, line]),
    );
  }
  const tests = Object.values(how)
    .flatMap((all) => all.map(([, by]) => by))
    .filter((by) => by.startsWith('test/'));
  expect(tests.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

/** The lines of a program's helps that begin with realmctl, with those of its commands. */
function exampleLines(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const lines = help.split('\n').filter((line) => /^ +(?:kubectl realmkeeper|realmctl) (?!<)/.test(line));
  return [...lines, ...command.commands.flatMap(exampleLines)];
}

describe('what commands name is there:', () => {
  const sink = new Writable({ write: (_, __, done) => done() });
  const program = createProgram({
    io: {
      stdin: Readable.from([]),
      stdout: sink,
      stderr: sink,
      env: {},
      terminal: false,
      watched: false,
      colour: false,
    },
    signal: new AbortController().signal,
    version: '0',
    fetch,
  });
  const texts = documents.map((file): [string, string] => [file, readFileSync(path.join(root, file), 'utf8')]);
  /** The examples of all helps, as one block of commands. */
  const examples = ['```sh', ...exampleLines(program), '```'].join('\n');

  /** What of a command line realmctl doesn't have. */
  function unknownIn(line: string): string[] {
    let command: Command = program;
    const unknown: string[] = [];
    for (const word of line.split(/\s+/).filter((one) => one !== '')) {
      const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (inner) command = inner;
      else if (/^--[a-z]/.test(word)) {
        const [flag] = word.split('=');
        const all = [...command.options, ...program.options].map(({ long }) => long);
        if (!all.includes(flag) && flag !== '--help' && flag !== '--version') unknown.push(word);
      } else if (command === program && !word.startsWith('-') && /^[a-z-]+$/.test(word)) unknown.push(word);
      if (command === program && word === '--context') return [];
    }
    return unknown;
  }
  test.each([...texts, ['all helps', examples] as const])('commands and options of realmctl in %s', (_, text) => {
    const shell = [...text.matchAll(/```(?:sh|yaml|bash)\n([\s\S]*?)```/g)].map(([, code = '']) => code).join('\n');
    const lines = [
      ...shell.split('\n').flatMap((line) => line.split(/\||&&|;|\$\(/)),
      ...[...text.matchAll(/`(realmctl [^`\n|]+)[^`\n]*`/g)].map(([, code = '']) => code),
    ].flatMap((line) => /(?:^|\s|- )realmctl ((?:[^#"']|"[^"]*"|'[^']*')*)/.exec(line.replace(/ #.*$/, ''))?.[1] ?? []);
    const words = lines.map((line) => line.replaceAll(/"[^"]*"|'[^']*'/g, 'x').replace(/[)}].*$/, ''));
    expect(words.flatMap((line) => unknownIn(line).map((word) => `${line.trim()}: ${word}`))).toEqual([]);
  });

  test.each(texts)('scripts of npm and files of the repository in %s', (_, text) => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const named = [...text.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    const files = [...text.matchAll(/(?<![\w/.])(?:charts|crds|deploy|server|operator|cli|test)\/[\w./-]*\w/g)].map(
      ([file]) => file,
    );
    const places = [root, path.join(root, 'server'), path.join(root, 'docs')];
    // what the page itself gives, for readers to make: new-kind.long.test.ts does
    const given = new Set([...text.matchAll(/^`(server\/[^`\n]+)`[^\n]*:\n\n```/gm)].map(([, file = '']) => file));
    const isThere = (file: string) =>
      given.has(file) ||
      places.some((place) => existsSync(path.join(place, file)) || existsSync(path.join(place, `${file}.ts`)));
    expect(files.filter((file) => /\.(?:ts|ya?ml|md|json|lua)$/.test(file) && !isThere(file))).toEqual([]);
  });
});

describe('run here:', () => {
  let server: TestServer;
  let api: Importer;
  let dir: string;
  beforeAll(async () => {
    server = await startTestServer({ env: withOperator });
    api = await importer(server);
    dir = await mkdtemp(path.join(os.tmpdir(), 'documented-'));
    const main = path.join(root, 'cli/main.ts');
    await writeFile(path.join(dir, 'realmctl'), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
    await chmod(path.join(dir, 'realmctl'), 0o755);
    await api.apply('acme', {
      roles: [{ name: 'reader' }],
      clients: ['billing', 'old'].map((clientId) => ({ clientId, grantTypes: ['client_credentials'] })),
      users: [{ username: 'ana', email: 'ana@example.com' }],
      webhooks: [{ name: 'audit', url: 'https://hooks.example.com/', eventTypes: '*', enabled: false }],
    });
    const kept = { roles: [{ name: 'kept' }], clients: [{ clientId: 'shop' }], realm: { requireMfa: false } };
    await api.apply('acme', kept, { manager: 'k8s:prod/identity/Realm/acme' });
    const hook = { name: 'hook', url: 'https://hooks.example.com/', eventTypes: '*', enabled: false };
    await writeFile(path.join(dir, 'webhook.yaml'), JSON.stringify(hook));
    await writeFile(path.join(dir, 'look.yaml'), 'branding: { primaryColor: "#225588" }\n');
    await writeFile(path.join(dir, 'people.ndjson'), '{"username":"ben"}\n');
  });
  afterAll(async () => {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function bash(script: string): Promise<string> {
    const env = {
      PATH: `${dir}:${process.env.PATH}`,
      HOME: dir,
      EDITOR: 'true',
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      URL: server.baseUrl,
      ...compileCache(),
      ...asOperator(server),
    };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: dir, env });
    return stdout;
  }
  const block = (file: string, begins: string): string => {
    const found = blocks.find((one) => one.file === file && beginning(one).startsWith(begins));
    expect(found).toBeDefined();
    // the documentation's server is ours, its two contexts are one, and nobody is asked
    return (found?.text ?? '')
      .replaceAll('https://iam.example.com', server.baseUrl)
      .replaceAll(/--context \w+ /g, '')
      .replace('import acme -f -', 'import acme-elsewhere -f -')
      .replace(
        'unhold ID',
        `unhold $(realmctl get holds -r acme -o json | sed -n 's/^ *"id": "\\(.*\\)".*/\\1/p' | head -n 1)`,
      )
      .replaceAll(/^(realmctl (?:delete|sessions end|rotate-keys) [^#\n]*?)( *#|$)/gm, '$1 --yes $2');
  };
  test.each((how['docs/cli.md'] ?? []).filter(([, by]) => by === HERE).map(([begins]) => begins))(
    'docs/cli.md: %s',
    async (begins) => {
      await bash(block('docs/cli.md', begins));
    },
  );

  test('docs/import-export.md: by curl, as a pipeline', async () => {
    await api.fetch('/admin/realms/acme/managers/k8s:prod/identity/Realm/acme', { method: 'DELETE' });
    const sign = block('docs/import-export.md', 'TOKEN=$(curl').replace(
      /jq -r \.access_token/,
      'sed \'s/.*"access_token":"\\([^"]*\\)".*/\\1/\'',
    );
    const rest = block('docs/import-export.md', 'api $URL').replace(/\| jq \.summary/, '');
    const said = await bash(`${sign}\n${rest}`);
    expect(said.match(/"manager":"import"/g)).toHaveLength(2);
  });
});
