// Owns: what commands need of a kind of object: its routes, finding an object by name, columns.
// Does not own: the list of kinds (kind-table.ts), fields and addresses (server/contract), printing (output.ts).
// Implements: docs/cli.md: get, describe; decisions "Reading and writing" (paging by cursor), "Ownership".
import type { z } from 'zod';
import { address, allRows, LARGEST_PAGE } from '../server/contract/client.ts';
import { canNameManagers } from '../server/contract/managed-by.ts';
import type { Route } from '../server/contract/route.ts';
import type { Connection } from './command.ts';
import { Refused } from './faults.ts';
import type { WriteRoute } from './writes.ts';

export interface Filter {
  /** Search text: the server searches if its list can, otherwise realmctl matches names. */
  q?: string | undefined;
  /** Parameters of the list's own query. */
  [field: string]: string | number | boolean | undefined;
}
export interface Scope {
  connection: Connection;
  /** '' for kinds outside of realms. */
  realm: string;
  /** The parent of the listed objects, for example a delivery's webhook. */
  of?: string | undefined;
  signal: AbortSignal;
}
export interface Row {
  name: string;
  value: object;
  /** The cells in the order of the kind's column heads. */
  cells(wide: boolean): string[];
}
export interface Found extends Row {
  /** The names of the object's managers, if it has any (decisions "Ownership"). */
  managedBy: string[];
  /** For If-Match, if the object was read alone. */
  etag?: string | undefined;
}
export interface Column<T> {
  head: string;
  cell: (row: T) => string;
  wide?: true;
}

export interface Definition<T extends object> {
  plural: string;
  singular: string;
  help: string;
  inRealm: boolean;
  /** The kind of the parent object, for example a client; the parent is looked up before any other request. */
  of?: string;
  /** Run-time data of any number: without an option, only the first hundred are shown. */
  many?: true;
  /** The server's list takes `q`. */
  searches?: true;
  /**
   * The kind's contract routes. Without `get`, single objects can't be read; without a write route, they can't be
   * written.
   */
  routes: { list: ReadRoute<T[]>; get?: ReadRoute<object> } & WriteRoutes;
  /** The list over all parents; absent: the parent must be named. */
  ofAny?: ReadRoute<T[]>;
  /** Merges a row with the one that continues it in a list of pages; undefined: they are two objects. */
  joined?(row: T, next: T): T | undefined;
  /** The path parameters of a single object, besides the realm; default: its id. */
  at?(row: T): Record<string, string>;
  /** The id of the parent of the listed objects. */
  parent?(scope: Scope): Promise<string>;
  /** The path parameter for the parent's id; default: `id`. */
  parentIn?: string;
  nameOf(row: T): string;
  /** Whether the user's word means this object; absent: it must equal the name. */
  is?(row: T, word: string): boolean;
  columns: Column<T>[];
}
export interface WriteRoutes {
  create?: WriteRoute;
  put?: WriteRoute;
  remove?: WriteRoute;
}
export type ReadRoute<T> = Route<z.ZodType, z.ZodType, z.ZodType, z.ZodType<T>>;

export interface Kind {
  plural: string;
  singular: string;
  help: string;
  inRealm: boolean;
  of: string | undefined;
  /** Whether the parent can be left out. */
  ofAny: boolean;
  many: boolean;
  routes: WriteRoutes;
  /** Whether the server names the managers of the kind's objects (`?with=managedBy`). */
  managed: boolean;
  /** The path parameters of a listed object, besides the realm. */
  at(value: object): Record<string, string>;
  /** The path parameter of the parent object. */
  parentIn: string | undefined;
  /** The path parameters for the parent object. */
  within(scope: Scope): Promise<Record<string, string>>;
  heads(wide: boolean): string[];
  /** The row to print for the response of a write. */
  rowOf(value: object): Row;
  /** @param most the number of wanted rows; 0: all */
  rows(scope: Scope, filter: Filter, most: number): AsyncGenerator<Row>;
  /**
   * @param query further parameters of the request
   * @throws Refused if there is no such object
   */
  find(scope: Scope, word: string, query?: Record<string, string>): Promise<Found>;
}

