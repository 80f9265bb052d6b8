// A feature's record of the personal data that it stores: its part of an export, and its part of an erasure. Deleting the user's row
// deletes the rows that refer to it; the feature erases the rest. A test on the catalogue demands an owner for every table that names
// a user.
// Specification 2.9, 4.6.
import type { GdprExport } from '../contract/gdpr.ts';
import type { Seal } from '../crypto/seal.ts';
import type { Sql } from '../db/sql.ts';

/** The user whose data is exported or erased. */
export interface DataSubject {
  id: string;
  username: string;
  email: string | null;
  /** The e-mail address, if it is surely the user's own: it is confirmed, or an administrator erases. */
  ownEmail: string | null;
  /** The pseudonym that replaces the user's name from now on. */
  pseudonym: string;
}

/** The functions by which an erasure amends the audit log's chain. */
export interface Erasing {
  seal: Seal;
  at: Date;
}

export interface PersonalData {
  /** The tables whose rows belong to a user. */
  tables: readonly string[];
  export?(sql: Sql, realm: string, userId: string): Promise<Partial<GdprExport>>;
  erase?(sql: Sql, realm: string, subject: DataSubject, erasing: Erasing): Promise<void>;
}
