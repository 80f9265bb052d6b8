// SQL of data_key: the keys that seal what is stored, each wrapped by the custodian. They belong to no realm.
import type { Sql } from '../db/sql.ts';

export interface DataKeyRow {
  number: number;
  /** The key's id in sealed values (crypto/seal.ts), in hex. */
  key_id: string;
  custodian: string;
  wrapped: Buffer;
  created_at: Date;
  /** When it begins to seal; null: it only opens, until it is told to seal. */
  seals_from: Date | null;
}

/** The newest first. */
export const listDataKeys = (sql: Sql, most: number) => sql<DataKeyRow>`
  select number, key_id, custodian, wrapped, created_at, seals_from from data_key order by number desc limit ${most}`;

/** Two servers that add the same number at once add one key. */
export const addDataKey = (sql: Sql, { number, key_id, custodian, wrapped, created_at, seals_from }: DataKeyRow) => sql`
  insert into data_key (number, key_id, custodian, wrapped, created_at, seals_from)
  values (${number}, ${key_id}, ${custodian}, ${wrapped}, ${created_at}, ${seals_from})
  on conflict (number) do nothing`;

/** @returns whether the newest key had been waiting to seal */
export async function letNewestSeal(sql: Sql, at: Date): Promise<boolean> {
  const rows = await sql`
    update data_key set seals_from = ${at} where seals_from is null and number = (select max(number) from data_key)
    returning number`;
  return rows.length > 0;
}

/** The data keys only open from now on. @returns whether any did seal */
export async function letNoneSeal(sql: Sql): Promise<boolean> {
  const rows = await sql`update data_key set seals_from = null where seals_from is not null returning number`;
  return rows.length > 0;
}

/** Deletes the keys below a number. */
export const dropDataKeys = (sql: Sql, below: number) => sql<{ key_id: string }>`
  delete from data_key where number < ${below} returning key_id`;
