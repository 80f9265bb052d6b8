// The health components of every server. A feature with a component of its own adds a HealthComponent in
// server/compose/observation.ts.
// Specification 4.9 has the names; each check states its subject.
import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { certificatesInPem } from '../../../crypto/pem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { HealthComponent } from './health.ts';

/** PostgreSQL answers queries. A server without its database gets no traffic, but is not restarted for it. */
const db = (sql: Sql, spareMs: number): HealthComponent => ({
  name: 'db',
  group: 'readiness',
  spareMs,
  check: async () => (await sql`select 1 as one`).length === 1,
});

/** The disk that holds `folder` has enough free space. */
const diskSpace = (folder: string, minimumBytes: number): HealthComponent => ({
  name: 'diskSpace',
  async check() {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= minimumBytes;
  },
});

/** The process answers. */
const ping: HealthComponent = { name: 'ping', check: async () => true };

/** Sessions are stored in PostgreSQL. There is no cache store that could fail, so this is always UP. */
const sessionCache: HealthComponent = { name: 'sessionCache', check: async () => true };

/** The certificates of a PEM file. @throws if the file can't be read, or one of its certificates can't */
export const certificatesIn = async (file: string): Promise<X509Certificate[]> =>
  certificatesInPem(await readFile(file, 'utf8')).map((pem) => new X509Certificate(pem));

/** The configured certificate files are readable and contain certificates, none of which has expired. */
const ssl = (files: readonly string[], now: () => Date): HealthComponent => ({
  name: 'ssl',
  async check() {
    for (const file of files) {
      const certificates = await certificatesIn(file);
      if (certificates.length === 0) return false;
      if (certificates.some(({ validToDate }) => validToDate <= now())) return false;
    }
    return true;
  },
});

interface Custodied {
  status(): { fault: object | undefined };
}
/** The custodian answered the last time that it was asked. While it doesn't, the unwrapped keys serve on for their time. */
const keyCustodian = (custody: Custodied): HealthComponent => ({
  name: 'keyCustodian',
  check: async () => custody.status().fault === undefined,
});

export const components = ({
  sql,
  now,
  folder,
  minimumBytes,
  certificateFiles,
  custody,
  spareMs,
}: {
  sql: Sql;
  now: () => Date;
  folder: string;
  minimumBytes: number;
  certificateFiles: readonly string[];
  custody: Custodied | undefined;
  /** How long readiness does without the database. */
  spareMs: number;
}): HealthComponent[] => [
  db(sql, spareMs),
  diskSpace(folder, minimumBytes),
  ping,
  sessionCache,
  ssl(certificateFiles, now),
  ...(custody ? [keyCustodian(custody)] : []),
];
