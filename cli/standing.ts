// The state of a cluster's resources, and the chain of causes for each that waits. Pure. cluster.ts reads the resources;
// docs/troubleshooting.md explains the reasons.
import type { KindName } from '../operator/resource.ts';
import type { ClusterResource } from './cluster.ts';

export interface Standing {
  kind: KindName;
  namespace: string;
  name: string;
  realm: string;
  ready: boolean;
  reason: string;
  message: string;
  /** The causes outside the resource that it waits for or fails on, nearest first. */
  because: string[];
}

export const titleOf = ({ kind, metadata }: ClusterResource): string =>
  `${kind} ${metadata.namespace}/${metadata.name}`;

const holds = ({ status }: ClusterResource, type: string): boolean =>
  status.conditions.some((one) => one.type === type && one.status === 'True');

/** Whether the resource is in order; a suspended one is, too. */
const isWell = (one: ClusterResource): boolean =>
  one.status.observedGeneration === one.metadata.generation && (holds(one, 'Ready') || holds(one, 'Suspended'));

/** The condition that names what a hold keeps as it is, of a resource that is in order otherwise. */
const heldOf = (one: ClusterResource) =>
  holds(one, 'Ready')
    ? one.status.conditions.find(({ type, status }) => type === 'Held' && status === 'True')
    : undefined;

function wordsOf(one: ClusterResource): { reason: string; message: string } {
  const [first] = one.status.conditions;
  const drift = one.status.conditions.find(({ type }) => type === 'Drifted');
  if (!first)
    return {
      reason: 'NotSeen',
      message: 'no operator has processed it yet: does an operator run that watches this namespace?',
    };
  const { reason, message } = drift ?? heldOf(one) ?? first;
  const tried = one.status.conditions.some(
    ({ type, observedGeneration }) => type === 'Reconciling' && observedGeneration === one.metadata.generation,
  );
  const old = one.status.observedGeneration !== one.metadata.generation && !tried;
  const deleting = one.metadata.deletionTimestamp === undefined ? '' : 'being deleted: ';
  return {
    reason,
    message: `${deleting}${message}${old ? ' (of an earlier spec: the present one is not processed yet)' : ''}`,
  };
}

const short = (one: ClusterResource): string => {
  const { reason, message } = wordsOf(one);
  return `${titleOf(one)}: ${reason}: ${message}`;
};

const FOR_REALM = ['RealmMissing', 'RealmNotDeclared'];
const MANAGER = /k8s:[^/\s]+\/([^/\s]+)\/([^/\s]+)\/([^\s;,]+)/g;

/** @param all all readable resources of the realm, in every namespace */
function because(one: ClusterResource, all: readonly ClusterResource[]): string[] {
  const { reason, message } = wordsOf(one);
  const others = all.filter((other) => other !== one && other.spec.realm === one.spec.realm);
  const unwell = (kind: KindName) => others.filter((other) => other.kind === kind && !isWell(other)).map(short);
  if (FOR_REALM.includes(reason)) {
    const declared = others.some(({ kind }) => kind === 'Realm');
    return declared ? unwell('Realm') : [`no Realm resource that can be seen here declares ${one.spec.realm}`];
  }
  if (reason === 'FlowMissing') return unwell('Flow');
  if (reason !== 'Conflict' && reason !== 'ForceNotAllowed') return [];
  return [...message.matchAll(MANAGER)].map(([manager, namespace, kind, name]) => {
    const owner = others.find((o) => o.kind === kind && o.metadata.namespace === namespace && o.metadata.name === name);
    return owner
      ? short(owner)
      : `${manager} is no resource that can be seen here: realmctl managers release lets go what it owns`;
  });
}

export function standingOf(one: ClusterResource, all: readonly ClusterResource[]): Standing {
  const { kind, metadata, spec } = one;
  const ready = isWell(one);
  const why = ready ? [] : [...new Set(because(one, all))];
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    realm: spec.realm,
    ready,
    ...wordsOf(one),
    because: why,
  };
}
