// The documentation says no less and no more than the code: every variable of the environment, no link that leads nowhere, no
// folder or file that isn't there, every kind of the command line, examples that the wire's own schemas accept.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../cli/kind-table.ts';
import { AuthorizationServiceDocument } from '../../server/contract/authorization-services.ts';
import { RealmDocument } from '../../server/contract/transfer.ts';
import { WebhookInput } from '../../server/contract/webhooks.ts';
import { WorkloadIdentityInput } from '../../server/contract/workload-identity.ts';
import { contractRoutes } from '../support/contract-routes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const documents = [
  'README.md',
  ...readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const VARIABLE =
  /\b(?:SVC_[A-Z0-9_]*[A-Z0-9]|DATABASE_URL|USER_REGISTRATION_ENABLED|KUBECONFIG|POD_NAMESPACE|NODE_ENV|(?:AWS|AZURE)_[A-Z0-9_]*[A-Z0-9]|GOOGLE_APPLICATION_CREDENTIALS|GCE_METADATA_HOST|IDENTITY_(?:ENDPOINT|HEADER))\b/g;
const variablesIn = (text: string): Set<string> => new Set(text.match(VARIABLE) ?? []);
const readBy = [
  'server/config.ts',
  'server/key-settings.ts',
  'server/key-settings-clouds.ts',
  'operator/config.ts',
  'quickstart/main.ts',
  'quickstart/secrets.ts',
];
/** What they say of themselves names some of these. */
const told = ['server/usage.ts', 'quickstart/welcome.ts'];
/** Names in prose: a prefix, an example, a cookie. */
const examples = /^SVC_VAR|^SVC_SIGN_IN$|^SVC_SESSION$|^SVC_DEVICE$|^SVC_ADMIN_SESSION$/;

test('docs/configuration.md names every variable that the programs read', () => {
  const documented = variablesIn(read('docs/configuration.md'));
  const missing = [...variablesIn(readBy.map(read).join('\n'))].filter((name) => !documented.has(name));
  expect(missing.filter((name) => !examples.test(name))).toEqual([]);
});

test.each([...documents, ...told])('%s names no variable that no program reads', (document) => {
  const known = variablesIn(readBy.map(read).join('\n'));
  const unknown = [...variablesIn(read(document))].filter((name) => !known.has(name) && !examples.test(name));
  expect(unknown).toEqual([]);
});

test.each(documents)('every relative link of %s leads somewhere', (document) => {
  const prose = read(document).replaceAll(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
  const dead = links.filter(
    (link) => !/^[a-z]+:/.test(link) && !existsSync(path.join(root, path.dirname(document), link)),
  );
  expect(dead).toEqual([]);
});

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (page: string): Set<string> =>
  new Set(
    [...page.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

test.each([...documents, 'CHANGELOG.md', 'SECURITY.md'])('every link of %s to a heading finds it', (document) => {
  const prose = read(document).replaceAll(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^):#\s]*)#([^)\s]+)\)/g)].map(([, file = '', anchor = '']) => ({
    file: file === '' ? document : path.join(path.dirname(document), file),
    anchor,
  }));
  const dead = links.filter(({ file, anchor }) => file.endsWith('.md') && !anchorsOf(read(file)).has(anchor));
  expect(dead).toEqual([]);
});

test('docs/README.md lists every document', () => {
  const listed = new Set([...read('docs/README.md').matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name));
  const names = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(names.filter((name) => !listed.has(name))).toEqual([]);
});

test('docs/administrators.md lists the operations for administrators of single groups and clients, and no other', async () => {
  const listed = [...read('docs/administrators.md').matchAll(/^\| `([A-Z]+ \/[^`]+)` \|/gm)].map(
    ([, operation]) => operation,
  );
  const open = (await contractRoutes())
    .filter(({ reach }) => reach)
    .map(({ method, path: at }) => `${method} ${at.replace('/admin/realms/:realm', '').replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(listed.toSorted()).toEqual(open.toSorted());
});

test('docs/development.md names the test of every module of the Foundation’s plans, and that test bears its name', () => {
  const rows = [...read('docs/development.md').matchAll(/^\|[^|]*\| (`oidcc-[^|]*) \| (`[^|]*)\|$/gm)];
  const modules = rows.flatMap(([, of = '', where = '']) => {
    const files = [...where.matchAll(/`((?:conformance|logout)[\w.-]*)`/g)].map(([, name]) => `${name}.test.ts`);
    return [...of.matchAll(/`(oidcc-[\w-]+)`/g)].flatMap(([, name = '']) => files.map((file) => ({ name, file })));
  });
  expect(new Set(modules.map(({ name }) => name)).size).toBe(72);
  const untested = modules.filter(
    ({ name, file }) => !new RegExp(`${name}(?![\\w-])`).test(read(`test/server/features/${file}`)),
  );
  expect(untested).toEqual([]);
});

test('docs/design.md names only features that are there', () => {
  const [, list = ''] = /`server\/features\/`: ([^.]+)\./.exec(read('docs/design.md')) ?? [];
  const named = list.split(/[,… ]+/).filter(Boolean);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => globSync(`server/features/*/${name}`, { cwd: root }).length === 0)).toEqual([]);
});

test('docs/development.md names only files that are there', () => {
  const files = globSync('{server,operator,cli,console,test}/**/*.ts', { cwd: root }).map((file) => `/${file}`);
  // but for the files of the example, which stand above what is in them
  const text = read('docs/development.md').replaceAll(/^`[^`\n]+`[^\n]*:$/gm, '');
  const named = [...text.matchAll(/`([a-z][\w./-]*\.ts)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

test('docs/cli.md lists every kind that realmctl gets, and no other', () => {
  const [, list = ''] = /^Kinds: ([^;]+);/m.exec(read('docs/cli.md')) ?? [];
  const named = [...list.replaceAll(/\([^)]*\)/g, '').matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(kinds.map(({ plural }) => plural).toSorted());
});

describe('examples', () => {
  const jsonOf = (document: string, starts: string): unknown => {
    const text = read(document);
    const from = text.indexOf(starts);
    expect(from).toBeGreaterThan(-1);
    return JSON.parse(text.slice(from).split(/\n```|'\n/)[0] ?? '');
  };
  test.each([
    ['docs/import-export.md', '{\n  "realm": {', RealmDocument],
    ['docs/authorization-services.md', '{\n  "clientId": "albums"', AuthorizationServiceDocument],
    ['docs/workload-identity.md', '{ "name": "ci"', WorkloadIdentityInput],
    ['docs/webhooks.md', '{\n  "name": "audit"', WebhookInput],
  ])('%s: %s is what the server takes', (document, starts, schema) => {
    const parsed = schema.safeParse(jsonOf(document, starts));
    expect(parsed.error?.issues ?? []).toEqual([]);
  });
});