async function* joined<T>(rows: AsyncIterable<T>, join: (row: T, next: T) => T | undefined): AsyncGenerator<T> {
  let held: T | undefined;
  for await (const row of rows) {
    const both = held === undefined ? undefined : join(held, row);
    if (held !== undefined && both === undefined) yield held;
    held = both ?? row;
  }
  if (held !== undefined) yield held;
}

export function kind<T extends object>(definition: Definition<T>): Kind {
  const { plural, singular, nameOf, columns, searches, routes } = definition;
  const at = definition.at ?? ((row: T) => ({ id: String(Reflect.get(row, 'id')) }));
  const is = definition.is ?? ((row: T, word: string) => nameOf(row) === word);
  const shown = (wide: boolean) => columns.filter((column) => wide || !column.wide);
  const rowOf = (value: T): Row => ({
    name: nameOf(value),
    value,
    cells: (wide) => shown(wide).map(({ cell }) => cell(value)),
  });

  const within = async (scope: Scope): Promise<Record<string, string>> =>
    definition.parent ? { [definition.parentIn ?? 'id']: await definition.parent(scope) } : {};

  async function* all(scope: Scope, { q, ...filter }: Filter, limit = LARGEST_PAGE): AsyncGenerator<T> {
    const { connection, realm, signal } = scope;
    const everywhere = scope.of === undefined ? definition.ofAny : undefined;
    const params = { realm, ...(everywhere ? {} : await within(scope)) };
    const query = { ...filter, limit: Math.min(limit, LARGEST_PAGE), ...(searches && { q }) };
    const listed = allRows(connection.client, everywhere ?? routes.list, { params, query, signal });
    for await (const row of definition.joined ? joined(listed, definition.joined) : listed)
      if (searches || matches(nameOf(row), q)) yield row;
  }

  return {
    ...definition,
    of: definition.of,
    ofAny: definition.ofAny !== undefined,
    many: definition.many ?? false,
    managed: canNameManagers(routes.list),
    // the wire's schema is the kind's own
    rowOf: (value) => rowOf(value as T),
    at: (value) => at(value as T),
    parentIn: definition.parent && (definition.parentIn ?? 'id'),
    within,
    heads: (wide) => shown(wide).map(({ head }) => head),
    async *rows(scope, filter, most) {
      // one more than wanted: it shows whether there are more
      for await (const row of all(scope, filter, most === 0 ? LARGEST_PAGE : most + 1)) yield rowOf(row);
    },
    async find(scope, word, query = {}) {
      for await (const row of all(scope, { ...(!routes.get && query), q: word })) {
        if (!is(row, word)) continue;
        if (!routes.get) return { ...rowOf(row), managedBy: [] };
        return { ...rowOf(row), ...(await read(scope, routes.get, { ...(await within(scope)), ...at(row) }, query)) };
      }
      const [where, option] = definition.inRealm ? [` in the realm ${scope.realm}`, ` -r ${scope.realm}`] : ['', ''];
      throw new Refused(
        `there is no ${singular} ${word}${where}`,
        `See what there is: realmctl get ${plural}${option}`,
      );
    },
  };
}

const matches = (name: string, q: string | undefined): boolean =>
  q === undefined || name.toLowerCase().includes(q.toLowerCase());

/** A single resource with the names of its managers, which the typed client doesn't return. */
export async function read<T>(
  { connection, realm, signal }: Scope,
  route: ReadRoute<T>,
  params: Record<string, string> = {},
  query: Record<string, string> = {},
): Promise<{ value: T; managedBy: string[]; etag: string | undefined }> {
  const response = await connection.fetch(address(route.path, { realm, ...params }, query), { signal });
  const managed = response.headers.get('x-svc-managed-by') ?? '';
  return {
    value: route.response.parse(await response.json()),
    managedBy: managed === '' ? [] : managed.split(', ').map(decodeURI),
    etag: response.headers.get('etag') ?? undefined,
  };
}
