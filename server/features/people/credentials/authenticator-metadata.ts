// The stored metadata of FIDO on authenticators. metadata-job.ts fetches and verifies it.
import { z } from 'zod';
import { BadStatus, CertificationLevel } from '../../../contract/passkeys.ts';
import type { Sql } from '../../../db/sql.ts';

export const AuthenticatorEntry = z.object({
  description: z.string(),
  /** Certificates in DER, base64: the authenticator's attestation leads to one of them. */
  roots: z.array(z.string()),
  certification: CertificationLevel.nullable(),
  statuses: z.array(BadStatus),
});
export type AuthenticatorEntry = z.infer<typeof AuthenticatorEntry>;

/** undefined: the metadata doesn't know the authenticator. */
export async function readAuthenticator(sql: Sql, aaguid: string): Promise<AuthenticatorEntry | undefined> {
  const [row] = await sql<{ entry: unknown }>`select entry from authenticator_metadata where aaguid = ${aaguid}`;
  return row && AuthenticatorEntry.parse(row.entry);
}

/**
 * Stores a document unless the stored one has the same number or a later one, so that an older document, in which an
 * authenticator was not revoked yet, cannot come back.
 */
export async function replaceWith(
  sql: Sql,
  {
    number,
    nextUpdate,
    entries,
  }: { number: number; nextUpdate: string; entries: ReadonlyMap<string, AuthenticatorEntry> },
): Promise<void> {
  const rows = JSON.stringify([...entries].map(([aaguid, entry]) => ({ aaguid, entry })));
  await sql`
    with newer as (select where not exists (select from authenticator_metadata where number >= ${number}::bigint)),
    given as (select g.aaguid, g.entry from newer, jsonb_to_recordset(${rows}::jsonb) as g (aaguid text, entry jsonb)),
    gone as (
      delete from authenticator_metadata m using newer where not exists (select from given g where g.aaguid = m.aaguid)
      returning m.aaguid)
    insert into authenticator_metadata (aaguid, entry, number, next_update)
    select aaguid, entry, ${number}::bigint, ${nextUpdate}::date from given
    on conflict (aaguid) do update set entry = excluded.entry, number = excluded.number, next_update = excluded.next_update`;
}
