// A backup's rows hold secrets opened, as base64: only the backup itself is encrypted. The realm that is restored seals them under its own
// installation's keys and its own name.
import { z } from 'zod';
import type { Seal } from '../crypto/seal.ts';
import type { SealedColumn } from '../domain/reseal.ts';

/** A row by its columns, in PostgreSQL's text form. */
export type Row = Record<string, string | null>;

const Member = z.record(z.string(), z.unknown());
const bytesIn = (text: string): Buffer => Buffer.from(text.replace(/^\\x/, ''), 'hex');
const bytesText = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

export function createRowSecrets(seal: Seal, columns: readonly SealedColumn[]) {
  const of = (table: string) => columns.filter((column) => column.table === table);
  const place = (column: SealedColumn, row: Row, realm: string, digest: Buffer | null) =>
    column.context({ realm, key: column.key ? (row[column.key] ?? '') : realm, digest });

  function change(column: SealedColumn, row: Row, each: (value: Buffer) => Buffer): void {
    const text = row[column.column];
    if (text === null || text === undefined) return;
    if (!column.member) {
      row[column.column] = bytesText(each(bytesIn(text)));
      return;
    }
    const value = Member.parse(JSON.parse(text));
    const held = value[column.member];
    if (typeof held !== 'string') return;
    row[column.column] = JSON.stringify({
      ...value,
      [column.member]: each(Buffer.from(held, 'base64')).toString('base64'),
    });
  }

  return {
    /** @throws Error if a secret is under a key that isn't here */
    open(table: string, row: Row, realm: string): void {
      for (const column of of(table)) {
        const digest = column.digest ? bytesIn(row[column.digest.column] ?? '') : null;
        change(column, row, (sealed) => seal.open(sealed, place(column, row, realm, digest)));
      }
    },
    seal(table: string, row: Row, realm: string): void {
      for (const column of of(table))
        change(column, row, (plain) => {
          const digest = column.digest?.of(seal, realm, plain.toString()) ?? null;
          if (column.digest && digest) row[column.digest.column] = bytesText(digest);
          return seal.seal(plain, place(column, row, realm, digest));
        });
    },
  };
}
export type RowSecrets = ReturnType<typeof createRowSecrets>;
