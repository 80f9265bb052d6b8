// Which messages of identity providers have counted already: none counts twice, whichever replica it comes to.
import { sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';

export interface ProviderMessage {
  providerId: string;
  /** What it is, and its own name. */
  name: readonly ['logout-token' | 'assertion' | 'logout-request', string];
  /** As long as it could be believed. */
  until: Date;
}

/** @returns whether it comes for the first time */
export async function noteMessage(
  sql: Sql,
  realm: string,
  { providerId, name, until }: ProviderMessage,
): Promise<boolean> {
  const [first] = await sql<{ provider_id: string }>`
    insert into provider_message (realm_id, provider_id, message_hash, expires_at)
    values (${realm}, ${providerId}, ${sha256(JSON.stringify(name))}, ${until})
    on conflict do nothing returning provider_id`;
  return first !== undefined;
}
