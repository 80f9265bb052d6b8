// The certificates of a realm's signing keys, for SAML metadata and signatures: each is created once, when it is first
// needed. Specification 2.4, 4.3.
import { createPrivateKey } from 'node:crypto';
import { selfSigned } from '../../../crypto/certificate.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { contextOf } from './seed.ts';
import { type CertificateRow, type KeyCertificate, keepCertificates, readCertificates } from './store.ts';

/** How long a certificate is valid. Its key is rotated long before. */
const YEARS = 30;
const CACHE_MS = 2_000;

export function createCertificates({ sql, seal, now }: { sql: Sql; seal: Seal; now: () => Date }) {
  async function make(realm: string, row: CertificateRow, sealed: Buffer): Promise<KeyCertificate> {
    const der = seal.open(sealed, contextOf(realm, row.key_id));
    const until = new Date(row.created_at);
    until.setUTCFullYear(until.getUTCFullYear() + YEARS);
    const certificate = await selfSigned({
      name: realm,
      serial: row.key_id,
      publicKey: Buffer.from(row.public_key, 'base64'),
      privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
      from: row.created_at,
      until,
    });
    return { keyId: row.key_id, certificate: certificate.toString('base64') };
  }

  return createRealmCache<KeyCertificate[]>({
    now,
    ttlMs: CACHE_MS,
    async load(realm) {
      const rows = await readCertificates(sql, realm);
      const made = await Promise.all(
        rows.flatMap((row) => (row.private_key === null ? [] : [make(realm, row, row.private_key)])),
      );
      const kept = made.length > 0 ? await keepCertificates(sql, realm, made) : [];
      const all = new Map(kept.map((one) => [one.keyId, one]));
      return rows.flatMap(({ key_id: keyId, certificate }) =>
        certificate === null ? (all.get(keyId) ?? []) : [{ keyId, certificate }],
      );
    },
  });
}
