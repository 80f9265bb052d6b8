// Withdraws consents when a user reports that another person has signed in to their account.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import * as store from './store.ts';

/**
 * Withdraws each consent that was given or extended since `since`; the next authorization asks the user again. The client's
 * tokens are not ended here: the report ends all access of the user.
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
