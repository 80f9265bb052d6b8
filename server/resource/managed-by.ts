// Names the managers of objects in answers: the header of a single object, and `managedBy` where a request asks for it.
// One query for an object or a page; a list that isn't asked makes none. Decisions "Ownership".
import type { FastifyReply } from 'fastify';
import type { ManagedBy } from '../contract/managed-by.ts';
import type { Sql } from '../db/sql.ts';
import { ownedFields, ownersOf } from '../domain/ownership.ts';
import { etagOf } from '../http/etag.ts';
import { markManaged } from '../http/managed.ts';

/** The query of a route that can name managers. */
export interface ManagersQuery {
  with?: 'managedBy' | undefined;
}

/** The rows of a page, with their managers if the request asks for them. */
export async function withManagers<T extends object>(
  sql: Sql,
  { realm, kind, query }: { realm: string; kind: string; query: ManagersQuery },
  rows: readonly { key: string; wire: T }[],
): Promise<(T & { managedBy?: ManagedBy })[]> {
  if (query.with === undefined || rows.length === 0) return rows.map(({ wire }) => wire);
  const keys = rows.map(({ key }) => key);
  const owners = await ownersOf(sql, realm, kind, keys);
  return rows.map(({ key, wire }) => {
    const owner = owners.get(key);
    return { ...wire, managedBy: owner ? [owner] : [] };
  });
}

/** A single object: the header names its manager, and so does the answer if the request asks for it. */
export async function shownWithManager<T extends object>(
  { sql, reply }: { sql: Sql; reply: FastifyReply },
  { realm, kind, query = {} }: { realm: string; kind: string; query?: ManagersQuery },
  { key, wire }: { key: string; wire: T },
): Promise<T & { managedBy?: ManagedBy }> {
  const owner = (await ownersOf(sql, realm, kind, [key])).get(key);
  return shown(reply, query, wire, owner ? [owner] : []);
}

/**
 * An object whose fields have managers of their own, such as the settings.
 * @param fieldOf the answer's field, by the kind and the key of an owned field
 */
export async function shownWithManagers<T extends object>(
  { sql, reply }: { sql: Sql; reply: FastifyReply },
  {
    realm,
    kinds,
    query = {},
  }: { realm: string; kinds: Readonly<Record<string, string | null>>; query?: ManagersQuery },
  wire: T,
): Promise<T & { managedBy?: ManagedBy }> {
  const owned = await ownedFields(sql, realm, Object.keys(kinds));
  const byManager = Map.groupBy(owned, ({ manager }) => manager);
  const managers = [...byManager].map(([manager, fields]) => ({
    manager,
    fields: [...new Set(fields.map(({ kind, key }) => kinds[kind] ?? key))].sort(),
  }));
  return shown(reply, query, wire, managers);
}

function shown<T extends object>(
  reply: FastifyReply,
  query: ManagersQuery,
  wire: T,
  managers: ManagedBy,
): T & { managedBy?: ManagedBy } {
  markManaged(reply, ...managers.map(({ manager }) => manager));
  if (query.with === undefined) return wire;
  // the object's own tag, which If-Match of a later write is compared with
  void reply.header('etag', etagOf(wire));
  return { ...wire, managedBy: managers };
}
