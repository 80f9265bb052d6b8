// What a feature says of the personal data that it keeps: its part of an export, and what erasure must do beyond the person's
// row, which takes what refers to it along. A test on the catalogue demands an owner for every table that names a person.
// Specification 2.9, 4.6.
import type { GdprExport } from '../contract/gdpr.ts';
import type { Seal } from '../crypto/seal.ts';
import type { Sql } from '../db/sql.ts';

/** Whose data it is, while they are still there. */
export interface DataSubject {
  id: string;
  username: string;
  email: string | null;
  /** The address, where nobody else's can be meant: it is confirmed, or an administrator erases. */
  ownEmail: string | null;
  /** What stands for them from now on. */
  pseudonym: string;
}

/** What the audit log's chain is told by. */
export interface Erasing {
  seal: Seal;
  at: Date;
}

export interface PersonalData {
  /** The tables whose rows are a person's. */
  tables: readonly string[];
  export?(sql: Sql, realm: string, userId: string): Promise<Partial<GdprExport>>;
  erase?(sql: Sql, realm: string, subject: DataSubject, erasing: Erasing): Promise<void>;
}
