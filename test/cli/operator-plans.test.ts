// Owns: `diff --cluster`: what a cluster's operator would do with files, before it sees them.
// Does not own: that the operator does just that (test/operator); diff without it (apply.test.ts).
// Implements: docs/cli.md: the plan of a change that GitOps is going to apply.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const identity = { namespace: 'identity', name: 'acme' };
const resource = (kind: string, metadata: object, spec: object) => ({
  apiVersion: 'realmkeeper.dev/v1alpha1',
  kind,
  metadata,
  spec: { realm: 'acme', ...spec },
});
const client = (clientId: string) => ({
  clientId,
  redirectUris: ['https://a.example'],
});
const realm = (clients: string[]) =>
  resource('Realm', identity, { settings: { accessTokenTtlSeconds: 600 }, clients: clients.map(client) });
const workload = (clientId: string, namespace = 'shop') =>
  resource('WorkloadIdentity', { namespace, name: 'ci' }, { ...trust, clientId });
const trust = { issuer: 'https://ci.example.com', subject: 'main', audience: 'acme' };

let server: TestServer;
const keep = (manager: string, body: RealmDocument) =>
  server.admin.call(importRealm, { params: { realm: 'acme' }, query: { manager }, body });
const diff = (files: object[], ...more: string[]) =>
  realmctl(asOperator(server), ['diff', '-f', '-', '--cluster', 'prod', ...more], {
    stdin: files.map((one) => stringify(one)).join('---\n'),
  });

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  const clients = ['web', 'old'].map(client);
  await keep('k8s:prod/identity/Realm/acme', { realm: { accessTokenTtlSeconds: 600 }, clients });
  const guest = { name: 'ci', ...trust, clientId: 'web', use: 'exchange' as const, adminAccess: false };
  await keep('k8s:prod/shop/WorkloadIdentity/ci', { workloadIdentity: [guest] });
});
afterAll(() => server?.stop());

test('what the operator keeps is in sync, and no conflict', async () => {
  const { code, stdout } = await diff([workload('web'), realm(['web', 'old'])]);
  expect(stdout).toMatch(
    /^Realm identity\/acme in realm acme\n {2}! client old has no secret[^\n]*\nWorkloadIdentity shop\/ci in realm acme {2}in/,
  );
  expect(code).toBe(0);
});

test('what a resource no longer declares the operator would delete', async () => {
  const { code, stdout } = await diff([realm(['web'])]);
  expect([code, stdout]).toEqual([1, expect.stringContaining('- delete client old')]);
});

test('what would wait for another of the files is a difference, and what nothing brings a fault with its place', async () => {
  const waits = await diff([workload('new'), realm(['web', 'old', 'new'])]);
  expect(waits.code).toBe(1);
  expect(waits.stderr).toContain('WorkloadIdentity shop/ci would wait: spec.clientId: there is no client new');
  expect(waits.stdout).toContain('+ create client new');
  const fault = await diff([workload('nwe'), realm(['web', 'old', 'new'])]);
  expect(fault.code).toBe(2);
  expect(fault.stderr).toMatch(/stdin:\d+: WorkloadIdentity shop\/ci: spec\.clientId: there is no client nwe/);
});

test('what another resource has is a conflict here too', async () => {
  const { code, stdout } = await diff([workload('web', 'crm')]);
  expect([code, stdout]).toEqual([2, expect.stringContaining('managed by k8s:prod/shop/WorkloadIdentity/ci')]);
});

test('without it the conflict says how to ask', async () => {
  const { stderr } = await realmctl(asOperator(server), ['diff', '-f', '-'], { stdin: stringify(realm(['web'])) });
  expect(stderr).toContain('realmctl diff --cluster prod');
});

test.each([
  [['--cluster', 'a/b'], /not the name of a cluster/],
  [['--prune'], /cannot be used with/],
])('%j is refused in words', async (more, words) => {
  const { code, stderr } = await diff([realm(['web'])], ...more);
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
});

test('a realm document is no resource of a cluster', async () => {
  const { code, stderr } = await diff([{ realm: { realmId: 'acme' } }]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('leave --cluster out')]);
});
