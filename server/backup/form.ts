// The form of a backup, inside its encryption: a JSON value a line. First the header, then rows, table by table, and last the number of
// rows of each table. A file without that last line is not whole.
import { z } from 'zod';
import { RealmName } from '../contract/names.ts';

export const FORM = 'realmkeeper-realm-backup';

export const Header = z.strictObject({
  form: z.literal(FORM),
  realm: RealmName,
  /** The newest migration of the database. */
  schema: z.int(),
  createdAt: z.string(),
  sessions: z.boolean(),
  history: z.boolean(),
});
export type Header = z.infer<typeof Header>;

export const Row = z.strictObject({ table: z.string(), row: z.record(z.string(), z.string().nullable()) });
export const End = z.strictObject({ end: z.record(z.string(), z.int()) });
