// Of several servers in one cluster, which one a resource is for: spec.serverRef names it. What names none is the default one's,
// whose operator also tells of a name that no operator answers for. Pure.
// Decisions "Custom resources".
import { isAbandoned, type Resource } from '../resource.ts';

export const serverRefOf = (spec: unknown): string | undefined => {
  const { serverRef } = Object(spec);
  return typeof serverRef === 'string' ? serverRef : undefined;
};

/**
 * @param serverName undefined: of the default one
 * @param all the servers of the operator
 */
export function servedBy(
  serverName: string | undefined,
  all: readonly (string | undefined)[],
): (resource: Resource) => boolean {
  return (resource) => {
    const named = serverRefOf(resource.spec);
    if (named === serverName) return true;
    if (serverName !== undefined || all.includes(named)) return false;
    return isUnclaimed(resource.status) || isAbandoned(resource);
  };
}

/** Nobody has said anything of it but that nobody does. */
const isUnclaimed = ({ conditions = [] }: Resource['status']): boolean =>
  conditions.length === 0 || conditions.some(({ reason }) => reason === 'ServerUnknown');

/** As long its own operator has to be the first to speak. */
const PATIENCE_MS = 15_000;
export const isFresh = ({ metadata }: Resource, now: Date): boolean =>
  now.getTime() - Date.parse(metadata.creationTimestamp ?? '') < PATIENCE_MS;
