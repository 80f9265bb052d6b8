// The name of an object that another one names by its id.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { call } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { kindOf } from './all.ts';
import type { KindEntry, Row } from './entry.ts';
import type { Field } from './fields.ts';
import { kindNow, paramsOf } from './loaded.ts';
import { objectAddress } from './pages.tsx';

/** A field that holds the id of an object of another kind. */
export const isById = ({ name, type }: Field): boolean =>
  type.is === 'reference' && name.endsWith('Id') && name !== 'clientId';

/** The first part of the object's natural key: the path of a group. */
export const wordsOf = (entry: KindEntry, row: Row): string => String(row[[entry.key].flat()[0] ?? 'name'] ?? '');

/** undefined while it loads, and if the reader may not read the kind. */
export function useNameOf(entry: KindEntry | undefined, realm: string, id: string | null): string | undefined {
  const may = useMay();
  const { data } = useQuery({
    queryKey: [realm, 'name', entry?.section, id],
    enabled: entry !== undefined && id !== null && !entry.ofClient && may.partly(realm, entry.read),
    queryFn: async ({ signal }): Promise<string | null> => {
      if (!entry || id === null) return null;
      const { routes } = await kindNow(entry);
      if (!routes.get) return null;
      const { body } = await call(routes.get, { params: paramsOf(entry, { realm, key: id }), signal });
      return wordsOf(entry, body as Row);
    },
    retry: false,
  });
  return data ?? undefined;
}

export function NameOf({ realm, kind, id }: { realm: string; kind: string; id: string }) {
  const entry = kindOf(kind);
  const name = useNameOf(entry, realm, id);
  if (!entry || name === undefined) return <code>{id}</code>;
  return (
    <Link href={objectAddress(realm, entry, { id })}>
      <bdi>{name}</bdi>
    </Link>
  );
}
