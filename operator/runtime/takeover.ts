// Finds the objects that a plan would take over, from another manager or unowned, and whether this resource may:
// conflicts, spec.force, adoption. Pure; the server stores the ownership. Decisions "Ownership", "Tenancy".
import type { Conflict, Plan } from '../../server/contract/transfer.ts';
import { managersIn, type Resource, sameElsewhere } from '../resource.ts';
import { conflictText, Stalled } from './outcome.ts';

/** The permissions of a resource in its realm. */
export interface Admission {
  /** The resource is in the namespace of its Realm resource. */
  atHome: boolean;
  /** At home or in the operator's namespace: the resource may adopt existing objects, and take any manager's by force. */
  trusted: boolean;
  /** Namespaces of its Realm resources; for a Realm resource the operator's, too. */
  homes: readonly string[];
  /**
   * The realm didn't exist when it was read: this resource may create it, but not take one that another created
   * meanwhile.
   */
  isNew: boolean;
}

/** Whether the present spec has been applied before; used under Report, and for spec.force. */
export const appliedBefore = ({ status, metadata }: Resource): boolean =>
  status.lastAppliedGeneration === metadata.generation;

/**
 * Permits the takeover of the conflicts, or throws. Force works once for each generation: otherwise two forcing
 * resources would take objects from each other for ever.
 * @throws Stalled `Conflict`, `ForceNotAllowed` naming every owner
 */
export function mayTakeOver(
  conflicts: readonly Conflict[],
  {
    resource,
    clusterName,
    trusted,
    force,
  }: { resource: Resource; clusterName: string; trusted: boolean; force: boolean },
): void {
  if (conflicts.length === 0) return;
  const owners = conflicts.map(conflictText).join('; ') + fromElsewhere(conflicts, { resource, clusterName });
  const { namespace } = resource.metadata;
  const ours = managersIn(clusterName, namespace);
  const may = trusted || conflicts.every(({ manager }) => manager.startsWith(ours));
  if (!force) {
    const way = may ? ', or take it over once with spec.force: true' : '';
    throw new Stalled('Conflict', `${owners}; remove the declaration here or there${way}`);
  }
  if (appliedBefore(resource)) {
    throw new Stalled('Conflict', `${owners}; spec.force took over once for this spec and does not take back`);
  }
  if (may) return;
  throw new Stalled(
    'ForceNotAllowed',
    `${owners}; the namespace ${namespace} is not that of the Realm resource, so spec.force takes only from its own resources`,
  );
}

/** Names conflicts with the same resource under an older cluster name: a rebuilt cluster finds its former objects. */
function fromElsewhere(
  conflicts: readonly Conflict[],
  { resource, clusterName }: { resource: Resource; clusterName: string },
): string {
  const others = new Set(conflicts.flatMap(({ manager }) => sameElsewhere(clusterName, resource, manager) ?? []));
  return [...others].map((cluster) => `; ${sameResource(cluster, clusterName)}`).join('');
}
export const sameResource = (other: string, clusterName: string): string =>
  `that is the same resource on the cluster ${other}: if this cluster is in its place, an administrator moves what it owned: realmctl managers move k8s:${other} k8s:${clusterName}`;

/** The objects that a forced plan takes from other managers, as the conflicts of the plan without force. */
export const takenIn = ({ ownership }: Plan): Conflict[] =>
  ownership.flatMap(({ kind, key, from }) => (from === undefined ? [] : [{ kind, key, manager: from }]));

/**
 * A resource that isn't trusted owns only the objects that it creates. An existing unowned object may be an administrator's,
 * so it stays unowned.
 * @throws Stalled `AdoptionNotAllowed`
 */
export function refuseAdoption({ changes, ownership }: Plan, { trusted }: { trusted: boolean }): void {
  if (trusted) return;
  const made = new Set(changes.filter((c) => c.action === 'create').map(({ kind, key }) => `${kind} ${key}`));
  const taken = ownership.filter((m) => m.action === 'take' && m.from === undefined && !made.has(`${m.kind} ${m.key}`));
  if (taken.length === 0) return;
  const what = taken.map(({ kind, key }) => `${kind} ${key}`).join(', ');
  throw new Stalled(
    'AdoptionNotAllowed',
    `${what}: was there before, and only a resource in the namespace of the Realm resource can adopt it`,
  );
}

/** Flows by which, after the plan, the realm or one of its clients signs users in. */
export const flowsNamedBy = ({ changes }: Plan): string[] => [
  ...new Set(
    changes.flatMap(({ fields }) =>
      fields.flatMap(({ path, to }) =>
        (path === 'browserFlow' || path === 'flowOverride') && typeof to === 'string' ? [to] : [],
      ),
    ),
  ),
];

/**
 * A flow decides which users are signed in. The realm must not use a flow that a guest's resource created, perhaps
 * under a name that the realm was waiting for.
 * @param namespaces whose flows the realm may use
 * @throws Stalled `GuestFlow`
 */
export function refuseGuestFlows(
  named: readonly string[],
  owners: ReadonlyMap<string, string>,
  { clusterName, namespaces }: { clusterName: string; namespaces: readonly string[] },
): void {
  const here = `k8s:${clusterName}/`;
  const ofGuests = named.filter((alias) => {
    const owner = owners.get(alias) ?? '';
    return owner.startsWith(here) && !namespaces.some((name) => owner.startsWith(managersIn(clusterName, name)));
  });
  if (ofGuests.length === 0) return;
  const words = ofGuests.map((alias) => `flow ${alias} is managed by ${owners.get(alias)}`);
  throw new Stalled(
    'GuestFlow',
    `${words.join('; ')}; a realm signs in only by flows of its Realm resource’s own namespace`,
  );
}
