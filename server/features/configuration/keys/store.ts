// SQL of realm_key. A key is published ahead (activated_at null), then active, then retained (rotated_at set). The keys
// that clients encrypt for are in realm_encryption_key (encryption-store.ts); lists show both.
import type { Sql } from '../../../db/sql.ts';

export interface KeyRow {
  key_id: string;
  algorithm: string;
  public_key: string;
  created_at: Date;
  activated_at: Date | null;
  rotated_at: Date | null;
}
export interface KeyCertificate {
  keyId: string;
  /** Base64 DER. */
  certificate: string;
}
export interface CertificateRow {
  key_id: string;
  public_key: string;
  created_at: Date;
  certificate: string | null;
  private_key: Buffer | null;
}
export interface NewKey {
  keyId: string;
  algorithm: string;
  /** Base64 DER. */
  publicKey: string;
  sealedPrivateKey: Buffer;
  at: Date;
}

/** The keys that administrators see: the active ones, RSA's first, then the retained ones, the newest first. */
export const listUsed = (sql: Sql, realm: string) => sql<KeyRow>`
  select * from (
    select key_id, algorithm, public_key, created_at, activated_at, rotated_at from realm_key
    where realm_id = ${realm} and activated_at is not null
    union all
    select key_id, algorithm, public_key, created_at, created_at, rotated_at from realm_encryption_key
    where realm_id = ${realm}
  ) k order by rotated_at desc nulls first, rotated_at is null and algorithm = 'RSA' desc, key_id desc`;

/**
 * The keys that verifiers may need now or soon, and those that clients encrypt for. Only the active ones that sign come
 * with their encrypted private key.
 */
export const readPublished = (sql: Sql, realm: string) => sql<
  KeyRow & { private_key: Buffer | null; encrypts: boolean }
>`
  select * from (
    select key_id, algorithm, public_key, created_at, activated_at, rotated_at,
      case when activated_at is not null and rotated_at is null then private_key end as private_key, false as encrypts
    from realm_key where realm_id = ${realm}
    union all
    select key_id, algorithm, public_key, created_at, created_at, rotated_at, null, true
    from realm_encryption_key where realm_id = ${realm} and rotated_at is null
  ) k order by encrypts, rotated_at desc nulls first, algorithm = 'RSA' desc, created_at desc, key_id`;

/**
 * The encrypted private keys for which other parties may encrypt, the newest first: they use old certificates for a
 * while.
 */
export const readDecrypting = (sql: Sql, realm: string) => sql<{ key_id: string; private_key: Buffer }>`
  select key_id, private_key from realm_key
  where realm_id = ${realm} and algorithm = 'RSA' and activated_at is not null
  order by rotated_at desc nulls first, key_id limit 3`;

/**
 * SAML's certificates, in the order of {@link readPublished}. A key without a certificate comes with its encrypted
 * private key.
 */
export const readCertificates = (sql: Sql, realm: string) => sql<CertificateRow>`
  select key_id, public_key, created_at, certificate, case when certificate is null then private_key end as private_key
  from realm_key where realm_id = ${realm} and algorithm = 'RSA'
  order by activated_at is null, rotated_at desc nulls first, created_at desc, key_id`;

/** Stores certificates; if another process was first, its certificates count for both. */
export const keepCertificates = (sql: Sql, realm: string, made: readonly KeyCertificate[]) => sql<KeyCertificate>`
  update realm_key k set certificate = coalesce(k.certificate, m.certificate)
  from unnest(${made.map(({ keyId }) => keyId)}::uuid[], ${made.map(({ certificate }) => certificate)}::text[])
    as m (key_id, certificate)
  where k.realm_id = ${realm} and k.key_id = m.key_id
  returning k.key_id as "keyId", k.certificate`;

export async function insertActive(sql: Sql, realm: string, key: NewKey): Promise<void> {
  await sql`
    insert into realm_key (realm_id, key_id, algorithm, public_key, private_key, created_at, activated_at)
    values (${realm}, ${key.keyId}, ${key.algorithm}, ${key.publicKey}, ${key.sealedPrivateKey}, ${key.at}, ${key.at})`;
}

/** Publishes a key ahead of its use and notifies the other replicas, in one statement. */
export async function publishAhead(sql: Sql, realm: string, key: NewKey): Promise<boolean> {
  const [row] = await sql<{ told: unknown }>`
    with ahead as (
      insert into realm_key (realm_id, key_id, algorithm, public_key, private_key, created_at)
      select realm_id, ${key.keyId}, ${key.algorithm}, ${key.publicKey}, ${key.sealedPrivateKey}, ${key.at}::timestamptz
      from realm where realm_id = ${realm}
      returning realm_id
    ) select pg_notify('realm_changed', realm_id) as told from ahead`;
  return row !== undefined;
}

/** Locks the realm, so that its rotations run one after the other; false: there is no such realm. */
export async function lockRealm(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select from realm where realm_id = ${realm} for no key update`;
  return row !== undefined;
}

export async function retireActive(sql: Sql, realm: string, algorithm: string, at: Date): Promise<void> {
  await sql`
    update realm_key set rotated_at = ${at}
    where realm_id = ${realm} and algorithm = ${algorithm} and activated_at is not null and rotated_at is null`;
}

/** The active key of this algorithm. */
export async function readActive(sql: Sql, realm: string, algorithm: string): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow>`
    select key_id, algorithm, public_key, created_at, activated_at, rotated_at from realm_key
    where realm_id = ${realm} and algorithm = ${algorithm} and activated_at is not null and rotated_at is null`;
  return row;
}

export async function activate(sql: Sql, realm: string, keyId: string, at: Date): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow>`
    update realm_key set activated_at = ${at} where realm_id = ${realm} and key_id = ${keyId} and activated_at is null
    returning key_id, algorithm, public_key, created_at, activated_at, rotated_at`;
  return row;
}

/** Deletes keys whose rotation never ended, because a server died meanwhile. */
export async function dropForsaken(sql: Sql, realm: string, before: Date): Promise<void> {
  await sql`delete from realm_key where realm_id = ${realm} and activated_at is null and created_at < ${before}`;
}

export async function readKey(sql: Sql, realm: string, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow>`
    select key_id, algorithm, public_key, created_at, activated_at, rotated_at from realm_key
    where realm_id = ${realm} and key_id = ${keyId} and activated_at is not null`;
  return row;
}

/** Deletes only a retained key: the statement itself has the condition, so that no race can delete the active one. */
export async function deleteRetained(sql: Sql, realm: string, keyId: string): Promise<boolean> {
  const [row] = await sql`
    delete from realm_key where realm_id = ${realm} and key_id = ${keyId} and rotated_at is not null returning key_id`;
  return row !== undefined;
}
