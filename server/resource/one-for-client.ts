// The rule of kinds that have one object for each client and value of another field: a policy for a client and an audience.
import { Problem } from '../contract/problem.ts';
import type { Sql } from '../db/sql.ts';
import { joinPaths } from './items.ts';
import type { Fields, RealmPart, Wanted } from './part.ts';

interface Stored {
  name: string;
  clientId: string;
  value: string;
}

/** @param read reads the objects of these clients, without those of these ids */
export const oneForClient =
  (
    { kind, one, field }: { kind: string; one: string; field: string },
    read: (sql: Sql, realm: string, clients: readonly string[], without: readonly string[]) => Promise<Stored[]>,
  ): NonNullable<RealmPart['whole']> =>
  /** @throws Problem `name-taken` */
  async (sql, realm, changes) => {
    const changed = changes.filter((change) => change.kind === kind);
    const saved = changed.filter(({ action }) => action !== 'delete');
    if (saved.length === 0) return [];
    const pairOf = (clientId: unknown, value: unknown): string => JSON.stringify([clientId, value]);
    const clients = saved.map(({ fields }) => String(fields.clientId));
    const others = await read(
      sql,
      realm,
      clients,
      changed.flatMap(({ id }: Wanted) => id ?? []),
    );
    const known = new Map(others.map(({ name, clientId, value }) => [pairOf(clientId, value), name]));
    for (const { key, fields, path } of saved) {
      const pair = pairOf(fields.clientId, fields[field]);
      const other = known.get(pair);
      if (other !== undefined)
        throw new Problem('name-taken', `The ${one} ${other} has this client and ${field} already`, {
          errors: [{ path: joinPaths(path, field), message: `belongs to ${other} for this client` }],
        });
      known.set(pair, key);
    }
    return [];
  };

/** The client of the object, for {@link RealmPart.actsAs}. */
export const clientIn = (fields: Fields | undefined): string[] =>
  typeof fields?.clientId === 'string' ? [fields.clientId] : [];
