// Remembers the messages of identity providers, so that each counts only once, on whichever replica it arrives.
import { sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';

export interface ProviderMessage {
  providerId: string;
  /** The kind of the message, and its id. */
  name: readonly ['logout-token' | 'assertion' | 'logout-request', string];
  /** Until when the message could be accepted. */
  until: Date;
}

/** @returns whether the message is new */
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
