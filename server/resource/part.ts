// Owns: the interface of a kind of object, by which both the admin API and the realm document read and write it.
// Does not own: comparing and ownership (features/operations/transfer), the phases of a write (write.ts), the admin API's routes (api.ts).
// Implements: specification 2.10; decisions "Import, export, plan".
import type { By, EventType, Party } from '../contract/events.ts';
import type { Area } from '../contract/permissions.ts';
import type { FieldError } from '../contract/problem.ts';
import type { SectionKey } from '../contract/sections.ts';
import type { Fragment, Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import type { Fields, Item, Parsed } from './items.ts';

export type { Fields, Item, Parsed };

/** A section's objects in a document. */
export interface Section {
  part: RealmPart;
  items: Item[];
}

/** A stored object with all fields, in the canonical form of {@link Item}; a secret is a {@link StoredSecret}. */
export interface Existing {
  /** For kinds with ids. */
  id?: string;
  fields: Fields;
  /** Built in: never deleted by an import, only released. */
  permanent?: boolean;
}

/** A stored secret: it can be compared, never read. */
export interface StoredSecret {
  /** The uuid of its row, which a rename doesn't change. */
  id: string;
  /** Compares in constant time. */
  matches(plain: string): boolean | Promise<boolean>;
}

/** A change of one object, by the admin API or by a document. */
export interface PlannedChange {
  action: 'create' | 'update' | 'delete';
  kind: string;
  key: string;
  /** For kinds with ids; a created object gets a new one. */
  id?: string;
  /** The former key, if the change renames the object. */
  renamedFrom?: string;
  /** The object's path in the document; empty for the admin API. */
  path: string;
  fields: { path: string; from: unknown; to: unknown }[];
  /** All fields before the change; absent for a creation. */
  before?: Fields;
  /** All fields after the change; empty for a deletion. */
  save: Fields;
}

/** An object to write, with all its fields. `changed` names the fields that differ from the stored ones; secrets only if set. */
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

/**
 * The object `kind`/`key` depends on the removed object `on`, perhaps only by a field: another value of it would end
 * that.
 */
export interface Dependent {
  kind: string;
  key: string;
  on: string;
  field?: string | null;
}

export interface RealmPart {
  section: SectionKey;
  /** The kind's name in plans and in managed_object: `client`. */
  kind: string;
  /** The area whose `:read` and `:write` permissions it needs. */
  area: Area;
  /** Whether the section is a list, whose elements are parsed one by one. */
  list: boolean;
  parse(value: unknown, path: string): Parsed;
  /** The section in an export; `objects` are sorted by key. */
  print(objects: readonly { key: string; fields: Fields }[]): unknown;
  /** Each field of the section is an object of its own with the one field `value`; it is reset, never deleted. */
  fieldwise?: boolean;
  /** Default values: a created object has them, and a pruned field returns to them. */
  fresh(realm: string, key: string): Fields;
  /**
   * Whether new realms have some of its objects. A realm that is created from a complete export has only those in the
   * export.
   */
  seeded?: boolean;
  required?: readonly string[];
  /** Fields that hold a secret. */
  secrets?: readonly string[];
  /**
   * The fields, by path, that decide where its secrets are sent. When one of them changes, the secrets must be entered
   * again.
   */
  sentTo?(object: Pick<Item, 'key' | 'fields'>): Fields;
  /**
   * Addresses, by path, that may be a document's placeholders. They are stored unresolved, so that no response shows
   * the environment.
   */
  placeholders?: readonly string[];
  /** Fields that list usernames: users' data, exported only with users. */
  people?: readonly string[];
  /**
   * The current objects with these keys, or all for an export.
   * @param without fields of documents that are left out, so that the database reads nothing for them
   */
  read(sql: Sql, realm: string, keys?: readonly string[], without?: readonly string[]): Promise<Map<string, Existing>>;
  references?(item: Item): Reference[];
  /** The object that this one is part of: it is kept as long as that object is kept. */
  partOf?(key: string): { kind: string; key: string };
  /** Objects that the database deletes together with an object of that kind. Each gets an event of its own, as if deleted alone. */
  fallsWith?: {
    kind: string;
    read(sql: Sql, realm: string, removed: readonly string[]): Promise<Map<string, Existing>>;
  };
  /** The declared fields of a stored object without those that a document can't change, which keep the stored values. */
  settled?(said: Fields, stands: Fields): Fields;
  /** Rules over the fields of one object, with paths below it. `changed` names the fields that change now. */
  check?(saved: Saved, realm: string): FieldError[];
  /**
   * Rules over several objects, removed ones included: called once, with every change of the plan.
   * @throws Problem `name-taken`
   */
  whole?(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]>;
  /** Warnings about parts of these objects that will not work, each with advice; a secret that is set is not null. */
  warnings?(
    sql: Sql,
    realm: string,
    objects: readonly { key: string; fields: Fields }[],
    changes: readonly PlannedChange[],
  ): Promise<{ key: string; message: string }[]>;
  /** Called before planning: takes the locks that prevent others from writing what {@link whole} reads. */
  hold?(sql: Sql, realm: string, items: readonly Item[]): Promise<void>;
  /** For kinds with few objects that nothing refers to: `write` gets all at once, so that a unique value can move between them. */
  atOnce?: boolean;
  /** Creates and updates, then removes: sets of rows, never a statement for each. */
  write(sql: Sql, realm: string, batch: Batch): Promise<void>;
  /** Writes ties between objects of several parts, after all objects. */
  link?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** Writes ties to the users that a document names, after the document's own users. */
  linkPeople?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** The objects that use the removed ones, or would be deleted with them. The engine keeps a removed object that is still used. */
  dependents?(sql: Sql, realm: string, removed: readonly string[]): Promise<Dependent[]>;
  /** The audit event of a change, by action. */
  events: { create: EventType; update: EventType; delete: EventType };
  /** The audit event's subject; default: the object by id and key. */
  subject?(key: string, id: string | null, realm: string): Party;
  /** Fields that administrators of single objects may change; absent: none. */
  open?: readonly string[];
  /** The client by which the audit event is found. */
  clientOf?(key: string, fields: Fields): string;
  /** Further events of the change. */
  alsoEvents?(change: PlannedChange): readonly EventType[];
  /** Further data of the audit event besides the changed fields; never a secret. */
  detail?(fields: Fields): Record<string, unknown>;
  /** Its objects have ids, and the engine gives one to each that it creates. */
  ids?: boolean;
  /** Objects whose keys contain this object's key; when it is renamed, their ownership follows. */
  renames?: { same?: readonly string[]; below?: readonly { kind: string; prefix(key: string): string }[] };
  /** The effects of a write by the admin API or by a document: ending access, dropping caches. */
  onChange?(tx: Tx, realm: string, changes: readonly Wanted[], by: By): Promise<void>;
  /** clientIds that the caller could act as after this change; the caller must hold all rights of these clients. */
  actsAs?(change: PlannedChange): readonly string[];
  /** The same for clients that the changes do not name, as a query of `client_id`. */
  actsAsOthers?(changes: readonly PlannedChange[], realm: string): Fragment | undefined;
  /** Further permissions in the realm that the caller must hold, for the data that the object handles. */
  needs?(change: PlannedChange): readonly string[];
  /**
   * Users whom the caller could sign in as after these changes, as a query of ids; the caller must hold all their
   * rights.
   */
  signsInAs?(changes: readonly PlannedChange[], realm: string): Fragment | undefined;
  /**
   * Fields, by path, by which these changes let an application act in users' accounts (the scope `account`); the caller must hold
   * `users:write`.
   */
  lendsAccounts?(
    sql: Sql,
    realm: string,
    changes: readonly PlannedChange[],
  ): readonly string[] | Promise<readonly string[]>;
  /**
   * Admin roles that reach more users after these changes, as a query of `name` and `permissions`; the caller must hold
   * these permissions over the realm.
   */
  extends?(changes: readonly PlannedChange[], realm: string): Fragment | undefined;
  /** Admin roles that the change grants; the caller must hold their permissions. */
  gives?(change: PlannedChange): readonly { role: string; to: string }[];
  /** For admin roles: the permissions that are added or removed. */
  permissionsOf?(change: PlannedChange): readonly string[];
}

/** Whether the field holds a stored secret, which can be compared but not read. */
export const isStoredSecret = (value: unknown): value is StoredSecret =>
  typeof value === 'object' && value !== null && 'matches' in value && typeof value.matches === 'function';
