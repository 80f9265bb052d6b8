// Owns: what a kind of object says of itself, so that the admin API and the realm document read and write it alike.
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

/** What a document declares of one section. */
export interface Section {
  part: RealmPart;
  items: Item[];
}

/** One object as it stands in the realm, all fields, in the same canonical form; a secret is a {@link StoredSecret}. */
export interface Existing {
  /** For kinds with ids. */
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

/** A change of one object, by the admin API or by a document. */
export interface PlannedChange {
  action: 'create' | 'update' | 'delete';
  kind: string;
  key: string;
  /** For kinds with ids; a created object gets a new one. */
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
  /** Realms are created with some of its objects; one that is created from a complete export has only those in the export. */
  seeded?: boolean;
  required?: readonly string[];
  /** Fields that hold a secret. */
  secrets?: readonly string[];
  /** The fields, by path, that decide where its secrets are sent. When one of them changes, the secrets must be given again. */
  sentTo?(object: Pick<Item, 'key' | 'fields'>): Fields;
  /** Addresses, by path, that may be placeholders of a document: kept as such, so that no value of the environment can be read. */
  placeholders?: readonly string[];
  /** Fields that list usernames: people's data, exported with users alone. */
  people?: readonly string[];
  /** Current objects: of these keys, or all for an export. */
  read(sql: Sql, realm: string, keys?: readonly string[]): Promise<Map<string, Existing>>;
  references?(item: Item): Reference[];
  /** The object that this one is part of: it is kept as long as that object is kept. */
  partOf?(key: string): { kind: string; key: string };
  /** Which of its objects the database deletes with objects of that kind: each is told of as if it had been deleted by itself. */
  fallsWith?: {
    kind: string;
    read(sql: Sql, realm: string, removed: readonly string[]): Promise<Map<string, Existing>>;
  };
  /** What a document can make of an object that is there, of all that it says: what it can't change is what it is, and no difference. */
  settled?(said: Fields, stands: Fields): Fields;
  /** Rules over the fields of one object, with paths below it; `changed` are the fields that change now. */
  check?(saved: Saved, realm: string): FieldError[];
  /**
   * Rules over several objects, removed ones included: called once, with every change of the plan.
   * @throws Problem `name-taken`
   */
  whole?(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]>;
  /** Warnings about what will not work in these objects once they are written, saying what to do; a secret that is set is not null. */
  warnings?(
    sql: Sql,
    realm: string,
    objects: readonly { key: string; fields: Fields }[],
    changes: readonly PlannedChange[],
  ): Promise<{ key: string; message: string }[]>;
  /** Called before planning: takes the locks that keep others from writing what {@link whole} reads. */
  hold?(sql: Sql, realm: string, items: readonly Item[]): Promise<void>;
  /** For kinds with few objects that nothing refers to: `write` gets all at once, so that a unique value can move between them. */
  atOnce?: boolean;
  /** Creates and updates, then removes: sets of rows, never a statement for each. */
  write(sql: Sql, realm: string, batch: Batch): Promise<void>;
  /** Ties between objects of several parts, once all of them are there. */
  link?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** Ties to people, of a document that says who they are, once its users are there too. */
  linkPeople?(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void>;
  /** What uses the removed objects, or would be deleted with them. The engine keeps a removed object that is still used. */
  dependents?(sql: Sql, realm: string, removed: readonly string[]): Promise<Dependent[]>;
  /** The audit event of a change, by action. */
  events: { create: EventType; update: EventType; delete: EventType };
  /** Whom the audit event is about; default: the object by id and key. */
  subject?(key: string, id: string | null, realm: string): Party;
  /** Fields that administrators of this object alone may change; left out: none. */
  open?: readonly string[];
  /** The client that the audit event is found by. */
  clientOf?(key: string, fields: Fields): string;
  /** Events that the change is beside its own. */
  alsoEvents?(change: PlannedChange): readonly EventType[];
  /** What the audit event says beside the changed fields; never a secret. */
  detail?(fields: Fields): Record<string, unknown>;
  /** Its objects have ids, and the engine gives one to each that it creates. */
  ids?: boolean;
  /** Objects whose keys contain this object's key; when it is renamed, their ownership follows. */
  renames?: { same?: readonly string[]; below?: readonly { kind: string; prefix(key: string): string }[] };
  /** What follows from a write, by the admin API or by a document: ending access, dropping caches. */
  onChange?(tx: Tx, realm: string, changes: readonly Wanted[], by: By): Promise<void>;
  /** clientIds that the caller could act as after this change; the caller must hold all that these clients hold. */
  actsAs?(change: PlannedChange): readonly string[];
  /** Permissions in the realm that the caller must hold besides, as what the object does with its data needs. */
  needs?(change: PlannedChange): readonly string[];
  /** People whom the caller could sign in as after these changes, as a query of ids; the caller must hold all that they hold. */
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
   * Admin roles that come to count for more people by these changes, as a query of `name` and `permissions`; the caller must hold
   * what they allow over the realm.
   */
  extends?(changes: readonly PlannedChange[], realm: string): Fragment | undefined;
  /** Admin roles that the change grants; the caller must hold what they allow. */
  gives?(change: PlannedChange): readonly { role: string; to: string }[];
  /** For admin roles: the permissions that are added or removed. */
  permissionsOf?(change: PlannedChange): readonly string[];
}

export const isStoredSecret = (value: unknown): value is StoredSecret =>
  typeof value === 'object' && value !== null && 'matches' in value && typeof value.matches === 'function';
