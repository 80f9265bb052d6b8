// What the console knows of a kind before its schemas are loaded: names, places, columns. generated/kinds.ts has an entry of
// each declared kind, written-out.ts those of the others.
import type { z } from 'zod';
import type { KindOf } from '../../server/contract/kind.ts';
import type { Applies, Form } from '../../server/contract/kind-shown.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import type { Route } from '../../server/contract/route.ts';

export type Row = Record<string, unknown>;
export type Cell = 'text' | 'boolean' | 'list' | 'time' | 'number' | 'json';

export interface ColumnEntry {
  field: string;
  head: string;
  cell: Cell;
  /** A list shows it until the reader chooses other columns. */
  shown?: true;
}

/** A kind with its schemas. */
export interface LoadedKind {
  routes: {
    list: Route;
    create?: Route;
    get?: Route;
    put?: Route;
    remove?: Route;
    /** Creates or changes, by the object's key in the body. */
    upsert?: Route;
  };
  /** The body of a request that creates an object. */
  input: KindOf['input'];
  /** The values of fields that a new object omits. */
  fresh?: Readonly<Record<string, unknown>>;
  /** Fields with names of another kind, and that kind. */
  names?: Readonly<Record<string, string>>;
  /** Fields by which requests name an object, because its natural key follows from them; no document has them. */
  namedBy?: readonly string[];
  /** Fields that only some objects have. */
  applies?: Applies | undefined;
  /** An object as a realm document has it; absent: its plan can't be asked for. */
  entry?: { element: z.ZodType };
}

export interface KindEntry {
  section: string;
  kind: string;
  /** The part of the console's address after the realm's, and of the API's. */
  path: string;
  one: string;
  many: string;
  label: string;
  description: string;
  read: Permission | null;
  write: Permission | null;
  /** Administrators of single groups or clients see the objects in their reach. */
  reach?: true;
  /** Natural key. */
  key: string | readonly string[];
  /** The path parameter that names an object, and its field; several: a natural key in parts. */
  at: string | readonly string[];
  /** Its objects belong to clients: its pages are below the client's. */
  ofClient?: true;
  /** How a document holds the objects of clients: by the client's clientId; or in a list for each. Absent: one list. */
  inDocument?: 'map' | { by: string; list: string };
  searches?: readonly string[];
  /** The custom resource in which it is declared. */
  resource: string | null;
  /** Its name in `realmctl`. */
  noun: string;
  form?: Form;
  columns: readonly ColumnEntry[];
  /** Fields that say whether the object is the server's own, which nothing deletes. */
  builtIn?: string;
  load(): Promise<LoadedKind>;
}
