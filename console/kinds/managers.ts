// Asking for managers, and their names: `import`, `cli:ana`, `k8s:<cluster>/<namespace>/<kind>/<name>`.
import { canNameManagers } from '../../server/contract/managed-by.ts';
import type { Route } from '../../server/contract/route.ts';

export const WITH_MANAGERS = { with: 'managedBy' } as const;
/** The query that asks a route for managers; nothing if the route can't name them. */
export const askingManagers = (route: Route): object => (canNameManagers(route) ? WITH_MANAGERS : {});

export interface ClusterResource {
  cluster: string;
  namespace: string;
  kind: string;
  name: string;
}

/**
 * The resource that a manager's name stands for; undefined: the manager is no resource of a cluster. No part of it begins with
 * `-`, so that kubectl reads none as an option.
 */
export function clusterResource(manager: string): ClusterResource | undefined {
  const [, cluster = '', namespace = '', kind = '', name = ''] =
    /^k8s:([^/]+)\/([a-z0-9][^/]*)\/([A-Z][A-Za-z]*)\/([a-z0-9].*)$/.exec(manager) ?? [];
  return cluster === '' ? undefined : { cluster, namespace, kind, name };
}

/** As a badge has it: `Realm identity/acme`. */
export function shortManager(manager: string): string {
  const resource = clusterResource(manager);
  return resource ? `${resource.kind} ${resource.namespace}/${resource.name}` : manager;
}

const GROUP = 'realmkeeper.dev';
/** `realm.realmkeeper.dev/acme`, as kubectl takes it. */
const named = ({ kind, name }: ClusterResource) => `${kind.toLowerCase()}.${GROUP}/${name}`;

export const kubectlGet = (resource: ClusterResource): string =>
  `kubectl -n ${resource.namespace} get ${named(resource)} -o yaml`;
export const kubectlEdit = (resource: ClusterResource): string =>
  `kubectl -n ${resource.namespace} edit ${named(resource)}`;
/** A patch of its `spec`, with a file of it on the standard input. */
export const kubectlPatch = (resource: ClusterResource, patch: string): string =>
  `kubectl -n ${resource.namespace} patch ${named(resource)} --type=merge --patch-file=/dev/stdin <<'END'\n${patch.trimEnd()}\nEND`;
