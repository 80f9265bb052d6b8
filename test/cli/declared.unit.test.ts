// Owns: what files declare: documents, manifests, lists, Secrets, and every fault with its place; without a server.
// Does not own: what the schemas hold (server/contract), the program around it (validate.test.ts, apply.test.ts).
// Implements: docs/cli.md: apply, diff, validate.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { faultText, wantedBy } from '../../cli/declarations.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes the files, reads the folder, and gives faults as people see them, without the folder's name. */
async function read(
  files: Record<string, string>,
  options: { recursive?: true; realm?: string; clusterIssuer?: string; stdin?: string } = {},
) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const { stdin, ...more } = options;
  const input = stdin === undefined ? Readable.from([]) : Readable.from([Buffer.from(stdin)]);
  const io = {
    stdin: input,
    stdout: process.stdout,
    stderr: process.stderr,
    env: {},
    terminal: false,
    watched: false,
    colour: false,
  };
  const { declared, realms, faults } = await wantedBy({ io }, { ...more, file: [stdin === undefined ? folder : '-'] });
  return {
    ...declared,
    faults: faults.map((fault) => faultText(fault).replaceAll(`${folder}/`, '')),
    realms: Object.fromEntries(realms.map(({ realm, document }) => [realm, document])),
  };
}
const manifest = (kind: string, name: string, spec: string, namespace = 'identity') =>
  `apiVersion: realmkeeper.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n${spec}\n`;
const secret = (name: string, values: string, namespace = 'identity') =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: ${namespace}}\n${values}\n`;
const webhook = (name: string, more = '') =>
  manifest('Webhook', name, `  realm: acme\n  url: https://x.example/\n  eventTypes: [LOGIN_SUCCESS]\n${more}`);

describe('what is read', () => {
  test('several documents of a file, lists in it, JSON, and a realm document beside them become one document', async () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${webhook('two').replaceAll('\n', '\n  ')}`;
    const { realms, faults, counts } = await read({
      'a.yaml': `${manifest('Realm', 'acme', '  realm: acme\n  settings: {requireMfa: true}')}---\n${webhook('one')}---\n${list}`,
      'b.json': JSON.stringify({ realm: { realmId: 'acme', displayName: 'Acme' }, roles: [{ name: 'reader' }] }),
    });
    expect(faults).toEqual([]);
    expect(realms.acme).toMatchObject({
      realm: { requireMfa: true, displayName: 'Acme' },
      roles: [{ name: 'reader' }],
      webhooks: [{ name: 'one' }, { name: 'two' }],
    });
    expect(realms.acme?.realm).not.toHaveProperty('realmId');
    expect(Object.fromEntries(counts)).toEqual({ Realm: 1, Webhook: 2, 'realm document': 1 });
  });

  test('folders below only with -R; what kustomize and Helm read, hidden files and links to folders never', async () => {
    const files = {
      'a.yaml': webhook('one'),
      'below/b.yml': webhook('two'),
      'kustomization.yaml': 'resources: [a.yaml]',
      '.hidden.yaml': 'broken: [',
      'notes.txt': 'broken: [',
      'values.yaml': 'image: x',
    };
    const flat = await read(files);
    await symlink(folder, path.join(folder, 'circle'));
    expect(flat.faults).toEqual([]);
    expect(flat.realms.acme?.webhooks?.map(({ name }) => name)).toEqual(['one']);
    const deep = await read({}, { recursive: true });
    expect(deep.realms.acme?.webhooks?.map(({ name }) => name)).toEqual(['one', 'two']);
  });

  test('other kinds are passed over and counted', async () => {
    const other = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n';
    const { skipped, faults } = await read({}, { stdin: `${other}---\n${other}---\n---\n# nothing\n` });
    expect([Object.fromEntries(skipped), faults]).toEqual([{ Deployment: 2 }, []]);
  });

  test('a document takes its realm from --realm only where it does not say its own', async () => {
    const { realms } = await read(
      { 'a.yaml': 'realm: {requireMfa: true}', 'b.yaml': 'realm: {realmId: other}' },
      { realm: 'acme' },
    );
    expect(Object.keys(realms)).toEqual(['acme', 'other']);
  });
});

