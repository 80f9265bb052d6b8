// What applications were allowed in a person's name, once they said that somebody else has signed in as them.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import * as store from './store.ts';

/**
 * Taken back where something of it was agreed to since then; who was asked before is asked again. The tokens that there are of it end
 * with all access.
 */
export async function withdrawConsentsSince(
  tx: Tx,
  by: By,
  realm: string,
  { id, username }: { id: string; username: string },
  { since }: { since: Date },
): Promise<void> {
  const subject = userParty(id, username);
  for (const { clientId, ...agreed } of await store.removeConsentsSince(tx.sql, realm, id, since))
    tx.record({ type: 'CONSENT_REVOKED', realm, by, subject, clientId, data: { ...agreed, reason: 'reported' } });
}
