// Owns: a plain resource from one declaration: its part of the realm document and its admin API.
// Does not own: the SQL of its table (table.ts), the phases of a write (write.ts), the requests (api.ts).
// Implements: design "A plain resource: one declaration".
import type { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import type { ResourceRoutes, UpsertRoutes } from '../contract/resource.ts';
import type { Route } from '../contract/route.ts';
import { collectionOf, fieldsOfKey, type Groups, groupOf, type Section } from '../contract/section.ts';
import { sectionEvents } from '../contract/section-names.ts';
import { type PresentKey, sections } from '../contract/sections.ts';
import type { Fragment, Sql } from '../db/sql.ts';
import type { Reach } from '../domain/reach.ts';
import { clientRoleKey, parsing, splitClientRoleKey, withoutUndefined } from './items.ts';
import type { Fields, Item, RealmPart } from './part.ts';
import { createTable, keyOf, type Row, splitKey, type Table, type TableOptions } from './table.ts';

/** The declaration of a kind. Every optional field has a default. */
export interface Declaration
  extends Omit<
    RealmPart,
    | 'section'
    | 'kind'
    | 'area'
    | 'list'
    | 'ids'
    | 'secrets'
    | 'people'
    | 'placeholders'
    | 'parse'
    | 'print'
    | 'read'
    | 'write'
    | 'fresh'
    | 'events'
    | 'fallsWith'
  > {
  /** The key of its entry in contract/sections.ts, which defines its kind, area, natural key and element. */
  section: Exclude<PresentKey, 'users'>;
  /** The resource in the admin API's responses; other fields of the object are not shown. */
  wire: z.ZodObject;
  /** The routes to mount. Absent: the feature mounts its own. */
  routes?: Routes;
  /** The path's parameter for the id; default: `id`. */
  idIn?: string;
  /** Default: from the section's name (contract/section-names.ts). */
  events?: RealmPart['events'];
  table: Omit<TableOptions, 'key'>;
  /** The rows `t` that the database deletes with objects of that kind. An object `under` another doesn't need it. */
  fallsWith?: { kind: string; which(realm: string, removed: readonly string[]): Fragment };
  /** Default values of a new object. */
  fresh(realm: string, key: string): Fields;
  /** Normalizes fields of a document or a request, so that equal objects compare equal: sets are sorted, defaults filled in. */
  canonical?(fields: Fields): Fields;
  /**
   * Condition: the rows in reach of an administrator of single objects. Absent: such administrators may use none of the
   * routes.
   */
  reached?(realm: string, reach: Reach): Fragment;
  /** Fields that the parameter `q` searches. */
  search?: readonly string[];
  /** Built in: never deleted. */
  permanent?(row: Row): boolean;
  /** Built-in objects can't be changed either. */
  fixed?: boolean;
  /** Whether an export contains the object; absent: every object. */
  exported?(key: string): boolean;
  /** A PUT to an unknown id creates the object, if the body has its natural key. */
  upsert?: boolean;
  /** Administrators can't delete it while something refers to it. */
  keptWhileNamed?: boolean | readonly string[];
  beside?: Beside;
  /** The natural key can't be changed; the text says what to do instead. */
  keyStays?: string;
  /** Fields of the response that are no fields of the object. */
  shown?(row: Row, realm: string): Record<string, unknown>;
  /** The natural key, if a request names it by other fields. @throws Problem `not-found`, `invalid-request` */
  keyOf?(sql: Sql, realm: string, input: Fields, before: Row | undefined): Promise<string>;
}

/** Fields of a request that belong to another section's object with the same key: the request's → the object's. */
export interface Beside {
  part: RealmPart;
  fields: Readonly<Record<string, string>>;
}

export interface Resource extends RealmPart {
  label: string;
  routes?: Routes;
  idIn?: string;
  /** Its path lies below a client's. */
  ofClient: boolean;
  table: Table;
  permanent?(row: Row): boolean;
  fixed?: boolean;
  upsert?: boolean;
  keptWhileNamed?: boolean | readonly string[];
  beside?: Beside;
  reached?(realm: string, reach: Reach): Fragment;
  toWire(realm: string, row: Row): Record<string, unknown>;
  /** The object's fields in a request: read-only fields are ignored, and a secret that is null is kept. */
  fieldsOf(input: Fields): Fields;
  nameOf(sql: Sql, realm: string, input: Fields, before: Row | undefined): Promise<string>;
}

/** The contract's routes of the kind. */
export type Routes = Partial<
  Record<
    | keyof ResourceRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType>
    | keyof UpsertRoutes<z.ZodType, z.ZodType, z.ZodType>,
    Route
  >
>;

/** A resource that is written out: its routes' data, its table and its section of the realm document. */
export function resource(declaration: Declaration, { now }: { now: () => Date }): Resource {
  const {
    wire,
    table: options,
    canonical = (fields) => fields,
    search,
    permanent,
    exported = () => true,
    shown,
    keyStays,
    fallsWith,
    events = sectionEvents.get(declaration.section),
    ...part
  } = declaration;
  if (!events) throw new Error(`${declaration.section} must say the events of its changes`);
  const {
    kind,
    label,
    area,
    element,
    key: naturalKey,
    people,
    placeholders,
    shape,
    groups,
    most,
    mostOfEach,
  }: Section = sections[part.section];
  const key = fieldsOfKey(naturalKey);
  const table = createTable({ ...options, key }, { now, ...(search && { search }) });
  const { under } = options;
  const falls =
    fallsWith ??
    (under && {
      kind: under.table,
      which: (realm: string, removed: readonly string[]) => table.below(realm, under, removed),
    });
  const secrets = Object.keys(options.secrets ?? {});
  const { columns, elsewhere = {}, inDocument = {} } = options;
  const own = new Set([...[columns, elsewhere].flatMap((of) => Object.keys(of)), ...secrets]);
  const ownInDocument = own.union(new Set(Object.keys(inDocument)));
  // the route adds the managers
  const answered = Object.keys(wire.shape).filter((field) => field !== 'managedBy');

  const fieldsAmong = (known: ReadonlySet<string>, input: Fields): Fields =>
    canonical(
      withoutUndefined(
        Object.fromEntries(
          Object.entries(input).filter(
            ([field, value]) => known.has(field) && !(value === null && secrets.includes(field)),
          ),
        ),
      ),
    );
  const named = (natural: string): Record<string, string> => {
    const own = options.under ? splitClientRoleKey(natural).role : natural;
    return Object.fromEntries(splitKey(own, key.length).map((text, i) => [key[i] ?? '', text]));
  };
  const itemOf = (all: Fields, path: string, under?: string): Item => {
    const own = keyOf(all, key);
    return {
      key: under === undefined ? own : clientRoleKey(under, own),
      fields: fieldsAmong(ownInDocument, all),
      path,
    };
  };
  const printed = ({ key: natural, fields }: { key: string; fields: Fields }) => ({ ...named(natural), ...fields });
  const listed: Pick<RealmPart, 'list' | 'parse' | 'print'> = {
    list: true,
    parse: parsing(element, (value, path) => [itemOf(Object(value), path)]),
    print: (objects) => objects.filter((one) => exported(one.key)).map(printed),
  };
  const byName = (objects: readonly { key: string; fields: Fields }[]) =>
    Map.groupBy(objects, (one) => splitClientRoleKey(one.key).clientId).entries();
  /** The section as a map: a list for each owner's key. */
  const listsByName: typeof listed = {
    list: false,
    parse: parsing(collectionOf(element, { shape, groups, most, mostOfEach }), (map, path) =>
      Object.entries<Fields[]>(Object(map)).flatMap(([under, objects]) =>
        objects.map((all, i) => itemOf(all, `${path}.${under}[${i}]`, under)),
      ),
    ),
    print: (objects) => Object.fromEntries(byName(objects).map(([under, of]) => [under, of.map(printed)])),
  };
  /** The section as a list of owners, each with its objects. */
  const listsInGroups = (of: Groups): typeof listed => ({
    list: true,
    parse: parsing(groupOf(element, { groups: of, mostOfEach }), (group, path) => {
      const { [of.by]: under, [of.list]: own }: Record<string, unknown> = group;
      return Array.from(Object(own), (all: Fields, i) => itemOf(all, `${path}.${of.list}[${i}]`, String(under)));
    }),
    print: (objects) => [...byName(objects)].map(([under, own]) => ({ [of.by]: under, [of.list]: own.map(printed) })),
  });
  const withPermanent = (row: Row): Row => (permanent?.(row) ? { ...row, permanent: true } : row);

  return {
    ...part,
    events,
    kind,
    area,
    label,
    table,
    ofClient: under !== undefined,
    ...(permanent && { permanent }),
    ids: true,
    ...(groups ? listsInGroups(groups) : shape === 'map' ? listsByName : listed),
    secrets,
    ...(people && { people }),
    ...(placeholders && { placeholders }),
    ...(falls && {
      fallsWith: {
        kind: falls.kind,
        read: (sql: Sql, realm: string, removed: readonly string[]) =>
          table.readWhere(sql, realm, falls.which(realm, removed)),
      },
    }),
    fieldsOf: (input) => fieldsAmong(own, input),
    async read(sql, realm, keys, without) {
      const rows = await table.read(sql, realm, keys, without);
      return permanent ? new Map([...rows].map(([natural, row]) => [natural, withPermanent(row)])) : rows;
    },
    async write(sql, realm, { create, update, remove }) {
      await table.remove(sql, realm, remove);
      await table.update(sql, realm, update);
      await table.insert(sql, realm, create);
    },
    toWire(realm, row) {
      const all: Record<string, unknown> = {
        id: row.id,
        realmId: realm,
        ...named(row.key),
        ...row.fields,
        ...row.facts,
        createdAt: row.createdAt,
      };
      for (const field of secrets) {
        all[`${field}Set`] = row.fields[field] !== null;
        all[field] = null;
      }
      Object.assign(all, shown?.(row, realm));
      return Object.fromEntries(answered.map((field) => [field, all[field]]));
    },
    nameOf: async (sql, realm, input, before) => {
      if (declaration.keyOf) return declaration.keyOf(sql, realm, input, before);
      const own = keyOf({ ...(before && named(before.key)), ...withoutUndefined({ ...input }) }, key);
      const client = input.clientId ?? (before && splitClientRoleKey(before.key).clientId);
      const wanted = under ? clientRoleKey(String(client), own) : own;
      if (before && wanted !== before.key && keyStays !== undefined)
        throw new Problem('invalid-request', undefined, {
          errors: [{ path: key[0] ?? '', message: `stays ${before.key}: ${keyStays}` }],
        });
      return wanted;
    },
  };
}