describe('secrets', () => {
  const asks = webhook('one', '  secretKeyRef: {name: hook, key: value}');
  test('come from Secrets of the same namespace, stringData over data', async () => {
    const data = Buffer.from('from data, long enough').toString('base64');
    const both = `data: {value: ${data}}\nstringData: {value: "from stringData, long"}`;
    for (const [values, expected] of [
      [`data: {value: ${data}}`, 'from data, long enough'],
      [both, 'from stringData, long'],
    ] as const) {
      const { realms } = await read({ 'a.yaml': `${asks}---\n${secret('hook', values)}` });
      expect(realms.acme?.webhooks?.[0]?.secret).toBe(expected);
    }
  });

  test('of another namespace are not theirs: missing, and left out of the document', async () => {
    const { realms, missing, faults } = await read({
      'a.yaml': `${asks}---\n${secret('hook', 'stringData: {value: a-secret-of-others}', 'other')}`,
    });
    expect(faults).toEqual([]);
    expect(missing).toMatchObject([{ secret: 'identity/hook', key: 'value', object: 'Webhook identity/one' }]);
    expect(realms.acme?.webhooks?.[0]).not.toHaveProperty('secret');
  });

  test('are never in a fault', async () => {
    const { faults } = await read({ 'a.yaml': secret('hook', 'data: {value: "%%hunter2%%"}\nstringData: {other: 7}') });
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join()).not.toContain('hunter2');
  });

  test('that look like placeholders of the server are refused', async () => {
    const text = `${asks}---\n${secret('hook', `stringData: {value: "\${SVC_VAR_OTHERS}"}`)}`;
    expect((await read({ 'a.yaml': text })).faults).toEqual([expect.stringContaining('not a placeholder')]);
  });

  test('a Secret without the key is a fault, one that is there twice too', async () => {
    const hook = secret('hook', 'stringData: {another: value-of-another}');
    const { faults } = await read({ 'a.yaml': `${asks}---\n${hook}---\n${hook}` });
    expect(faults).toEqual([
      expect.stringContaining('the Secret identity/hook is there twice'),
      expect.stringContaining('the Secret identity/hook has no key value'),
    ]);
  });
});

describe('faults, each with file and line', () => {
  const table: [string, string, string][] = [
    [
      'an unknown field',
      webhook('one', '  bogus: 1'),
      'a.yaml:8: Webhook identity/one: spec.bogus: is not a known field',
    ],
    ['a wrong value', manifest('Realm', 'acme', '  realm: Not A Name'), 'a.yaml:5: Realm identity/acme: spec.realm: '],
    [
      'a missing spec',
      'apiVersion: realmkeeper.dev/v1alpha1\nkind: Realm\nmetadata: {name: x}\n',
      'a.yaml:1: Realm default/x: spec: ',
    ],
    ['a name that Kubernetes would refuse', webhook('Not_A_Name'), 'a.yaml:3: Webhook: metadata.name: '],
    ['broken YAML', 'a: 1\nb: [\n', 'a.yaml:'],
    ['a key that is there twice', 'realm: {}\nrealm: {}\n', 'a.yaml:2: Map keys must be unique'],
    [
      'another version',
      webhook('one').replace('v1alpha1', 'v9'),
      'a.yaml:1: Webhook of realmkeeper.dev/v9 is not known',
    ],
    [
      'another kind of ours',
      webhook('one').replace('Webhook', 'Client'),
      'a.yaml:1: Client of realmkeeper.dev/v1alpha1 is not known',
    ],
    [
      'an unknown section',
      'realm: {realmId: acme}\nclints: []\n',
      'a.yaml:2: realm document: clints: is not a known field; did you mean clients?',
    ],
    ['a word', 'hello', 'a.yaml:1: is neither a Kubernetes object nor a realm document'],
    ['half a Kubernetes object', 'kind: Realm\nspec: {}\n', 'a.yaml:1: a Kubernetes object has both'],
    ['a document without a realm', 'realm: {requireMfa: true}', 'a.yaml:1: realm document: does not say which realm'],
    [
      'an object twice',
      `${webhook('one')}---\n${webhook('two', '  name: one')}`,
      'the webhook one is declared twice, at a.yaml:5',
    ],
    [
      'two flows that are bound',
      ['one', 'two']
        .map((name) => manifest('Flow', name, '  realm: acme\n  bind: true\n  executions: []'))
        .join('---\n'),
      'spec.bind: the setting browserFlow is declared otherwise before',
    ],
    [
      'an issuer that nobody knows',
      manifest('WorkloadIdentity', 'w', '  realm: acme\n  audience: a\n  clientId: c\n  serviceAccountRef: {name: s}'),
      'give --cluster-issuer',
    ],
  ];
  test.each(table)('%s', async (_, text, expected) => {
    const { faults } = await read({ 'a.yaml': text });
    expect(faults).toContainEqual(expect.stringContaining(expected));
  });

  test('all of them at once, in a document of a list too', async () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${webhook('one', '  bogus: 1').replaceAll('\n', '\n  ')}`;
    const { faults } = await read({ 'a.yaml': list, 'b.yaml': 'realm: {realmId: x, requireMfa: 1}\nroles: 3\n' });
    expect(faults).toEqual([
      'a.yaml:11: Webhook identity/one: spec.bogus: is not a known field',
      expect.stringContaining('b.yaml:1: realm document: realm.requireMfa'),
      expect.stringContaining('b.yaml:2: realm document: roles'),
    ]);
  });

  test('aliases that grow without end are refused, not unfolded', async () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefghi'[i]}`)}]`),
    ];
    const { faults } = await read({ 'a.yaml': bomb.join('\n') });
    expect(faults).toEqual([expect.stringContaining('alias')]);
  });

  test('an issuer may be given for ServiceAccounts', async () => {
    const spec = '  realm: acme\n  audience: a\n  clientId: c\n  serviceAccountRef: {name: s}';
    const { realms, faults } = await read(
      { 'a.yaml': manifest('WorkloadIdentity', 'w', spec) },
      { clusterIssuer: 'https://cluster.example' },
    );
    expect(faults).toEqual([]);
    expect(realms.acme?.workloadIdentity).toMatchObject([
      { issuer: 'https://cluster.example', subject: 'system:serviceaccount:identity:s' },
    ]);
  });
});
