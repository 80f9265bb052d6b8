// The job that fetches metadata of SAML clients again. Its work (refresh.ts) is loaded once a client has a metadata
// address.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';

export const metadataTerms = {
  name: 'saml-metadata',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 1800,
  concurrency: 1,
  everySeconds: 300,
};

/** Whether any client's metadata could be due. */
export async function hasMetadataAddresses(sql: Sql): Promise<boolean> {
  const [row] = await sql`select from saml_client where metadata_url is not null and enabled limit 1`;
  return row !== undefined;
}
