// Owns: reading the folder of numbered SQL files, and refusing files that can't be applied in order.
// Does not own: applying them (migrate.ts).
// Implements: "Migrations": `NNNN_words.sql`, a checksum each, a first line `-- breaking`.
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';

/** One file of the folder. */
export interface Migration {
  number: number;
  /** The file's name. */
  name: string;
  sql: string;
  checksum: string;
  /** Versions that don't know this file can't work with the database any more. */
  breaking: boolean;
}

/** Where the server's own migrations lie. */
export const defaultFolder: string = path.join(import.meta.dirname, 'migrations');

/** The folder's files in order; throws on a name that isn't `NNNN_words.sql` and on a number used twice. */
export async function readMigrations(folder: string = defaultFolder): Promise<Migration[]> {
  const names = (await fs.readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(names.map((name) => read(folder, name)));
  migrations.forEach(({ number, name }, index) => {
    const twin = migrations[index + 1];
    if (twin?.number === number) throw new Error(`Migrations ${name} and ${twin.name} have the same number.`);
  });
  return migrations;
}

async function read(folder: string, name: string): Promise<Migration> {
  const [, number] = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name) ?? [];
  if (number === undefined) throw new Error(`Migration ${name} is not called NNNN_words.sql (lower case).`);
  // a checkout on another system may have changed the line ends, which is no edit
  const sql = (await fs.readFile(path.join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
  if (/^\s*(begin|commit|rollback)\s*;/im.test(sql)) {
    throw new Error(`Migration ${name} ends its own transaction: remove begin, commit and rollback.`);
  }
  const checksum = createHash('sha256').update(sql).digest('hex');
  return { number: Number(number), name, sql, checksum, breaking: /^-- breaking\b/.test(sql) };
}
