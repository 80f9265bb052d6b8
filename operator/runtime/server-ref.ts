// Decides which of several servers a resource is for: the one that spec.serverRef names, else the default server. The default
// server's operator also reports a name that no operator serves. Pure.
// Decisions "Custom resources".
import { isAbandoned, type Resource } from '../resource.ts';

export const serverRefOf = (spec: unknown): string | undefined => {
  const { serverRef } = Object(spec);
  return typeof serverRef === 'string' ? serverRef : undefined;
};

/** @param serverName undefined: the default server @param all the servers of the operator */
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

/** Whether no operator has written a status, or only the report that none serves the named server. */
const isUnclaimed = ({ conditions = [] }: Resource['status']): boolean =>
  conditions.length === 0 || conditions.some(({ reason }) => reason === 'ServerUnknown');

/** How long the named server's own operator may take to write the first status. */
const PATIENCE_MS = 15_000;
export const isFresh = ({ metadata }: Resource, now: Date): boolean =>
  now.getTime() - Date.parse(metadata.creationTimestamp ?? '') < PATIENCE_MS;
