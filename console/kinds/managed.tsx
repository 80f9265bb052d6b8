// Objects and fields that another manager keeps (an operator, a pipeline): which one, and what that means for the page. This is
// the one place that reads `managedBy`; answers have none yet, so nothing is marked.
import type { ReactNode } from 'react';
import { Badge } from '../ui/badge.tsx';
import type { Row } from './entry.ts';

/** By field: the manager's name. `''` is the object as a whole. */
export type Managed = ReadonlyMap<string, string>;

export function managedOf(row: Row | undefined): Managed | undefined {
  const { managedBy } = Object(row);
  if (typeof managedBy === 'string') return new Map([['', managedBy]]);
  if (typeof managedBy !== 'object' || managedBy === null) return undefined;
  return new Map(
    Object.entries(managedBy).flatMap(([field, manager]) => (typeof manager === 'string' ? [[field, manager]] : [])),
  );
}

/** `k8s:prod/identity/Realm/acme` → what it is in a cluster. */
export function clusterResource(manager: string) {
  const [, cluster, namespace, kind, name] = /^k8s:([^/]+)\/([^/]+)\/([^/]+)\/(.+)$/.exec(manager) ?? [];
  return cluster === undefined ? undefined : { cluster, namespace, kind, name };
}

export function ManagedBadge({ managed }: { managed: Managed | undefined }) {
  const manager = managed?.get('') ?? [...(managed?.values() ?? [])][0];
  if (manager === undefined) return null;
  const resource = clusterResource(manager);
  return (
    <Badge tone="info">
      managed by {resource ? `${resource.kind} ${resource.namespace}/${resource.name}` : manager}
    </Badge>
  );
}

/** @param children gets whether the field is read-only because of its manager */
export function ManagedField({
  name,
  managed,
  children,
}: {
  name: string;
  managed: Managed | undefined;
  children: (isManaged: boolean) => ReactNode;
}) {
  const manager = managed?.get(name);
  return (
    <>
      {children(manager !== undefined)}
      {manager !== undefined && (
        <p className="hint">
          Kept by <code>{manager}</code>: change it there.
        </p>
      )}
    </>
  );
}
