// A custom resource in the operator's form: the fields that all kinds share, parsed once where the source reads them.
// server/contract/resources defines specs and statuses. Decisions "Custom resources".
import { z } from 'zod';
import {
  type CommonStatus,
  Condition,
  commonStatus,
  GROUP,
  type KindName,
  VERSION,
} from '../server/contract/resources/custom-resource.ts';

export const API_VERSION = `${GROUP}/${VERSION}`;
export const FINALIZER = `${GROUP}/release`;
/** `true`: the resource can be deleted, and its objects on the server stay unchanged. */
export const ABANDON = `${GROUP}/abandon`;

export { type KindName, kindNames } from '../server/contract/resources/custom-resource.ts';
/** Plural names, as in paths of the Kubernetes API and in `kubectl get`. */
export const plurals: Record<KindName, string> = {
  Realm: 'realms',
  Flow: 'flows',
  Webhook: 'webhooks',
  WorkloadIdentity: 'workloadidentities',
};

export const Metadata = z
  .object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    generation: z.number().default(1),
    resourceVersion: z.string().default(''),
    creationTimestamp: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    finalizers: z.array(z.string()).default([]),
    annotations: z.record(z.string(), z.string()).default({}),
  })
  .loose();
export type Metadata = z.infer<typeof Metadata>;

/** The part of a status that any version of the operator has written; unknown parts are dropped. */
const Status = z.object({ ...commonStatus, conditions: z.array(Condition).optional().catch(undefined) }).loose();
export type Status = CommonStatus & Record<string, unknown>;

export interface Resource<Spec = unknown> {
  kind: KindName;
  metadata: Metadata;
  spec: Spec;
  status: Status;
}

/** Parses an object from Kubernetes or a file; the spec stays unparsed until its kind parses it. */
export function resourceOf(kind: KindName, object: unknown): Resource {
  const { metadata, spec, status } = z
    .object({ metadata: Metadata, spec: z.unknown().optional(), status: Status.optional().catch(undefined) })
    .parse(object);
  return { kind, metadata, spec, status: status ?? {} };
}

/** The resource is under deletion, and its annotation leaves its objects on the server unchanged. */
export const isAbandoned = ({ metadata }: Pick<Resource, 'metadata'>): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.annotations[ABANDON] === 'true';

/** `Flow identity/browser-mfa`: how messages name a resource. */
export const nameOf = (r: Resource): string => `${r.kind} ${r.metadata.namespace}/${r.metadata.name}`;

/** Whether a spec, parsed or not, sets `managementPolicy: Observe`. */
export const isObserveOnly = (spec: unknown): boolean => Object(spec).managementPolicy === 'Observe';

/** The key of the resource in queue and cache. */
export const keyOf = (kind: KindName, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;
export const namespaceOfKey = (key: string): string => key.split('/', 2)[1] ?? '';
export const keyOfResource = (r: Resource): string => keyOf(r.kind, r.metadata.namespace, r.metadata.name);

/** The prefix of all managers of a namespace; neither part can contain a slash. */
export const managersIn = (cluster: string, namespace: string): string => `k8s:${cluster}/${namespace}/`;
/** `k8s:<cluster>/<namespace>/<kind>/<name>` (decisions "Custom resources"). */
export const managerOf = (
  cluster: string,
  { kind, metadata }: { kind: KindName; metadata: Pick<Metadata, 'namespace' | 'name'> },
): string => `${managersIn(cluster, metadata.namespace)}${kind}/${metadata.name}`;

/**
 * The cluster in the manager's name, if the manager is the same resource of another cluster; for a Realm also one of
 * the same namespace there.
 */
export function sameElsewhere(
  cluster: string,
  { kind, metadata }: { kind: KindName; metadata: Pick<Metadata, 'namespace' | 'name'> },
  manager: string,
): string | undefined {
  const [, other, namespace, ofKind, name] = /^k8s:([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(manager) ?? [];
  const same = namespace === metadata.namespace && ofKind === kind && (kind === 'Realm' || name === metadata.name);
  return same && other !== cluster ? other : undefined;
}
