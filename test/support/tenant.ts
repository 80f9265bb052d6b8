// Owns: a tenant who has all rights in the namespace shop and none elsewhere, and who uses kubectl.
// Does not own: the tenant's attempts (test/operator/tenancy*.test.ts).
import { expect } from 'vitest';
import type { KindName } from '../../operator/resource.ts';
import type { Landscape } from './landscape.ts';
import { eventually, type Manifest, resource } from './operator.ts';

export const shop = { namespace: 'shop' };
/** A namespace that `apply` makes. */
export const namespaceOf = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const bound = (kind: string, name: string): Manifest => ({
  ...rbac,
  kind: 'RoleBinding',
  metadata: { name: `mallory-${name.replaceAll(':', '-')}`, ...shop },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
});

/** Makes the namespace and gives them more than anybody should be given there: statuses and finalizers, too. */
export async function makeMallory(land: Landscape) {
  const kubeconfig = await land.cluster.user('mallory');
  await land.apply(
    namespaceOf('shop'),
    {
      ...rbac,
      kind: 'Role',
      metadata: { name: 'all-of-realmkeeper', ...shop },
      rules: [{ apiGroups: ['realmkeeper.dev'], resources: ['*'], verbs: ['*'] }],
    },
    bound('Role', 'all-of-realmkeeper'),
    // what the ClusterRole admin is made of, by a controller that doesn't run here
    ...['admin', 'edit', 'view'].map((role) => bound('ClusterRole', `system:aggregate-to-${role}`)),
  );
  const asMallory = ['--kubeconfig', kubeconfig, '-n', 'shop'];
  const does = (args: string[], input?: string) => land.cluster.must([...asMallory, ...args], input);
  async function fails(args: string[], input?: string): Promise<string> {
    const { code, stderr } = await land.cluster.kubectl([...asMallory, ...args], input);
    expect(code).not.toBe(0);
    return stderr;
  }
  const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  return {
    does,
    fails,
    applies: (...items: Manifest[]) => does(['apply', '-f', '-'], list(items)),
    refused: (...items: Manifest[]) => fails(['apply', '-f', '-'], list(items)),
    deletes: (...names: string[]) => does(['delete', '--timeout=120s', ...names]),
    /** The condition with this reason, of the spec as it is now. */
    says: (kind: KindName, name: string, reason: string) =>
      eventually(async () => {
        const { metadata, status: { conditions = [] } = {} } = await land.object(kind, name, shop.namespace);
        const found = conditions.find((c) => c.reason === reason && c.observedGeneration === metadata.generation);
        if (!found) throw new Error(`${kind} ${name} says ${JSON.stringify(conditions)}, not ${reason}`);
        return found;
      }),
  };
}
export type Mallory = Awaited<ReturnType<typeof makeMallory>>;

/** Resources of theirs. */
export const tenantResources = {
  realm: (name: string, of: string, spec: object = {}) => resource('Realm', name, { realm: of, ...spec }, shop),
  hook: (name: string, of: string, spec: object = {}) =>
    resource('Webhook', name, { realm: of, url: 'https://evil.example.com/', eventTypes: ['*'], ...spec }, shop),
  identity: (name: string, of: string, clientId: string, spec: object = {}) => {
    const whose = { issuer: 'https://evil.example.com', subject: name, audience: 'it', clientId };
    return resource('WorkloadIdentity', name, { realm: of, ...whose, ...spec }, shop);
  },
  flow: (name: string, of: string, spec: object = {}) => {
    const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
    return resource('Flow', name, { realm: of, executions, ...spec }, shop);
  },
};
