// `kubectl apply --dry-run=server` of manifests with a fault each: refused before anything is stored, naming the field.
import { beforeAll, describe, expect, test } from 'vitest';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type SharedCluster, shareCluster } from '../kubernetes/shared-cluster.ts';
import { examples } from '../support/examples.ts';
import { type Manifest, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const realm = (spec: object): Manifest => resource('Realm', 'acme', { realm: 'acme', ...spec });
const client = (...clients: object[]) => realm({ clients });
const webhook = (spec: object) =>
  resource('Webhook', 'acme', { realm: 'acme', url: 'https://receiver.example/', eventTypes: ['*'], ...spec });
const workload = (spec: object) =>
  resource('WorkloadIdentity', 'acme', { realm: 'acme', audience: 'here', clientId: 'app', ...spec });
const flow = (execution: object) => resource('Flow', 'acme', { realm: 'acme', executions: [execution] });

const faults: [fault: string, manifest: Manifest, field: string, words: string][] = [
  ['no spec', { ...realm({}), spec: undefined }, 'spec', 'Required value'],
  ['no realm', resource('Flow', 'acme', { executions: [] }), 'spec.realm', 'Required value'],
  ['a name that no realm can have', realm({ realm: 'Acme Corp' }), 'spec.realm', 'should match'],
  ['a name that is too long', realm({ realm: 'x'.repeat(64) }), 'spec.realm', '63'],
  ['words for a number', realm({ settings: { accessTokenTtlSeconds: 'ten' } }), 'accessTokenTtlSeconds', 'integer'],
  [
    'a number below the least',
    realm({ settings: { accessTokenTtlSeconds: 0 } }),
    'accessTokenTtlSeconds',
    'equal to 1',
  ],
  ['a setting by another name', realm({ settings: { tokenTtl: 60 } }), 'spec.settings.tokenTtl', 'unknown field'],
  ['words for yes', realm({ suspend: 'yes' }), 'spec.suspend', 'boolean'],
  ['a policy that is none', realm({ deletionPolicy: 'Orphan' }), 'spec.deletionPolicy', '"Retain", "Delete"'],
  ['run-time data', realm({ users: [] }), 'spec.users', 'unknown field'],
  ['namespaces by a word that is none', realm({ allowedNamespaces: { from: 'Some' } }), 'from', '"Same", "All"'],
  [
    'a selector that is not there',
    realm({ allowedNamespaces: { from: 'Selector' } }),
    'spec.allowedNamespaces.selector',
    'goes with from: Selector',
  ],
  [
    'a selector that would not count',
    realm({ allowedNamespaces: { from: 'All', selector: { matchLabels: { a: 'b' } } } }),
    'spec.allowedNamespaces.selector',
    'goes with from: Selector',
  ],
  ['a client without a name', client({}), 'spec.clients[0].clientId', 'Required value'],
  ['two clients of one name', client({ clientId: 'a' }, { clientId: 'a' }), 'spec.clients[1]', 'Duplicate value'],
  ['two roles of one name', realm({ roles: [{ name: 'a' }, { name: 'a' }] }), 'spec.roles[1]', 'Duplicate value'],
  ['a literal secret', client({ clientId: 'a', secret: 'x' }), 'spec.clients[0].secret', 'unknown field'],
  [
    'a grant that is none',
    client({ clientId: 'a', grantTypes: ['passwords'] }),
    'spec.clients[0].grantTypes[0]',
    '"authorization_code"',
  ],
  ['no address', webhook({ url: 'receiver' }), 'spec.url', 'uri'],
  ['no list', webhook({ eventTypes: 'LOGIN_FAILURE' }), 'spec.eventTypes', 'array'],
  ['no event', webhook({ eventTypes: [] }), 'spec.eventTypes', 'at least 1'],
  ['half a reference', webhook({ secretKeyRef: { name: 'a' } }), 'spec.secretKeyRef.key', 'Required value'],
  [
    'a Secret by a name that is none',
    webhook({ secretKeyRef: { name: 'A b', key: 'c' } }),
    'secretKeyRef.name',
    'match',
  ],
  ['nobody', workload({}), 'spec', 'needs issuer and subject'],
  ['an issuer that is none', workload({ issuer: 'x', subject: 'y' }), 'spec.issuer', 'uri'],
  ['an account without a name', workload({ serviceAccountRef: {} }), 'spec.serviceAccountRef.name', 'Required value'],
  ['an account that cannot be', workload({ serviceAccountRef: { name: 'A b' } }), 'serviceAccountRef.name', 'match'],
  ['a step that does nothing', flow({ requirement: 'REQUIRED' }), 'spec.executions[0]', 'exactly one of the two'],
  ['a step without weight', flow({ authenticatorId: 'a' }), 'spec.executions[0].requirement', 'Required value'],
  [
    'a weight that is none',
    flow({ authenticatorId: 'a', requirement: 'NEEDED' }),
    'spec.executions[0].requirement',
    '"REQUIRED", "ALTERNATIVE"',
  ],
];

describe.skipIf(!assets.found)('a dry run on the API server', () => {
  let cluster: SharedCluster;
  beforeAll(async () => {
    cluster = await shareCluster();
  });

  test.for(faults)('refuses %s', async ([, manifest, field, words]) => {
    const dry = ['apply', '--dry-run=server', '-f', '-'];
    const { code, stderr } = await cluster.kubectl(dry, JSON.stringify(manifest));
    expect(code, 'was accepted').toBe(1);
    expect(stderr).toContain(field);
    expect(stderr).toContain(words);
    // the same by server-side apply, which is how GitOps tools ask
    const asked = await cluster.kubectl([...dry, '--server-side'], JSON.stringify(manifest));
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain(
      field
        .split('.')
        .at(-1)
        ?.replace(/\[\d\]$/, ''),
    );
  });

  test.for(examples)('stores $kind $metadata.name of the documentation as it is written', async (example) => {
    const { namespace } = example.metadata;
    await cluster.kubectl(['create', 'namespace', namespace]);
    const dry = ['apply', '--dry-run=server', '--validate=strict', '--server-side', '-o', 'json', '-f', '-'];
    const { code, stdout, stderr } = await cluster.kubectl(dry, JSON.stringify(example));
    expect([code, stderr]).toEqual([0, '']);
    // nothing filled in, nothing dropped, nothing rewritten: Git and cluster can't differ
    expect(JSON.parse(stdout).spec).toEqual(example.spec);
  });

  test('refuses a changed realm with the reason', async () => {
    const apply = (manifest: Manifest, ...more: string[]) =>
      cluster.kubectl(['apply', '-f', '-', ...more], JSON.stringify(manifest));
    expect((await apply(realm({}))).code).toBe(0);
    const { code, stderr } = await apply(realm({ realm: 'other' }), '--dry-run=server');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/spec\.realm: .*realm is immutable/)]);
  });
});
