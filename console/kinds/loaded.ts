// Kinds with their schemas, and their objects: loaded where a page needs them.
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { type ConsoleAnswer, call, ServerProblem } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { watchSeconds } from './managed.tsx';
import { askingManagers } from './managers.ts';
import { idOf, PARTS } from './pages.tsx';

const kindKey = (entry: KindEntry) => ['kind', entry.section];
/** undefined while it loads. */
export function useKind(entry: KindEntry): LoadedKind | undefined {
  const { data, error } = useQuery({
    queryKey: kindKey(entry),
    queryFn: () => entry.load(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // the page's error boundary says that there is a newer console
  if (error) throw error;
  return data;
}
export const kindNow = (entry: KindEntry): Promise<LoadedKind> =>
  queryClient.ensureQueryData({
    queryKey: kindKey(entry),
    queryFn: () => entry.load(),
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface ObjectAddress {
  realm: string;
  /** The id or name in the API's path. */
  key: string;
  /** The id of the client that it belongs to. */
  of?: string | undefined;
}

/** `EMAIL:smtp` → `{ channel: 'EMAIL', driver: 'smtp' }` */
function partsOf(at: readonly string[], key: string): Record<string, string> {
  const parts = key.split(PARTS);
  return Object.fromEntries(at.map((name, i) => [name, parts[i] ?? '']));
}

export const paramsOf = ({ at }: KindEntry, { realm, key, of }: ObjectAddress): Record<string, string> => ({
  realm,
  ...(typeof at === 'string' ? { [at]: key } : partsOf(at, key)),
  ...(of !== undefined && { clientId: of }),
});

/** @throws ServerProblem if there is no such object */
export async function readObject(
  entry: KindEntry,
  address: ObjectAddress,
  signal?: AbortSignal,
): Promise<ConsoleAnswer<Row>> {
  const { routes } = await kindNow(entry);
  const { realm, key, of } = address;
  if (routes.get) {
    const answer = await call(routes.get, {
      params: paramsOf(entry, address),
      query: askingManagers(routes.get),
      ...(signal && { signal }),
    });
    return { ...answer, body: answer.body as Row };
  }
  // a kind that is read by its list alone, which is short
  const params = { realm, ...(of !== undefined && { clientId: of }) };
  const list = await call(routes.list, {
    params,
    query: { limit: 1000, ...askingManagers(routes.list) },
    ...(signal && { signal }),
  });
  const row = (list.body as Row[]).find((one) => idOf(entry, one) === key);
  if (!row) throw new ServerProblem(404, `There is no ${entry.label} ${key}`);
  return { ...list, body: row, etag: undefined };
}

/**
 * An object that a manager owns is read again and again: the manager may change it at any time. So is one that a manager owned
 * when this page read it first: its next manager may come soon.
 */
export function useObject(entry: KindEntry, address: ObjectAddress, enabled = true) {
  const queryKey = [address.realm, 'object', entry.section, address.key, address.of];
  const name = JSON.stringify(queryKey);
  const watched = useRef<{ name: string; seconds: number }>(undefined);
  return useQuery<ConsoleAnswer<Row>, ServerProblem>({
    queryKey,
    queryFn: ({ signal }) => readObject(entry, address, signal),
    enabled,
    refetchInterval: ({ state: { data, error } }) => {
      const seconds = watchSeconds(data?.body);
      if (seconds !== undefined) watched.current = { name, seconds };
      return watched.current?.name === name && error?.status !== 404 && watched.current.seconds * 1000;
    },
  });
}
