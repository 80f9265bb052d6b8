// When a user reports a sign-in as not theirs, their open transactions become void: none of them can be signed or consumed
// any more.

import type { Distrust } from '../../../domain/distrust.ts';
import { userParty } from '../../../domain/party.ts';
import * as store from './transaction-store.ts';

export const voidTransactions =
  ({ now }: { now: () => Date }): Distrust =>
  async (tx, by, realm, { id, username }) => {
    const subject = userParty(id, username);
    for (const { id: transaction, client_id: clientId } of await store.voidAll(tx.sql, realm, id, now())) {
      const data = { transaction, reason: 'reported' };
      tx.record({ type: 'TRANSACTION_VOID', realm, by, subject, clientId, outcome: 'denied', data });
    }
  };
