// SQL of realm_encryption_key: the key that clients encrypt for now, and the ones before it (rotated_at set).
import type { Sql } from '../../../db/sql.ts';
import type { KeyRow, NewKey } from './store.ts';

/** The key of this algorithm that clients encrypt for now. */
export async function readActive(sql: Sql, realm: string, algorithm: string): Promise<{ key_id: string } | undefined> {
  const [row] = await sql<{ key_id: string }>`
    select key_id from realm_encryption_key
    where realm_id = ${realm} and algorithm = ${algorithm} and rotated_at is null`;
  return row;
}

export async function retireActive(sql: Sql, realm: string, algorithm: string, at: Date): Promise<void> {
  await sql`
    update realm_encryption_key set rotated_at = ${at}
    where realm_id = ${realm} and algorithm = ${algorithm} and rotated_at is null`;
}

export async function insertActive(sql: Sql, realm: string, key: NewKey): Promise<KeyRow> {
  const [row] = await sql<KeyRow>`
    insert into realm_encryption_key (realm_id, key_id, algorithm, public_key, private_key, created_at)
    values (${realm}, ${key.keyId}, ${key.algorithm}, ${key.publicKey}, ${key.sealedPrivateKey}, ${key.at})
    returning key_id, algorithm, public_key, created_at, created_at as activated_at, rotated_at`;
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** The encrypted private keys, the newest first: clients use an earlier key for a while. */
export const readDecrypting = (sql: Sql, realm: string) => sql<{ key_id: string; private_key: Buffer }>`
  select key_id, private_key from realm_encryption_key where realm_id = ${realm}
  order by rotated_at desc nulls first, key_id limit 3`;

export async function readKey(sql: Sql, realm: string, keyId: string): Promise<boolean> {
  const [row] = await sql`select from realm_encryption_key where realm_id = ${realm} and key_id = ${keyId}`;
  return row !== undefined;
}

export async function deleteRetained(sql: Sql, realm: string, keyId: string): Promise<boolean> {
  const [row] = await sql`
    delete from realm_encryption_key where realm_id = ${realm} and key_id = ${keyId} and rotated_at is not null
    returning key_id`;
  return row !== undefined;
}
