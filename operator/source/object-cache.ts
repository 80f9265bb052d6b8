// The cluster's resources as last reported by lists, watches and the responses to the operator's own writes, in any
// order. It sends no requests, and reports each change once. Decisions "Custom resources".
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { FINALIZER, type KindName, keyOfResource, type Resource, resourceOf, type Status } from '../resource.ts';
import { isBefore } from './listing.ts';

/**
 * The least time between two passes caused by foreign statuses: a second operator that keeps writing must not keep this
 * one busy.
 */
const FOREIGN_MS = 5_000;

export function createObjectCache({
  changed,
  serves = () => true,
}: {
  changed(key: string): void;
  /** Whether this operator serves the resource; others are ignored. */
  serves?: ((resource: Resource) => boolean) | undefined;
}) {
  const resources = new Map<string, { resource: Resource; since: number }>();
  /** The status that we wrote last, or are about to write: the watch's report of it is no change. */
  const ours = new Map<string, Status>();
  const foreignAt = new Map<string, number>();

  function isForeign(key: string, before: Resource, { status }: Resource): boolean {
    const wrote = ours.get(key);
    if (wrote === undefined || isDeepStrictEqual(before.status, status) || isDeepStrictEqual(wrote, status))
      return false;
    const now = performance.now();
    if (now - (foreignAt.get(key) ?? Number.NEGATIVE_INFINITY) < FOREIGN_MS) return false;
    foreignAt.set(key, now);
    return true;
  }

  function put(key: string, resource: Resource): void {
    resources.set(key, { resource, since: performance.now() });
  }

  function forget(key: string): void {
    resources.delete(key);
    ours.delete(key);
    foreignAt.delete(key);
    changed(key);
  }

  return {
    get: (key: string): Resource | undefined => resources.get(key)?.resource,
    keys: (): Iterable<string> => resources.keys(),
    list: (): Resource[] => [...resources.values()].map(({ resource }) => resource),

    /** @param listedAt when the list that holds the object was requested; undefined: it came by a watch */
    seen(kind: KindName, object: unknown, listedAt?: number): void {
      const resource = read(kind, object);
      const key = keyOfResource(resource);
      const before = resources.get(key);
      if (!serves(resource)) {
        if (before) forget(key);
        return;
      }
      // A list that was requested later is right even if it is older: a backup was restored.
      const listedSince = before !== undefined && listedAt !== undefined && listedAt > before.since;
      if (before && !listedSince && isOlder(resource, before.resource)) return;
      put(key, resource);
      if (!before || isChange(before.resource, resource) || isForeign(key, before.resource, resource)) changed(key);
    },

    /** Call it before the status is written. */
    writing: (resource: Resource, status: Status): void => void ours.set(keyOfResource(resource), status),

    /**
     * Stores the response to our write before the watch reports it: the next pass must not start from an older status.
     */
    written(kind: KindName, object: unknown): void {
      const resource = read(kind, object);
      const key = keyOfResource(resource);
      const before = resources.get(key)?.resource;
      if (!before || before.metadata.uid !== resource.metadata.uid || isOlder(resource, before)) return;
      put(key, resource);
      // The response includes changes that others made meanwhile; the watch will not report those again.
      if (isChange(before, resource)) changed(key);
    },

    gone: forget,
  };
}
export type ObjectCache = ReturnType<typeof createObjectCache>;

/** Drops `managedFields`, which is half of an object's size and unused here. */
function read(kind: KindName, object: unknown): Resource {
  const resource = resourceOf(kind, object);
  delete resource.metadata.managedFields;
  return resource;
}

/** Whether another account changed the resource: the operator's own status and finalizer are no change. */
function isChange(before: Resource, after: Resource): boolean {
  const ours = ({ metadata }: Resource) => metadata.finalizers.includes(FINALIZER);
  return (ours(before) && !ours(after)) || !isDeepStrictEqual(ofPeople(before), ofPeople(after));
}

const ofPeople = ({ spec, metadata: { uid, generation, deletionTimestamp, annotations } }: Resource) => ({
  spec,
  uid,
  generation,
  deletionTimestamp,
  annotations,
});

const isOlder = ({ metadata: one }: Resource, { metadata: other }: Resource): boolean =>
  one.uid === other.uid && isBefore(one.resourceVersion, other.resourceVersion);
