// Owns: what a kind of object says of itself, so that the admin API and the realm document read and write it alike.
// Does not own: comparing and ownership (features/transfer), the phases of a write (write.ts), the admin API's routes (api.ts).
// Implements: specification 2.10; decisions "Import, export, plan".
import type { By, EventType, Party } from '../contract/events.ts';
import type { Area } from '../contract/permissions.ts';
import type { FieldError } from '../contract/problem.ts';
import type { SectionKey } from '../contract/sections.ts';
import type { Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import type { Fields, Item, Parsed } from '../http/document.ts';

export type { Fields, Item, Parsed };

/** One object as it stands in the realm, all fields, in the same canonical form; a secret is a {@link StoredSecret}. */
export interface Existing {
  /** Where the kind has ids. */
  id?: string;
  fields: Fields;
  /** Built in: never deleted by an import, only released. */
  permanent?: boolean;
}

/** A secret at rest: it can be compared with, never read. */
export interface StoredSecret {
  /** The uuid of the row that holds it: the same under any name. */
  id: string;
  /** In constant time. */
  matches(plain: string): boolean | Promise<boolean>;
}

/** A change of one object, by whatever way it came. */
export interface PlannedChange {
  action: 'create' | 'update' | 'delete';
  kind: string;
  key: string;
  /** Where the kind has ids; a created object gets its own. */
  id?: string;
  /** The key that it had, where the change renames it. */
  renamedFrom?: string;
  /** Where a document declares it; empty for the admin API. */
  path: string;
  fields: { path: string; from: unknown; to: unknown }[];
  /** All fields as they were; absent for a creation. */
  before?: Fields;
  /** All fields as they are to be; empty for a deletion. */
  save: Fields;
}

/** What an object is to be: all its fields; `changed` says which differ from what is stored (secrets: only if there). */
export interface Saved extends Item {
  id?: string;
  renamedFrom?: string;
  before?: Fields;
  changed: readonly string[];
}

/** A change as the parts see it. */
export interface Wanted extends Saved {
  action: 'create' | 'update' | 'delete';
  kind: string;
}

export interface Batch {
  create: readonly Saved[];
  update: readonly Saved[];
  /** Natural keys. */
  remove: readonly string[];
}

/** A name that the object uses and that must exist, before or by this document. */
export interface Reference {
  kind: string;
  key: string;
  /** Under the object's path: `flowOverride`. */
  path: string;
}

/** The object `kind`/`key` depends on the removed object `on`; by a field, which another value would free. */
export interface Dependent {
  kind: string;
  key: string;
  on: string;
  field?: string | null;
}

export interface RealmPart {
  section: SectionKey;
  /** In plans and in managed_object: `client`. */
  kind: string;
  /** Whose `:read` and `:write` permission it needs. */
  area: Area;
  /** Elements of a list come one by one; another section comes whole. */
  list: boolean;
  parse(value: unknown, path: string): Parsed;
  /** The section in an export; `objects` are sorted by key. */
  print(objects: readonly { key: string; fields: Fields }[]): unknown;
  /** Each field of the section is an object of its own with the one field `value`; it is reset, never deleted. */
  fieldwise?: boolean;
  /** Values of a field that nobody set; a created object has them, a pruned field goes back to them. */
  fresh(realm: string, key: string): Fields;
  /** A fresh realm has some of its objects, which one that is made of a whole export has only if that has them. */
  seeded?: boolean;
  required?: readonly string[];
  /** Fields that hold a secret. */
  secrets?: readonly string[];
  /** What decides where its secrets are sent, by path: where any of it changes, they are asked for again. */
  sentTo?(object: Pick<Item, 'key' | 'fields'>): Fields;
  /** Addresses, by path, that may be placeholders of a document: kept as such, so that no value of the environment can be read. */
  placeholders?: readonly string[];
  /** Fields that list usernames: people's data, exported with users alone. */
  people?: readonly string[];
  /** Current objects: of these keys, or all for an export. */
  read(sql: Sql, realm: string, keys?: readonly string[]): Promise<Map<string, Existing>>;
  references?(item: Item): Reference[];
  /** The object that this is a part of: where both are pruned, it is kept as long as that is. */
  partOf?(key: string): { kind: string; key: string };
  /** What the fields of one object must hold together, by paths below it; `changed` are those that change now. */
  check?(saved: Saved, realm: string): FieldError[];
  /**
   * What objects must hold together, pruned ones too: asked once, with every change of the plan.
   * @throws Problem `name-taken`
   */
  whole?(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]>;
  /** What of the objects, as they are to be, will not work, in words that say what to do; a secret that they have is not null. */
  warnings?(
    sql: Sql,
    realm: string,
    objects: readonly { key: string; fields: Fields }[],
    changes: readonly PlannedChange[],
  ): Promise<{ key: string; message: string }[]>;
  /** Before anything is planned: waits for whoever writes just now what {@link whole} looks at, and holds up who comes. */
  hold?(sql: Sql, realm: string, items: readonly Item[]): Promise<void>;
  /** Few objects that nothing refers to: `write` has all of them at once, so that what is unique can change hands. */
  atOnce?: boolean;
  /** Creates and updates, then removes: sets of rows, never a statement for each. */
  write(sql: Sql, realm: string, batch: Batch): Promise<void>;
  /** Ties between objects of several parts, once all of them are there. */
  link?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** Ties to people, of a document that says who they are, once its users are there too. */
  linkPeople?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** What uses the removed objects, or would vanish with them: the engine keeps what this import doesn't free of all of them. */
  dependents?(sql: Sql, realm: string, removed: readonly string[]): Promise<Dependent[]>;
  /** The audit event of a change, by action. */
  events: { create: EventType; update: EventType; delete: EventType };
  /** Whom the audit event is about; default: the object by id and key. */
  subject?(key: string, id: string | null, realm: string): Party;
  /** The client that the audit event is found by. */
  clientOf?(key: string, fields: Fields): string;
  /** Events that the change is beside its own. */
  alsoEvents?(change: PlannedChange): readonly EventType[];
  /** What the audit event says beside the changed fields; never a secret. */
  detail?(fields: Fields): Record<string, unknown>;
  /** Its objects have ids, and the engine gives one to each that it creates. */
  ids?: boolean;
  /** What is keyed by this object's key, and so is owned under the new one when it is renamed. */
  renames?: { same?: readonly string[]; below?: readonly { kind: string; prefix(key: string): string }[] };
  /** Follows from a write, by whatever way it came: ending access, forgetting what no longer holds. */
  onChange?(tx: Tx, realm: string, changes: readonly Wanted[], by: By): Promise<void>;
  /** clientIds that whoever makes this change could act as: they must hold what those hold. */
  actsAs?(change: PlannedChange): readonly string[];
  /** Admin roles that the change gives: nobody can give what they do not hold. */
  gives?(change: PlannedChange): readonly { role: string; to: string }[];
  /** It is an admin role, and these of its permissions come or go. */
  permissionsOf?(change: PlannedChange): readonly string[];
}

export const isStoredSecret = (value: unknown): value is StoredSecret =>
  typeof value === 'object' && value !== null && 'matches' in value && typeof value.matches === 'function';
